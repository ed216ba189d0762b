import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { concludesAbout, LATER_WINS } from './presence-rule.ts';

/** Notes in the projection that a query returned or named these events on a relay. */
export async function observePresent(
  trx: Transaction<Tables>,
  observation: { relayId: number; queryId: number; observedAtMs: number; refs: readonly number[] },
): Promise<void> {
  if (observation.refs.length === 0) return;
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select ${observation.relayId}, value, 1, ${observation.observedAtMs}, ${observation.queryId},
      (select kind from events where events.ref = value)
    from json_each(${JSON.stringify(observation.refs)}) where true ${LATER_WINS}`.execute(trx);
}

/**
 * Compares newly archived bodies at once with the inventories that cover them (design §3, Projection): a walk that
 * finished without returning one of them showed that the relay lacked it then.
 *
 * Runs in the transaction that archives them, before that transaction adds its own positive evidence.
 */
export async function compareNewlyArchived(trx: Transaction<Tables>, refs: readonly number[]): Promise<void> {
  if (refs.length === 0) return;
  const list = JSON.stringify(refs);
  await sql`update presence set kind = (select kind from events where events.ref = presence.event_ref)
    where kind is null and event_ref in (select value from json_each(${list}))`.execute(trx);
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
    select inventories.relay_id, events.ref, 0, queries.completed_at_ms, queries.id, events.kind, events.author
    from json_each(${list}) as list
    join events on events.ref = list.value
    join authors on authors.id = events.author
    join accounts on accounts.pubkey = lower(hex(authors.pubkey))
    join inventories on inventories.account_id = accounts.id and inventories.covered_until >= events.created_at
      and coalesce(inventories.covered_from, 0) <= events.created_at
    join queries on queries.id = ${coveringQuery()}
    where not exists (select 1 from evidence where evidence.walk_id = inventories.walk_id
      and evidence.event_ref = events.ref and evidence.present = 1)
      and ${concludesAbout(sql`inventories.relay_id`, sql`events.kind`)}
    ${LATER_WINS}`.execute(trx);
}

/**
 * The query of an inventory's walk that covered an event's second: the one that began nearest above it, of several the
 * last. In two steps, because SQLite would sort all that began above it for an order by two columns, which for a walk
 * of many pages takes longer the further down the event lies.
 */
export function coveringQuery() {
  const covers = (query: string) => sql`${sql.ref(`${query}.walk_id`)} = inventories.walk_id
    and (${sql.ref(`${query}.covered_from`)} is null or ${sql.ref(`${query}.covered_from`)} <= events.created_at)`;
  return sql<number>`(select max(cover.id) from queries as cover
    where ${covers('cover')} and cover.covered_until = (select nearest.covered_until from queries as nearest
      where ${covers('nearest')} and nearest.covered_until >= events.created_at order by nearest.covered_until limit 1))`;
}
