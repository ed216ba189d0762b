import type { Transaction } from 'kysely';
import { beginRun, reopenRun } from '../coverage/run-history.ts';
import { readWindowsCheckpoint } from '../coverage/windows-checkpoint.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { PAGE_LIMIT } from '../../preload/contract.ts';
import { readWindowRanges, type StoredCheckpoint, type WindowRange } from './checkpoint-store.ts';
import { internRelays, numberOf } from './relay-numbers.ts';
import { joinWindows } from './window-spans.ts';
import { askFullAgain, windowsLeft, type WindowWalk } from './window-walk.ts';

/** One range of windows to go on with: from where its latest attempt left it, or from its beginning. */
export interface WindowTask {
  range: WindowRange;
  walk: WindowWalk;
}

/**
 * Begins the runs that go on with checkpoints, or takes up those that did so before, and notes the decisions: for all of them
 * in one transaction, or for none. Of each relay's windows those that follow each other become one range.
 *
 * @param now Unix seconds.
 * @returns the numbers of the runs, in the order of the checkpoints.
 */
export async function beginResumes(
  db: WritableDatabase,
  checkpoints: readonly StoredCheckpoint[],
  now: number,
): Promise<number[]> {
  return db.transaction().execute(async (trx) => {
    const runs: number[] = [];
    for (const checkpoint of checkpoints) runs.push(await beginResume(trx, checkpoint, now));
    return runs;
  });
}

/** What a resume has to ask. */
export interface WindowTasks {
  /** Newest range first. */
  tasks: WindowTask[];
  /** Seconds that were full in other ranges stay unfinished by this: they are asked again only when nothing else is left. */
  leavesFull: boolean;
}

/** What is left to be asked of a checkpoint's ranges; nothing before it was resumed. */
export async function readWindowTasks(db: ReadableDatabase, checkpoint: StoredCheckpoint): Promise<WindowTasks> {
  const ranges = (await readWindowRanges(db, [checkpoint.id])).get(checkpoint.id) ?? [];
  const left = ranges
    .map((range) => ({ range, walk: walkOf(checkpoint, range) }))
    .filter(({ walk }) => windowsLeft(walk).length > 0);
  const pending = left.filter(({ walk }) => walk.pending.length > 0);
  if (pending.length > 0) return { tasks: pending, leavesFull: pending.length < left.length };
  return { tasks: left.map(({ range, walk }) => ({ range, walk: askFullAgain(walk) })), leavesFull: false };
}

/** The limit that the first version asked with, within what may be asked for at all. */
export function windowLimit({ windowLimit }: StoredCheckpoint): number {
  return Math.min(PAGE_LIMIT.largest, Math.max(PAGE_LIMIT.smallest, windowLimit));
}

async function beginResume(trx: Transaction<Tables>, checkpoint: StoredCheckpoint, now: number): Promise<number> {
  const earlier = await trx
    .selectFrom('runs')
    .select('id')
    .where('checkpoint_id', '=', checkpoint.id)
    .orderBy('id', 'desc')
    .executeTakeFirst();
  if (earlier !== undefined) await reopenRun(trx, earlier.id);
  const run = earlier?.id ?? (await beginFirst(trx, checkpoint, now));
  await trx
    .updateTable('legacy_checkpoints')
    .set({ status: 'resumed', run_id: run, decided_at: now })
    .where('id', '=', checkpoint.id)
    .execute();
  return run;
}

async function beginFirst(trx: Transaction<Tables>, checkpoint: StoredCheckpoint, now: number): Promise<number> {
  const newest = checkpoint.relays.flatMap(({ windows }) => windows).reduce((a, { until }) => Math.max(a, until), 0);
  const run = await beginRun(trx, {
    accountId: checkpoint.accountId,
    type: 'legacy-resume',
    strategy: 'paging',
    pageLimit: windowLimit(checkpoint),
    boundary: newest,
    sources: checkpoint.relays.map(({ key }) => key),
    warnings: [],
    startedAt: now,
    checkpointId: checkpoint.id,
  });
  const filter = JSON.stringify({ authors: [checkpoint.account] });
  const numbers = await internRelays(trx, checkpoint.relays);
  for (const relay of checkpoint.relays) {
    const relayId = numberOf(numbers, relay);
    for (const { since, until } of joinWindows(relay.windows)) {
      await trx
        .insertInto('ranges')
        .values({
          account_id: checkpoint.accountId,
          relay_id: relayId,
          filter,
          since,
          until,
          checkpoint_id: checkpoint.id,
        })
        .execute();
    }
  }
  return run;
}

function walkOf(checkpoint: StoredCheckpoint, range: WindowRange): WindowWalk {
  const stored = range.attempt === null ? null : readWindowsCheckpoint(range.attempt.checkpoint);
  if (stored !== null) return stored;
  const windows = checkpoint.relays.find(({ key }) => key === range.key)?.windows ?? [];
  const span = joinWindows(windows).find(({ since }) => since === range.since);
  return { pending: span?.windows ?? [], full: [] };
}
