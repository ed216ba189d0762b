import { sql, type RawBuilder } from 'kysely';
import { hasLaterDelivery } from '../coverage/passing-refusals.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { CopyNarrowing } from './candidate-subject.ts';

/** The author with this public key (64 hex characters) as the archive numbers authors, or null. */
export async function readAuthor(db: ReadableDatabase, pubkey: string): Promise<number | null> {
  const row = await db
    .selectFrom('authors')
    .select('id')
    .where('pubkey', '=', Buffer.from(pubkey, 'hex'))
    .executeTakeFirst();
  return row?.id ?? null;
}

/**
 * Up to which second everything that an author signed has vanished from a relay (NIP-62), Unix seconds; null when there is
 * no request to vanish that names it or all relays.
 */
export async function readVanishedUntil(
  db: ReadableDatabase,
  author: number,
  relayKey: string,
): Promise<number | null> {
  const { until } = await db
    .selectFrom('vanish_requests')
    .select(({ fn }) => fn.max('until').as('until'))
    .where('author', '=', author)
    .where('relay_key', 'in', ['', relayKey])
    .executeTakeFirstOrThrow();
  return until;
}

/*
 * Conditions on an event, given as an SQL expression for its number. They hold together for the same rows wherever
 * candidates are counted, listed or taken, so that all of these agree.
 */

/** Whether the event is never sent, to no relay. */
export function isExcluded(ref: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from exclusions where exclusions.event_ref = ${sql.ref(ref)})`;
}

/** Whether the event's expiration has come. */
export function isExpired(ref: string, now: number): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from expirations where expirations.event_ref = ${sql.ref(ref)}
    and expirations.expires_at <= ${now})`;
}

/** Whether it is not known yet if the event may be sent: what is not checked counts as nothing at all. */
export function isUnchecked(ref: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(ref)} in (select unchecked.ref from ${UNCHECKED_EVENTS})`;
}

/** The events that were not checked yet, to be selected from and narrowed further; few, and found by their index. */
export const UNCHECKED_EVENTS = sql`events as unchecked indexed by events_by_sequence
  where unchecked.sequence > (select checked_up_to from eligibility_state)`;

/** Whether the latest delivery of a copy to a relay was refused for a lasting reason. */
export function isRefused(relay: RawBuilder<unknown>, ref: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from deliveries as refused
    where refused.relay_id = ${relay} and refused.event_ref = ${sql.ref(ref)}
      and refused.state = 'rejected' and refused.lasting = 1 and not ${hasLaterDelivery('refused')})`;
}

/** Whether a kind is among those that copies are narrowed to. */
export function isOfKinds(kind: string, kinds: CopyNarrowing['kinds']): RawBuilder<boolean> {
  if (kinds === undefined) return sql<boolean>`true`;
  return sql<boolean>`${sql.ref(kind)} in (select value from json_each(${JSON.stringify(kinds)}))`;
}

/** Whether a second is among those that copies are narrowed to. */
export function isWithin(second: string, { since, until }: CopyNarrowing): RawBuilder<boolean> {
  const from = since === undefined ? sql`true` : sql`${sql.ref(second)} >= ${since}`;
  const to = until === undefined ? sql`true` : sql`${sql.ref(second)} <= ${until}`;
  return sql<boolean>`${from} and ${to}`;
}

/** Whether a relay is one of some. */
export function isAmong(relay: string, relays: readonly { relayId: number }[]): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(relay)} in (select value from json_each(${JSON.stringify(relays.map(({ relayId }) => relayId))}))`;
}
