import type { Transaction } from 'kysely';
import type { RangeStatus, Strategy } from '../../preload/contract.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { Fault } from '../platform/fault.ts';
import type { RelayFilter } from '../relays/relay-query.ts';
import { dropArrivedPagesOf } from './arrived-page.ts';
import { CLOSED_BY } from './closed-range.ts';
import { readCheckpoint, type WalkCheckpoint } from './walk-checkpoint.ts';

/** A logical scope on one relay. The filter holds no bounds; `since: null` is Beginning. */
export interface Range {
  id: number;
  accountId: number;
  relayId: number;
  filter: RelayFilter;
  since: number | null;
  until: number;
}

/** An attempt as Resume and Refetch need it. */
export interface Attempt {
  id: number;
  rangeId: number;
  runId: number;
  walkId: number;
  strategy: Strategy;
  status: RangeStatus;
  pageLimit: number;
  /** It went on with an earlier attempt of its walk. */
  continued: boolean;
  cursor: number | null;
  checkpoint: WalkCheckpoint | null;
  pages: number;
  found: number;
  fetched: number;
  reason: string | null;
}

export interface NewAttempt {
  rangeId: number;
  runId: number;
  strategy: Strategy;
  pageLimit: number;
  startedAt: number;
  /** The attempt that this one repeats (a walk of its own) or continues (the same walk, from its cursor). */
  prior: Pick<Attempt, 'id'> | null;
  continued: boolean;
  /** What the walk begins with, or goes on from, where that is not for `prior` to say. */
  checkpoint?: object;
}

/** The range of exactly this scope among those of the account's history, found or created; old windows are none of them. */
export async function openRange(db: WritableDatabase, scope: Omit<Range, 'id'>): Promise<Range> {
  const filter = JSON.stringify(scope.filter);
  return db.transaction().execute(async (trx) => {
    const known = await trx
      .selectFrom('ranges')
      .select('id')
      .where('account_id', '=', scope.accountId)
      .where('relay_id', '=', scope.relayId)
      .where('until', '=', scope.until)
      .where('since', 'is', scope.since)
      .where('filter', '=', filter)
      .where('purpose', '=', 'history')
      .where('checkpoint_id', 'is', null)
      .executeTakeFirst();
    if (known !== undefined) return { ...scope, id: known.id };
    const { id } = await trx
      .insertInto('ranges')
      .values({ account_id: scope.accountId, relay_id: scope.relayId, filter, since: scope.since, until: scope.until })
      .returning('id')
      .executeTakeFirstOrThrow();
    return { ...scope, id };
  });
}

/** A range of an account's history. @throws Fault `unknown-range`. */
export async function readRange(db: ReadableDatabase, id: number): Promise<Range> {
  const row = await db
    .selectFrom('ranges')
    .selectAll()
    .where('id', '=', id)
    .where('purpose', '=', 'history')
    .executeTakeFirst();
  if (row === undefined) throw new Fault('unknown-range', `There is no range ${id}.`, { range: id });
  return {
    id: row.id,
    accountId: row.account_id,
    relayId: row.relay_id,
    filter: JSON.parse(row.filter) as RelayFilter,
    since: row.since,
    until: row.until,
  };
}

/**
 * Records the start of an attempt. A continued one inherits cursor, checkpoint and the counters of its walk. One that begins
 * a walk ends what earlier walks over the range left to be gone on with.
 */
