import type { DeliveryState, DeliveryTotals } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';

/** Totals of a run that delivers nothing yet. */
export function noDeliveries(): DeliveryTotals {
  return { pending: 0, sent: 0, accepted: 0, rejected: 0, verified: 0, unverified: 0, withdrawn: 0 };
}

/** Deliveries by state, for those of some runs that have any. */
export async function readDeliveryTotals(
  db: ReadableDatabase,
  runs: readonly number[],
): Promise<Map<number, DeliveryTotals>> {
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('deliveries')
    .select(({ fn }) => ['run_id', 'state', fn.countAll<number>().as('count')])
    .where('run_id', 'in', runs)
    .groupBy(['run_id', 'state'])
    .execute();
  const totals = new Map<number, DeliveryTotals>();
  for (const { run_id: run, state, count } of rows) {
    totals.set(run, { ...(totals.get(run) ?? noDeliveries()), [state]: count });
  }
  return totals;
}

/**
 * States that Resume goes on with. Withdrawn and verified deliveries are done; of rejected ones those that were refused for
 * a reason that passes are tried again, see `passing-refusals.ts`.
 */
export const UNFINISHED_STATES: readonly DeliveryState[] = ['pending', 'sent', 'accepted', 'unverified'];

/** How many deliveries Resume would go on with, refused ones aside. */
export function unfinishedDeliveries(totals: DeliveryTotals): number {
  return UNFINISHED_STATES.reduce((sum, state) => sum + totals[state], 0);
}
