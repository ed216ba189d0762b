import type { CoverageAttempt, CoverageQuery } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { readStanding } from './walk-standing.ts';

/** All attempts at a range, oldest first; a later one never replaces an earlier one. */
export async function readAttempts(db: ReadableDatabase, rangeId: number): Promise<CoverageAttempt[]> {
  const rows = await db
    .selectFrom('attempts')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('queries')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .whereRef('queries.attempt_id', '=', 'attempts.id')
        .as('query_count'),
    )
    .where('range_id', '=', rangeId)
    .orderBy('id')
    .execute();
  if (rows.length === 0) throw new Fault('unknown-range', `There is no range ${rangeId}.`, { range: rangeId });
  return rows.map((row) => ({
    id: row.id,
    run: row.run_id,
    prior: row.prior_id,
    continued: row.continued === 1,
    strategy: row.strategy,
    status: row.status,
    limit: row.page_limit,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    cursor: readStanding(row.checkpoint)?.reachedEnd === true ? null : row.cursor,
    reason: row.reason,
    found: row.found,
    fetched: row.fetched,
    received: row.received,
    newlyArchived: row.newly_archived,
    queryCount: row.query_count ?? 0,
  }));
}

/** Completed queries of an attempt in the order they were sent, a slice at a time. */
export async function readQueries(
  db: ReadableDatabase,
  attemptId: number,
  slice: { offset: number; limit: number },
): Promise<CoverageQuery[]> {
  const rows = await db
    .selectFrom('queries')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .orderBy('id')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    request: JSON.parse(row.request) as Record<string, unknown>,
    sentAt: Math.floor(row.sent_at_ms / 1000),
    completedAt: Math.floor(row.completed_at_ms / 1000),
    ending: row.ending,
    message: row.message,
    received: row.received,
    valid: row.valid,
    unique: row.unique_count,
    new: row.new_count,
  }));
}