export async function beginAttempt(db: WritableDatabase, attempt: NewAttempt): Promise<Attempt> {
  return db.transaction().execute(async (trx) => {
    // Read now: since the caller did, bodies that the walk's relay had named may have come from another one.
    const continued =
      attempt.continued && attempt.prior !== null ? await readAttemptWithin(trx, attempt.prior.id) : null;
    const { id } = await trx
      .insertInto('attempts')
      .values({
        range_id: attempt.rangeId,
        run_id: attempt.runId,
        walk_id: continued?.walkId ?? 0,
        prior_id: attempt.prior?.id ?? null,
        continued: continued === null ? 0 : 1,
        strategy: attempt.strategy,
        status: 'active',
        page_limit: attempt.pageLimit,
        cursor: continued?.cursor ?? null,
        checkpoint: JSON.stringify(attempt.checkpoint ?? continued?.checkpoint ?? null),
        reason: null,
        pages: continued?.pages ?? 0,
        found: continued?.found ?? 0,
        fetched: continued?.fetched ?? 0,
        started_at: attempt.startedAt,
        completed_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (continued === null) {
      await trx.updateTable('attempts').set({ walk_id: id }).where('id', '=', id).execute();
      await dropArrivedPagesOf(trx, attempt.rangeId);
    }
    return readAttemptWithin(trx, id);
  });
}

/** Ends an attempt outside a page: nothing was asked, or the asking was given up. */
export async function endAttempt(
  db: WritableDatabase,
  id: number,
  status: Exclude<RangeStatus, 'active'>,
  reason: string,
  completedAt: number,
): Promise<void> {
  await db.updateTable('attempts').set({ status, reason, completed_at: completedAt }).where('id', '=', id).execute();
}

/** The latest attempt at a range, or null when there was none. */
export async function latestAttempt(db: ReadableDatabase, rangeId: number): Promise<Attempt | null> {
  const row = await db
    .selectFrom('attempts')
    .selectAll()
    .where('range_id', '=', rangeId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : toAttempt(row);
}

/** A range as its latest attempt left it. */
export interface RangeWithAttempt {
  range: Range;
  attempt: Attempt;
  /** See `closed-range.ts`. */
  closedBy: number | null;
}

/** The ranges of an account's history on a relay with their latest attempts, oldest range first; old windows are none of them. */
export async function rangesWithLatestAttempt(
  db: ReadableDatabase,
  accountId: number,
  relayId: number,
): Promise<RangeWithAttempt[]> {
  const rows = await db
    .selectFrom('ranges')
    .innerJoin('attempts', (join) =>
      join.on('attempts.id', '=', (eb) =>
        eb
          .selectFrom('attempts as latest')
          .select(({ fn }) => fn.max('latest.id').as('id'))
          .whereRef('latest.range_id', '=', 'ranges.id'),
      ),
    )
    .selectAll('attempts')
    .select(['ranges.filter', 'ranges.since', 'ranges.until', CLOSED_BY.as('closed_by')])
    .where('ranges.account_id', '=', accountId)
    .where('ranges.relay_id', '=', relayId)
    .where('ranges.purpose', '=', 'history')
    .where('ranges.checkpoint_id', 'is', null)
    .orderBy('ranges.id')
    .execute();
  return rows.map((row) => ({
    range: {
      id: row.range_id,
      accountId,
      relayId,
      filter: JSON.parse(row.filter) as RelayFilter,
      since: row.since,
      until: row.until,
    },
    attempt: toAttempt(row),
    closedBy: row.closed_by,
  }));
}

/** Ranges whose latest attempt belongs to a run. */
export async function rangesOfRun(db: ReadableDatabase, runId: number): Promise<RangeWithAttempt[]> {
  const ids = await db
    .selectFrom('attempts')
    .select('range_id')
    .distinct()
    .where('run_id', '=', runId)
    .orderBy('range_id')
    .execute();
  const pairs: RangeWithAttempt[] = [];
  for (const { range_id: id } of ids) {
    const attempt = await latestAttempt(db, id);
    if (attempt === null || attempt.runId !== runId) continue;
    pairs.push({ range: await readRange(db, id), attempt, closedBy: await readClosedBy(db, attempt.id) });
  }
  return pairs;
}

async function readClosedBy(db: ReadableDatabase, attemptId: number): Promise<number | null> {
  const row = await db
    .selectFrom('attempts')
    .innerJoin('ranges', 'ranges.id', 'attempts.range_id')
    .select(CLOSED_BY.as('closed_by'))
    .where('attempts.id', '=', attemptId)
    .executeTakeFirst();
  return row?.closed_by ?? null;
}

/** True when Resume can go on with it: bodies are missing, or it is unfinished and not stuck for a reason that only another limit or strategy lifts. */
export function isResumable(
  attempt: Pick<Attempt, 'status' | 'found' | 'fetched'> & { checkpoint: { unpageable: boolean } | null },
): boolean {
  if (attempt.status === 'complete') return attempt.fetched < attempt.found;
  return (attempt.status === 'partial' || attempt.status === 'failed') && attempt.checkpoint?.unpageable !== true;
}

async function readAttemptWithin(trx: Transaction<Tables>, id: number): Promise<Attempt> {
  return toAttempt(await trx.selectFrom('attempts').selectAll().where('id', '=', id).executeTakeFirstOrThrow());
}

function toAttempt(row: {
  id: number;
  range_id: number;
  run_id: number;
  walk_id: number;
  strategy: Strategy;
  status: RangeStatus;
  page_limit: number;
  continued: number;
  cursor: number | null;
  checkpoint: string;
  pages: number;
  found: number;
  fetched: number;
  reason: string | null;
}): Attempt {
  return {
    id: row.id,
    rangeId: row.range_id,
    runId: row.run_id,
    walkId: row.walk_id,
    strategy: row.strategy,
    status: row.status,
    pageLimit: row.page_limit,
    continued: row.continued === 1,
    cursor: row.cursor,
    checkpoint: readCheckpoint(row.checkpoint),
    pages: row.pages,
    found: row.found,
    fetched: row.fetched,
    reason: row.reason,
  };
}
