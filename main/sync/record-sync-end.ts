import { setImmediate } from 'node:timers/promises';
import { noDeliveries, readDeliveryTotals } from '../coverage/delivery-totals.ts';
import { finishRun, warnRun } from '../coverage/run-history.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { formatSecond } from '../platform/format-second.ts';
import type { ShareEnd } from './relay-deliveries.ts';
import { endReverification } from './reverification.ts';
import { syncStatus } from './sync-status.ts';

/** How the shares of a launch ended. */
export interface LaunchEnd {
  ends: readonly ShareEnd[];
  /** Verified copies that were to be looked for again. */
  reverified: number;
  cancelled: boolean;
  nowMs: number;
}

/** Records how a sync ended: by its deliveries, and by whether all that was to be looked for again was. */
export async function recordSyncEnd(
  db: WritableDatabase,
  run: number,
  { ends, reverified, cancelled, nowMs }: LaunchEnd,
): Promise<void> {
  const now = Math.floor(nowMs / 1000);
  // Only a defect leaves any.
  await db
    .updateTable('attempts')
    .set({ status: 'partial', reason: 'Broke off.', completed_at: now })
    .where('run_id', '=', run)
    .where('status', '=', 'active')
    .execute();
  await endReverification(db, run, nowMs);
  const unlooked = ends.reduce((sum, end) => sum + end.unlooked, 0);
  if (unlooked > 0 && !cancelled) {
    const reason = ends.find((end) => end.unlooked > 0 && end.reason !== null)?.reason ?? 'It broke off.';
    await warnRun(
      db,
      run,
      `Of ${reverified} verified copies, ${unlooked} could not be looked for again at ${formatSecond(now)}. ${reason}`,
    );
  }
  const totals = (await readDeliveryTotals(db, [run])).get(run) ?? noDeliveries();
  // Counting a large run took a while.
  await setImmediate();
  await finishRun(db, run, syncStatus(totals, cancelled, unlooked === 0), now);
}
