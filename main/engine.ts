import { availableParallelism } from 'node:os';
import type { ActivitySnapshot, RelayHealth } from '../preload/contract.ts';
import { ThreadedEventVerifier } from './archive/event-verifier.ts';
import { readArchive } from './archive/event-reader.ts';
import { importJsonl } from './archive/jsonl-import.ts';
import { TagIndex } from './archive/tag-index.ts';
import { listRuns, readRunSummary } from './coverage/run-list.ts';
import { SummaryReader } from './coverage/summary-reader.ts';
import { settleInterrupted } from './coverage/run-history.ts';
import { openDatabase, openDatabaseForReading, type OpenDatabase } from './database/database-file.ts';
import type { Engine, EngineOptions } from './engine-api.ts';
import { ChangeBus } from './engine/change-bus.ts';
import { accountMethods, accountTopic } from './engine/account-methods.ts';
import { archiver } from './engine/archiver.ts';
import { requireOwner, type EngineParts } from './engine/engine-parts.ts';
import { coverageMethods, coverageTopic } from './engine/coverage-methods.ts';
import { fetchMethods } from './engine/fetch-methods.ts';
import { generalMethods, settingsTopic } from './engine/general-methods.ts';
import { relayHealth } from './engine/relay-health-list.ts';
import { FetchService } from './fetch/fetch-service.ts';
import { Reconciler } from './fetch/reconciler.ts';
import { nowSeconds, systemClock } from './platform/clock.ts';
import { RelayDirectory } from './relays/relay-directory.ts';
import { readSettings } from './settings/settings-store.ts';

const RECENT_RUNS = 20;

/**
 * Builds every service once, around one data directory. Nothing starts by itself: no relay is asked before a command.
 *
 * @throws Fault `data-directory-unusable`, `data-directory-in-use`, `database-newer`, `database-damaged`, `not-found` (reader only).
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? (() => undefined);
  const databaseOptions = { directory: options.dataDirectory, nowMs: clock.nowMs(), log };
  const database =
    options.mode === 'owner' ? await openDatabase(databaseOptions) : openDatabaseForReading(databaseOptions);
  try {
    const reader = options.mode === 'owner' ? openDatabaseForReading(databaseOptions) : database;
    return await compose(options, database, reader, { clock, log });
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function compose(
  options: EngineOptions,
  database: OpenDatabase,
  reader: OpenDatabase,
  { clock, log }: { clock: NonNullable<EngineOptions['clock']>; log: (line: string) => void },
): Promise<Engine> {
  const { db } = database;
  if (options.mode === 'owner') await settleInterrupted(db, nowSeconds(clock));
  const changes = new ChangeBus();
  const verifier = new ThreadedEventVerifier(options.verifierThreads ?? defaultThreads());
  const relays = new RelayDirectory({
    clock,
    log,
    userAgent: `Holdfast/${options.version}`,
    requestBudget: (await readSettings(db)).requestBudget,
    ...(options.random === undefined ? {} : { random: options.random }),
  });
  relays.onDidChange(() => changes.tell('relays'));
  const tags = options.mode === 'owner' ? new TagIndex(db, clock, log) : null;
  // What an earlier session archived and did not get to index.
  tags?.wake();
  const reconciler = new Reconciler(database.path);
  const fetch = new FetchService({
    db,
    relays,
    verifier,
    reconciler,
    clock,
    log,
    ...(options.queryTimeoutMs === undefined ? {} : { idleTimeoutMs: options.queryTimeoutMs }),
    onChange: () => {
      tags?.wake();
      changes.tell('activity', 'coverage', 'accounts', 'runs');
    },
  });
  const summaries = new SummaryReader(database.path, clock, () => changes.tell('coverage'));
  const reading = reader.db;
  const parts: EngineParts = {
    options,
    db,
    reading,
    path: database.path,
    relays,
    verifier,
    clock,
    fetch,
    changes,
    summaries,
  };
  const health = (): Promise<RelayHealth[]> => relayHealth(parts);
  const activity = async (): Promise<ActivitySnapshot> => ({
    now: nowSeconds(clock),
    runs: fetch.progress(),
    recent: (await listRuns(reading, { limit: RECENT_RUNS })).filter((run) => run.status !== 'active'),
  });
  return {
    methods: {
      ...generalMethods(parts),
      ...accountMethods(parts),
      ...fetchMethods(parts),
      ...coverageMethods(parts),
      'relays.health': health,
    },
    topics: {
      activity: { snapshot: activity, onDidChange: (listener) => changes.on('activity', listener) },
      accounts: accountTopic(parts),
      ...coverageTopic(parts),
      relays: { snapshot: health, onDidChange: (listener) => changes.on('relays', listener) },
      settings: settingsTopic(parts),
    },
    importLines: async (lines, onProgress) => {
      requireOwner(parts);
      const report = await importJsonl(lines, { store: archiver(parts), verifier, onProgress });
      tags?.wake();
      changes.tell('accounts', 'coverage');
      return report;
    },
    exportEvents: ({ account, ...selection }) =>
      readArchive(reading, { ...selection, ...(account === undefined ? {} : { author: account }) }),
    runEnded: async (run) => {
      await fetch.ended(run);
      return readRunSummary(db, run);
    },
    close: async () => {
      await fetch.close();
      relays.close();
      await tags?.close();
      await reconciler.close();
      await summaries.close();
      await verifier.close();
      if (reader !== database) await reader.close();
      await database.close();
    },
  };
}

/** One core is left to the main thread; more than four threads never paid. */
function defaultThreads(): number {
  return Math.min(4, Math.max(1, availableParallelism() - 1));
}

export type { Engine, EngineOptions } from './engine-api.ts';
