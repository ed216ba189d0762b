import { sql } from 'kysely';
import type { DeliveryState, DeliveryTotals } from '../../preload/contract.ts';
import { noDeliveries } from '../coverage/delivery-totals.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { isWithin, type DeliveryWindow } from './delivery-windows.ts';

/** One relay's share of a sync run. */
export interface Share {
  runId: number;
  relayId: number;
}

/** A delivery as sending needs it. */
export interface PendingDelivery {
  id: number;
  ref: number;
  /** 64 hex characters. */
  event: string;
  kind: number;
  position: number;
  attempts: number;
  /** Of its content and tags. */
  bytes: number;
}

/** A delivery as reading it back needs it. */
export interface SentDelivery {
  id: number;
  /** 64 hex characters. */
  event: string;
  state: DeliveryState;
  answered: boolean;
  verifiedAtMs: number | null;
  looks: number;
}

/** The next deliveries of a share to send, in order. `afterPosition`: -1 for the first ones. */
export async function nextPending(
  db: ReadableDatabase,
  share: Share,
  afterPosition: number,
  limit: number,
): Promise<PendingDelivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .innerJoin('event_ids', 'event_ids.ref', 'deliveries.event_ref')
    .innerJoin('events', 'events.ref', 'deliveries.event_ref')
    .select(['deliveries.id', 'event_ref', 'event_ids.id as event', 'deliveries.kind', 'position', 'attempts'])
    .select(sql<number>`octet_length(events.content) + octet_length(events.tags)`.as('bytes'))
    .where('run_id', '=', share.runId)
    .where('relay_id', '=', share.relayId)
    .where('state', '=', 'pending')
    .where('position', '>', afterPosition)
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    ref: row.event_ref,
    event: row.event.toString('hex'),
    kind: row.kind,
    position: row.position,
    attempts: row.attempts,
    bytes: row.bytes,
  }));
}

/** Deliveries of a share that were sent and are not known to have arrived, within a window, by ID. */
export async function readUnconfirmed(
  db: ReadableDatabase,
  share: Share,
  window: DeliveryWindow,
): Promise<SentDelivery[]> {
  const rows = await selectSent(db)
    .where(isWithin(window, share.runId))
    .where(sql<boolean>`+relay_id = ${share.relayId} and +state in ('sent', 'accepted', 'unverified')`)
    .orderBy('deliveries.id')
    .execute();
  return rows.map(toSent);
}

/** Deliveries by ID, in no order. */
export async function readSent(db: ReadableDatabase, ids: readonly number[]): Promise<SentDelivery[]> {
  const rows = await selectSent(db)
    .where(sql<boolean>`deliveries.id in (select value from json_each(${JSON.stringify(ids)}))`)
    .execute();
  return rows.map(toSent);
}

/** How the deliveries of a share stand. */
export async function readShareTotals(db: ReadableDatabase, share: Share): Promise<DeliveryTotals> {
  const rows = await db
    .selectFrom('deliveries')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('run_id', '=', share.runId)
    .where('relay_id', '=', share.relayId)
    .groupBy('state')
    .execute();
  const totals = noDeliveries();
  for (const { state, count } of rows) totals[state] = count;
  return totals;
}

/** The relays that a run delivers to, in the order of its deliveries, and how each share stands. */
export async function readShares(
  db: ReadableDatabase,
  runId: number,
): Promise<{ relayId: number; key: string; url: string; totals: DeliveryTotals }[]> {
  const { rows } = await sql<{ id: number; key: string; url: string; state: DeliveryState; count: number }>`
    select relays.id, relays.key, relays.url, counted.state, counted.count from (
      select relay_id, state, count(*) as count, min(id) as first from deliveries
      where run_id = ${runId} group by relay_id, state) as counted
    join relays on relays.id = counted.relay_id order by counted.first`.execute(db);
  const shares = new Map<number, { relayId: number; key: string; url: string; totals: DeliveryTotals }>();
  for (const { id, key, url, state, count } of rows) {
    const share = shares.get(id) ?? { relayId: id, key, url, totals: noDeliveries() };
    share.totals[state] = count;
    shares.set(id, share);
  }
  return [...shares.values()];
}

function selectSent(db: ReadableDatabase) {
  return db
    .selectFrom('deliveries')
    .innerJoin('event_ids', 'event_ids.ref', 'deliveries.event_ref')
    .select(['deliveries.id', 'event_ids.id as event', 'state', 'answered', 'verified_at_ms', 'looks']);
}

function toSent(row: {
  id: number;
  event: Buffer;
  state: DeliveryState;
  answered: number;
  verified_at_ms: number | null;
  looks: number;
}): SentDelivery {
  return {
    id: row.id,
    event: row.event.toString('hex'),
    state: row.state,
    answered: row.answered === 1,
    verifiedAtMs: row.verified_at_ms,
    looks: row.looks,
  };
}
