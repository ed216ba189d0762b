import type { DeliveryTotals, RunStatus } from '../../preload/contract.ts';
import { readDeliveryTotals, noDeliveries } from '../coverage/delivery-totals.ts';
import type { WritableDatabase } from '../database/database-file.ts';

/**
 * How a sync stands, by its deliveries: complete when each is verified or withdrawn, failed when nothing reached any relay
 * although something was to.
 *
 * @param isLookedThrough whether all verified copies that were to be looked for again were; true where none was to.
 */
export function syncStatus(
  totals: DeliveryTotals,
  cancelled: boolean,
  isLookedThrough = true,
): Exclude<RunStatus, 'active'> {
  const { pending, sent, accepted, rejected, verified, unverified } = totals;
  if (pending + sent + accepted + rejected + unverified === 0 && isLookedThrough) return 'complete';
  if (cancelled) return 'cancelled';
  return sent + accepted + rejected + verified + unverified === 0 ? 'failed' : 'partial';
}

/**
 * Ends syncs that a crash left active although nothing was left to do. Every other one is for Resume, but for one whose
 * verified copies were being looked for again: nothing is left to send, and yet it did not come to its end.
 *
 * @param now Unix seconds.
 * @param only one run.
 */
export async function settleFinishedSyncs(db: WritableDatabase, now: number, only?: number): Promise<void> {
  let query = db
    .selectFrom('runs')
    .select('id')
    .where('type', '=', 'sync')
    .where('status', '=', 'active')
    .where((eb) => eb.or([eb('reverified_from_ms', 'is', null), eb('reverified_until_ms', 'is not', null)]));
  if (only !== undefined) query = query.where('id', '=', only);
  const active = await query.execute();
  const totals = await readDeliveryTotals(
    db,
    active.map(({ id }) => id),
  );
  for (const { id } of active) {
    if (syncStatus(totals.get(id) ?? noDeliveries(), false) !== 'complete') continue;
    await db.updateTable('runs').set({ status: 'complete', finished_at: now }).where('id', '=', id).execute();
  }
}
