import { sql } from 'kysely';
import type { DeliveryHistory, DeliveryStep } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { DELIVERY_COLUMNS, DELIVERY_TABLES, toDelivery, toSeconds, type DeliveryRow } from './delivery-list.ts';

/**
 * One delivery and everything that was done for it, in order.
 *
 * @throws Fault `unknown-delivery`.
 */
export async function readDeliveryHistory(db: ReadableDatabase, id: number): Promise<DeliveryHistory> {
  const { rows } = await sql<DeliveryRow>`select ${DELIVERY_COLUMNS} from ${DELIVERY_TABLES}
    where deliveries.id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Fault('unknown-delivery', `There is no delivery ${id}.`, { delivery: id });
  const steps = await db
    .selectFrom('delivery_steps')
    .select(['type', 'at_ms', 'completed_at_ms', 'outcome', 'message', 'query_id'])
    .where('delivery_id', '=', id)
    .orderBy('id')
    .execute();
  return {
    ...toDelivery(row),
    run: row.run_id,
    steps: steps.map((step): DeliveryStep => ({
      type: step.type,
      at: Math.floor(step.at_ms / 1000),
      completedAt: toSeconds(step.completed_at_ms),
      outcome: step.outcome,
      message: step.message,
      query: step.query_id,
    })),
  };
}
