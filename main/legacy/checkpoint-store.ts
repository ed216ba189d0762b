import { sql } from 'kysely';
import * as v from 'valibot';
import type { LegacyCheckpointStatus, LegacyWindow } from '../../preload/contract.ts';
import { readWindowsCheckpoint } from '../coverage/windows-checkpoint.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { relayKeyOrNull } from '../relays/relay-key.ts';
import { joinWindows, type WindowSpan } from './window-spans.ts';
import { windowsLeft, type Window } from './window-walk.ts';

/** A fetch of the first version that stopped with windows left, as it was carried over. */
export interface StoredCheckpoint {
  id: number;
  accountId: number;
  /** 64 hex characters. */
  account: string;
  status: LegacyCheckpointStatus;
  windowLimit: number;
  completedWindows: number;
  eventsSeen: number;
  startedAt: number | null;
  stoppedAt: number | null;
  /** The run that replaced it, or goes on with it. */
  runId: number | null;
  /** Its windows by relay, as the old checkpoint had them; relays and windows in the order there. */
  relays: CheckpointRelay[];
}

export interface CheckpointRelay {
  key: string;
  /** As the first version wrote it. */
  url: string;
  windows: Window[];
}

const windowsSchema = v.array(
  v.object({
    relay: v.string(),
    since: v.pipe(v.number(), v.safeInteger()),
    until: v.pipe(v.number(), v.safeInteger()),
  }),
);

/** All checkpoints in their order, or those of the given numbers. */
export async function readCheckpoints(db: ReadableDatabase, ids?: readonly number[]): Promise<StoredCheckpoint[]> {
  let query = db
    .selectFrom('legacy_checkpoints')
    .innerJoin('accounts', 'accounts.id', 'legacy_checkpoints.account_id')
    .selectAll('legacy_checkpoints')
    .select('accounts.pubkey')
    .orderBy('legacy_checkpoints.id');
  if (ids !== undefined) {
    query = query.where(
      'legacy_checkpoints.id',
      'in',
      sql<number>`(select value from json_each(${JSON.stringify(ids)}))`,
    );
  }
  const rows = await query.execute();
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    account: row.pubkey,
    status: row.status,
    windowLimit: row.window_limit,
    completedWindows: row.completed_windows,
    eventsSeen: row.events_seen,
    startedAt: row.started_at,
    stoppedAt: row.stopped_at,
    runId: row.run_id,
    relays: windowsByRelay(row.windows),
  }));
}

/** The checkpoints of these numbers, each once. @throws Fault `unknown-checkpoint` that names the first that is not there. */
export async function requireCheckpoints(db: ReadableDatabase, ids: readonly number[]): Promise<StoredCheckpoint[]> {
  const known = await readCheckpoints(db, ids);
  const missing = ids.find((id) => !known.some((checkpoint) => checkpoint.id === id));
  if (missing === undefined) return known;
  throw new Fault('unknown-checkpoint', `There is no checkpoint ${missing} of the first version here.`, {
    checkpoint: missing,
  });
}

/** A range that is made of a checkpoint's windows, with where its latest attempt left it. */
export interface WindowRange {
  id: number;
  relayId: number;
  url: string;
  key: string;
  since: number;
  until: number;
  /** Null before the first attempt. */
  attempt: { id: number; checkpoint: string } | null;
}

/** The ranges that were made of the checkpoints' windows, by checkpoint, newest span first. */
export async function readWindowRanges(
  db: ReadableDatabase,
  checkpoints: readonly number[],
): Promise<Map<number, WindowRange[]>> {
  const rows = await db
    .selectFrom('ranges')
    .innerJoin('relays', 'relays.id', 'ranges.relay_id')
    .leftJoin('attempts', (join) =>
      join.on('attempts.id', '=', (eb) =>
        eb
          .selectFrom('attempts as latest')
          .select(({ fn }) => fn.max('latest.id').as('id'))
          .whereRef('latest.range_id', '=', 'ranges.id'),
      ),
    )
    .select([
      'ranges.id',
      'ranges.relay_id',
      'ranges.checkpoint_id',
      'ranges.since',
      'ranges.until',
      'relays.key',
      'relays.url',
      'attempts.id as attempt_id',
      'attempts.checkpoint',
    ])
    .where('ranges.checkpoint_id', 'in', sql<number>`(select value from json_each(${JSON.stringify(checkpoints)}))`)
    .orderBy('ranges.until', 'desc')
    .execute();
  const byCheckpoint = new Map<number, WindowRange[]>();
  for (const row of rows) {
    if (row.checkpoint_id === null || row.since === null) continue;
    const list = byCheckpoint.get(row.checkpoint_id) ?? [];
    list.push({
      id: row.id,
      relayId: row.relay_id,
      url: row.url,
      key: row.key,
      since: row.since,
      until: row.until,
      attempt:
        row.attempt_id === null || row.checkpoint === null ? null : { id: row.attempt_id, checkpoint: row.checkpoint },
    });
    byCheckpoint.set(row.checkpoint_id, list);
  }
  return byCheckpoint;
}

/** The windows left, as they stand by now: where a range was begun, what its latest attempt left of it. */
export function leftOf(checkpoint: StoredCheckpoint, ranges: readonly WindowRange[]): LegacyWindow[] {
  const rangeOf = new Map(ranges.map((range) => [`${range.key} ${range.since}`, range]));
  return checkpoint.relays.flatMap(({ key, url, windows }) =>
    joinWindows(windows).flatMap((span) => {
      const range = rangeOf.get(`${key} ${span.since}`);
      return windowsOf(span, range).map(({ since, until }) => ({ url, since, until }));
    }),
  );
}

/** What is left of a span: all of its windows before its first attempt. */
function windowsOf(span: WindowSpan, range: WindowRange | undefined): Window[] {
  const checkpoint = range?.attempt == null ? null : readWindowsCheckpoint(range.attempt.checkpoint);
  return checkpoint === null ? span.windows : windowsLeft(checkpoint);
}

/** What is no window of a relay was kept aside when the checkpoint was carried over, so nothing is passed over here. */
function windowsByRelay(text: string): CheckpointRelay[] {
  const relays = new Map<string, CheckpointRelay>();
  for (const { relay: url, since, until } of v.parse(windowsSchema, JSON.parse(text))) {
    const key = relayKeyOrNull(url);
    if (key === null || since > until)
      throw new Error(`A checkpoint holds what is no window: ${url} ${since} ${until}`);
    const known = relays.get(key) ?? { key, url, windows: [] };
    known.windows.push({ since, until });
    relays.set(key, known);
  }
  return [...relays.values()];
}
