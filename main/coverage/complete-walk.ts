import type { Transaction } from 'kysely';
import type { RangeStatus } from '../../preload/contract.ts';
import type { Tables } from '../database/tables.ts';
import { completeInventory } from './complete-inventory.ts';
import { advanceFetchState } from './fetch-state.ts';
import type { Attempt, Range } from './range-history.ts';

/**
 * Ends an attempt in the transaction of its last query. A complete one becomes an inventory and moves the account's
 * fetch state; when its queries leave part of the scope out after all, it is partial instead. Windows of the first version
 * are neither: they end as what they are, and nothing follows.
 */
export async function completeWalk(
  trx: Transaction<Tables>,
  range: Range,
  attempt: Pick<Attempt, 'id' | 'walkId' | 'strategy'>,
  end: { status: Exclude<RangeStatus, 'active'>; reason: string },
  completedAtMs: number,
): Promise<void> {
  const completedAt = Math.floor(completedAtMs / 1000);
  const concludes = end.status === 'complete' && attempt.strategy !== 'legacy-windows';
  const whole = concludes && (await completeInventory(trx, range, attempt.walkId));
  const settled =
    concludes && !whole
      ? { status: 'partial' as const, reason: 'The queries of this walk do not cover the whole range.' }
      : end;
  await trx
    .updateTable('attempts')
    .set({ status: settled.status, reason: settled.reason, completed_at: completedAt })
    .where('id', '=', attempt.id)
    .execute();
  if (whole) await advanceFetchState(trx, range, completedAt);
}
