import BetterSqlite3 from 'better-sqlite3';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LegacyCheckpoint, LegacyCheckpointStatus, RunSummary, SignedEvent } from '../../preload/contract.ts';
import { FetchRig } from '../fetch/fetch-rig.ts';
import type { TestKey } from '../relays/event-builder.ts';
import { alice } from '../relays/event-builder.ts';
import { ScriptedRelay, type ScriptedRelayOptions } from '../relays/scripted-relay.ts';
import { eventRow, OLDEST, operationRow } from './first-version-rows.ts';
import { writeFirstVersion } from './generated-first-version.ts';

export interface OldWindow {
  relay: string;
  since: number;
  until: number;
}

/** An unfinished fetch of the first version, of alice unless told otherwise. */
export interface OldFetch {
  author?: TestKey;
  limit?: number;
  windows: OldWindow[];
}

/** The engine over an archive into which a first version with unfinished fetches was brought. */
export class CheckpointRig {
  readonly fetch: FetchRig;

  private constructor(fetch: FetchRig) {
    this.fetch = fetch;
  }

  /** @param sources write relays of every account. */
  static async start(
    fetches: readonly OldFetch[],
    { sources = [], events = [] }: { sources?: readonly string[]; events?: readonly SignedEvent[] } = {},
  ): Promise<CheckpointRig> {
    const fetch = await FetchRig.start();
    onTestFinished(() => fetch.close());
    const authors = [...new Set(fetches.map(({ author = alice }) => author))];
    const accounts = authors.map(({ pubkey }, index) => ({
      id: index + 1,
      pubkey,
      label: null,
      signer_ref: null,
      created_at: OLDEST,
    }));
    const chosen = join(fetch.directory, 'chosen');
    mkdirSync(chosen);
    const path = writeFirstVersion(chosen, {
      accounts,
      account_relays: accounts.flatMap(({ id }) =>
        sources.map((url) => ({ account_id: id, url, read: 0, write: 1, extra: 0 })),
      ),
      events: events.map(eventRow),
      operations: fetches.map(({ author = alice, limit = 4, windows }, index) =>
        operationRow(`operation ${index}`, authors.indexOf(author) + 1, {
          status: 'partial',
          checkpoint: JSON.stringify({
            version: 1,
            windowLimit: limit,
            completedWindows: 1,
            eventsSeen: 2,
            pendingWindows: windows.map((window) => ({ ...window, depth: 3 })),
          }),
        }),
      ),
    });
    await fetch.engine.methods['legacy.importFile']({ path });
    await fetch.engine.firstVersionBroughtOver();
    return new CheckpointRig(fetch);
  }

  async checkpoints(): Promise<LegacyCheckpoint[]> {
    return (await this.fetch.engine.methods['legacy.overview']({})).checkpoints;
  }

  async checkpoint(id: number): Promise<LegacyCheckpoint> {
    const checkpoint = (await this.checkpoints()).find((candidate) => candidate.id === id);
    if (checkpoint === undefined) throw new Error(`no checkpoint ${id}`);
    return checkpoint;
  }

  async statuses(): Promise<LegacyCheckpointStatus[]> {
    return (await this.checkpoints()).map(({ status }) => status);
  }

  /** Resumes checkpoints and waits for the ends of their runs. */
  async resume(...checkpoints: number[]): Promise<RunSummary[]> {
    const { runs } = await this.fetch.engine.methods['legacy.resume']({ checkpoints });
    const ended: RunSummary[] = [];
    for (const run of runs) ended.push(await this.fetch.ended(run));
    return ended;
  }

  async resumeOne(checkpoint: number): Promise<RunSummary> {
    const [run] = await this.resume(checkpoint);
    if (run === undefined) throw new Error('no run');
    return run;
  }

  /** One value of the archive's file, read beside the engine. */
  value(query: string): unknown {
    const database = new BetterSqlite3(join(this.fetch.directory, 'holdfast.db'), { readonly: true });
    try {
      return database.prepare(query).pluck().get();
    } finally {
      database.close();
    }
  }
}

/** A relay that is gone after the test. */
export async function startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start(options);
  onTestFinished(() => relay.stop());
  return relay;
}

/** What a relay was asked for by windows: bounds and limit of each request, in order. */
export function windowsAsked(relay: ScriptedRelay): { since: unknown; until: unknown; limit: unknown }[] {
  return relay
    .requests()
    .filter((filter) => 'since' in filter && 'until' in filter)
    .map(({ since, until, limit }) => ({ since, until, limit }));
}
