import { availableParallelism } from 'node:os';
import type { ActivitySnapshot, RelayHealth } from '../preload/contract.ts';
import { ThreadedEventVerifier } from './archive/event-verifier.ts';
import { readArchive } from './archive/event-reader.ts';
import { importJsonl } from './archive/jsonl-import.ts';
import { TagIndex } from './archive/tag-index.ts';
import { listRuns, readRunSummary } from './coverage/run-list.ts';
import { SummaryReader } from './coverage/summary-reader.ts';
import { AccountTurns } from './coverage/account-turns.ts';
import { latestCompletion } from './coverage/recorded-times.ts';
import { settleInterrupted } from './coverage/run-history.ts';
import { openDatabase, openDatabaseForReading, type OpenDatabase } from './database/database-file.ts';
import type { Engine, EngineOptions } from './engine-api.ts';
import { ChangeBus } from './engine/change-bus.ts';
import { accountMethods, accountTopic } from './engine/account-methods.ts';
import { archiver } from './engine/archiver.ts';
import { requireOwner, type EngineParts } from './engine/engine-parts.ts';
import { candidateMethods, candidateTopic } from './engine/candidate-methods.ts';
import { coverageMethods, coverageTopic } from './engine/coverage-methods.ts';
import { fetchMethods } from './engine/fetch-methods.ts';
import { generalMethods, settingsTopic } from './engine/general-methods.ts';
import { legacyMethods, legacyTopic } from './engine/legacy-methods.ts';
import { legacyReportMethods } from './engine/legacy-report-methods.ts';
import { relayHealth } from './engine/relay-health-list.ts';
import { explainNothingToSend, syncMethods, syncTopic } from './engine/sync-methods.ts';
import { FetchService } from './fetch/fetch-service.ts';
import { Reconciler } from './fetch/reconciler.ts';
import { CarryOver } from './legacy/carry-over.ts';
import { CheckpointList } from './legacy/checkpoint-list.ts';
import { CheckpointService } from './legacy/checkpoint-service.ts';
import { nowSeconds, systemClock } from './platform/clock.ts';
import { MomentOrder } from './platform/moment-order.ts';
import { RelayDirectory } from './relays/relay-directory.ts';
import { readSettings } from './settings/settings-store.ts';
import { CandidateReader } from './sync/candidate-reader.ts';
import { EligibilityIndex } from './sync/eligibility-index.ts';
import { SyncService } from './sync/sync-service.ts';
import { settleFinishedSyncs } from './sync/sync-status.ts';

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
  if (options.mode === 'owner') {
    await settleFinishedSyncs(db, nowSeconds(clock));
    await settleInterrupted(db, nowSeconds(clock));
  }
  const changes = new ChangeBus();
  const verifier = new ThreadedEventVerifier(options.verifierThreads ?? defaultThreads());
  const relays = new RelayDirectory({
    clock,
    moments: new MomentOrder(clock, options.mode === 'owner' ? await latestCompletion(db) : 0),
    log,
    userAgent: `Holdfast/${options.version}`,
    requestBudget: (await readSettings(db)).requestBudget,
    ...(options.random === undefined ? {} : { random: options.random }),
  });
  relays.onDidChange(() => changes.tell('relays'));
  const tags = options.mode === 'owner' ? new TagIndex(db, clock, log) : null;
  const eligibility = options.mode === 'owner' ? new EligibilityIndex(db, clock, log) : null;
  const followArchive = (): void => {
    tags?.wake();
    eligibility?.wake();
  };
  // What an earlier session archived and did not get to index.
  followArchive();
  const turns = new AccountTurns();
  const reconciler = new Reconciler(database.path);
  const fetch = new FetchService({
    db,
    relays,
    verifier,
    reconciler,
    clock,
    turns,
    log,
    ...(options.queryTimeoutMs === undefined ? {} : { idleTimeoutMs: options.queryTimeoutMs }),
    onChange: () => {
      followArchive();
      changes.tell('activity', 'coverage', 'accounts', 'runs');
    },
  });
  const summaries = new SummaryReader(database.path, clock, () => changes.tell('coverage'));
  const candidates = new CandidateReader(database.path, clock, () => changes.tell('candidates'));
  const reading = reader.db;
  const sync = new SyncService({
    db,
    relays,
    verifier,
    eligibility: { caughtUp: async () => eligibility?.caughtUp() },
    clock,
    random: options.random ?? Math.random,
    turns,
    log,
    ...(options.queryTimeoutMs === undefined ? {} : { idleTimeoutMs: options.queryTimeoutMs }),
    sayNothingToSend: (account, request) =>
      explainNothingToSend(candidates, reading, account, { ...request, now: nowSeconds(clock) }),
    onProgress: () => changes.tell('activity'),
    onChange: () => changes.tell('activity', 'sync', 'coverage', 'accounts', 'runs'),
  });
  const carryOver = new CarryOver({
    db,
    path: database.path,
    verifier,
    clock,
    log,
    onProgress: () => {
      followArchive();
      changes.tell('legacy', 'accounts', 'coverage');
    },
  });
  const checkpoints = new CheckpointService({
    db,
    relays,
    verifier,
    clock,
    turns,
    log,
    ...(options.queryTimeoutMs === undefined ? {} : { idleTimeoutMs: options.queryTimeoutMs }),
    startFetch: async (account, sources) =>
      fetch.start({
        account,
        recheck: false,
        relays: sources,
        pageLimit: (await readSettings(db)).pageLimit,
        strategy: 'auto',
      }),
    onChange: () => {
      followArchive();
      changes.tell('activity', 'coverage', 'accounts', 'runs', 'legacy');
    },
  });
  const checkpointList = new CheckpointList(database.path, clock, () => changes.tell('legacy'));
  const parts: EngineParts = {
    options,
    db,
    reading,
    path: database.path,
    relays,
    verifier,
    clock,
    fetch,
    sync,
    turns,
    changes,
    summaries,
    eligibility,
    candidates,
    carryOver,
    checkpoints,
    checkpointList,
  };
  if (options.mode === 'owner') await carryOver.start();
  const health = (): Promise<RelayHealth[]> => relayHealth(parts);
  const activity = async (): Promise<ActivitySnapshot> => ({
    now: nowSeconds(clock),
    runs: [...fetch.progress(), ...sync.progress(), ...checkpoints.progress()],
    recent: (await listRuns(reading, { limit: RECENT_RUNS })).filter((run) => run.status !== 'active'),
  });
  return {
    methods: {
      ...generalMethods(parts),
      ...accountMethods(parts),
      ...fetchMethods(parts),
      ...syncMethods(parts),
      ...coverageMethods(parts),
      ...candidateMethods(parts),
      ...legacyMethods(parts),
      ...legacyReportMethods(parts),
      'relays.health': health,
    },
    topics: {
      activity: { snapshot: activity, onDidChange: (listener) => changes.on('activity', listener) },
      accounts: accountTopic(parts),
      ...coverageTopic(parts),
      ...candidateTopic(parts),
      ...syncTopic(parts),
      ...legacyTopic(parts),
      relays: { snapshot: health, onDidChange: (listener) => changes.on('relays', listener) },
      settings: settingsTopic(parts),
    },
    importLines: async (lines, onProgress) => {
      requireOwner(parts);
      const report = await importJsonl(lines, { store: archiver(parts), verifier, onProgress });
      followArchive();
      changes.tell('accounts', 'coverage');
      return report;
    },
    exportEvents: ({ account, ...selection }) =>
      readArchive(reading, { ...selection, ...(account === undefined ? {} : { author: account }) }),
    firstVersionBroughtOver: async (onProgress) => {
      const tell = (): void => {
        const progress = carryOver.progress();
        if (progress !== null) onProgress?.(progress);
      };
      tell();
      const stopTelling = changes.on('legacy', tell);
      const stopped = await carryOver.ended();
      stopTelling();
      return stopped;
    },
    runEnded: async (run) => {
      await Promise.all([fetch.ended(run), sync.ended(run), checkpoints.ended(run)]);
      return readRunSummary(db, run);
    },
    close: async () => {
      await Promise.all([fetch.close(), sync.close(), checkpoints.close(), carryOver.close()]);
      relays.close();
      await tags?.close();
      await eligibility?.close();
      await candidates.close();
      await checkpointList.close();
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
