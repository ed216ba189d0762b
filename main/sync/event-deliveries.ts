import { sql } from 'kysely';
import type { EventDelivery } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { DELIVERY_COLUMNS, toDelivery, type DeliveryRow } from './delivery-list.ts';

/** However often an event was sent, the latest tell how it stands. */
const DELIVERIES_SHOWN = 200;

/**
 * The deliveries of one event, of all syncs and to all relays, newest first.
 *
 * @param event 64 hex characters.
 */
export async function listEventDeliveries(db: ReadableDatabase, event: string): Promise<EventDelivery[]> {
  // Relays are few, and of each one the deliveries of an event are found by an index.
  const { rows } = await sql<DeliveryRow>`select ${DELIVERY_COLUMNS}
    from event_ids join events on events.ref = event_ids.ref
    cross join relays
    cross join deliveries indexed by deliveries_by_copy
      on deliveries.relay_id = relays.id and deliveries.event_ref = event_ids.ref
    where event_ids.id = ${Buffer.from(event, 'hex')}
    order by deliveries.id desc limit ${DELIVERIES_SHOWN}`.execute(db);
  return rows.map((row) => ({ ...toDelivery(row), run: row.run_id }));
}
