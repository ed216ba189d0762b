import { sql, type RawBuilder } from 'kysely';
import type { Delivery, DeliveryPage, DeliveryReason, DeliveryState } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { contentPreview, PREVIEW_COLUMN } from './content-preview.ts';

/** Which deliveries of a run are wanted; what is left out is not narrowed. */
export interface DeliverySelection {
  runId: number;
  states?: readonly DeliveryState[] | undefined;
  reason?: DeliveryReason | undefined;
  /** The key of a relay. */
  relayKey?: string | undefined;
  offset: number;
  limit: number;
}

/** A row of deliveries with what stands in other tables about it. */
export interface DeliveryRow {
  id: number;
  run_id: number;
  event: string;
  kind: number;
  created_at: number;
  content: string | Buffer;
  url: string;
  state: DeliveryState;
  reason: DeliveryReason | null;
  message: string | null;
  duplicate: number;
  lasting: number;
  attempts: number;
  sent_at_ms: number | null;
  verified_at_ms: number | null;
}

/** What a {@link DeliveryRow} is read with. */
export const DELIVERY_COLUMNS = sql`deliveries.id, deliveries.run_id, lower(hex(event_ids.id)) as event, deliveries.kind,
  deliveries.created_at, ${PREVIEW_COLUMN} as content, relays.url, deliveries.state, deliveries.reason, deliveries.message,
  deliveries.duplicate, deliveries.lasting, deliveries.attempts, deliveries.sent_at_ms, deliveries.verified_at_ms`;
export const DELIVERY_TABLES = sql`deliveries join event_ids on event_ids.ref = deliveries.event_ref
  join events on events.ref = deliveries.event_ref join relays on relays.id = deliveries.relay_id`;

/** A window of a run's deliveries: relay by relay, each in the order of sending; the same order however they stand. */
export async function listDeliveries(db: ReadableDatabase, selection: DeliverySelection): Promise<DeliveryPage> {
  const narrowed = conditionOf(selection);
  const { rows: counted } = await sql<{ total: number }>`
    select count(*) as total from deliveries where ${narrowed}`.execute(db);
  // The window is found from the rows of deliveries alone; the rest is read for what it shows only.
  const { rows } = await sql<DeliveryRow>`select ${DELIVERY_COLUMNS}
    from (select id as wanted from deliveries where ${narrowed} order by id limit ${selection.limit} offset ${selection.offset})
    cross join deliveries on deliveries.id = wanted
    join event_ids on event_ids.ref = deliveries.event_ref
    join events on events.ref = deliveries.event_ref join relays on relays.id = deliveries.relay_id
    order by deliveries.id`.execute(db);
  return { total: counted[0]?.total ?? 0, deliveries: rows.map(toDelivery) };
}

/** A delivery as the contract has it. */
export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.event,
    kind: row.kind,
    createdAt: row.created_at,
    preview: contentPreview(row.content),
    relay: row.url,
    state: row.state,
    reason: row.reason,
    message: row.message,
    duplicate: row.duplicate === 1,
    lasting: row.lasting === 1,
    attempts: row.attempts,
    sentAt: toSeconds(row.sent_at_ms),
    verifiedAt: toSeconds(row.verified_at_ms),
  };
}

/** Unix milliseconds as whole seconds. */
export function toSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}

function conditionOf({ runId, states, reason, relayKey }: DeliverySelection): RawBuilder<unknown> {
  const conditions = [sql`deliveries.run_id = ${runId}`];
  if (states !== undefined) {
    conditions.push(sql`deliveries.state in (select value from json_each(${JSON.stringify(states)}))`);
  }
  if (reason !== undefined) conditions.push(sql`deliveries.reason = ${reason}`);
  if (relayKey !== undefined) {
    conditions.push(sql`deliveries.relay_id = (select relays.id from relays where relays.key = ${relayKey})`);
  }
  return sql.join(conditions, sql` and `);
}
