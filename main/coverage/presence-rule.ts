import { sql, type RawBuilder } from 'kysely';

/**
 * Later evidence about the same relay and event wins, by the completion time of its query (design §3.6). Of two at the
 * same millisecond the positive one wins, then the later query, so that the outcome does not depend on the order of
 * writing. A sighting of the first version has no query, and counts as earlier than any.
 */
export const LATER_WINS: RawBuilder<unknown> = sql`on conflict do update set
  present = excluded.present, observed_at_ms = excluded.observed_at_ms, query_id = excluded.query_id,
  kind = coalesce(excluded.kind, kind), author = excluded.author
  where (excluded.observed_at_ms, excluded.present, coalesce(excluded.query_id, 0))
    > (observed_at_ms, presence.present, coalesce(presence.query_id, 0))`;

/**
 * Kinds that relays leave out of answers to readers who have not authenticated: direct messages and gift wraps by the
 * default of a common relay, and every kind that this relay refused when it was asked for alone (design §3.3). What
 * is missing of them says nothing.
 *
 * @param relay an SQL expression for the relay's number.
 * @param kind an SQL expression for the kind.
 */
export function concludesAbout(relay: RawBuilder<unknown>, kind: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${kind} not in (4, 1059) and not exists (
    select 1 from kind_probes where kind_probes.relay_id = ${relay} and kind_probes.kind = ${kind} and kind_probes.refused = 1))`;
}

/**
 * Whether a range's filter asks for all that the account signed: an inventory of less says nothing about the rest. Windows
 * of the first version are never an inventory, because a short answer proves nothing.
 */
export const ASKS_FOR_EVERYTHING: RawBuilder<boolean> = sql<boolean>`(ranges.checkpoint_id is null
  and ranges.filter = json_object('authors', json_array(accounts.pubkey)))`;
