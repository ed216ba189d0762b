import type { Transaction } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import type { Range } from './range-history.ts';

/** How far fetching from one relay has come for one account. */
export interface FetchState {
  historyComplete: boolean;
  /** Everything up to this second was asked successfully, from Beginning on; null before that. */
  forwardBoundary: number | null;
}

export async function readFetchState(db: ReadableDatabase, accountId: number, relayId: number): Promise<FetchState> {
  const row = await db
    .selectFrom('fetch_state')
    .select(['history_complete', 'forward_boundary'])
    .where('account_id', '=', accountId)
    .where('relay_id', '=', relayId)
    .executeTakeFirst();
  return row === undefined
    ? { historyComplete: false, forwardBoundary: null }
    : { historyComplete: row.history_complete === 1, forwardBoundary: row.forward_boundary };
}

/**
 * Called in the transaction that completes a range of the account's whole filter. A range from Beginning establishes
 * history up to its `until`; a later one moves the boundary only when it joins what was established before, so the
 * boundary never passes over a second that nobody asked for. It moves back only when it lies ahead of the clock, where
 * a wrong clock must have put it.
 *
 * @param completedAt when the range was completed, Unix seconds.
 */
export async function advanceFetchState(trx: Transaction<Tables>, range: Range, completedAt: number): Promise<void> {
  const state = await readFetchState(trx, range.accountId, range.relayId);
  const joins = range.since === null || (state.forwardBoundary !== null && range.since <= state.forwardBoundary);
  if (!joins) return;
  const credible =
    state.forwardBoundary !== null && state.forwardBoundary <= completedAt ? state.forwardBoundary : range.until;
  const forwardBoundary = Math.max(range.until, credible);
  await trx
    .insertInto('fetch_state')
    .values({
      account_id: range.accountId,
      relay_id: range.relayId,
      history_complete: 1,
      forward_boundary: forwardBoundary,
    })
    .onConflict((conflict) => conflict.doUpdateSet({ history_complete: 1, forward_boundary: forwardBoundary }))
    .execute();
}
