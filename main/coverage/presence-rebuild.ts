import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { coveringQuery } from './observe-presence.ts';
import { wasNotSeen } from './complete-inventory.ts';
import { ASKS_FOR_EVERYTHING, concludesAbout, LATER_WINS } from './presence-rule.ts';

/**
 * Computes the projection again from the evidence alone (design §3): inventories from completed walks, then every
 * positive, then what inventories did not see. The result is the same as the one kept up to date, which a property
 * test proves; so a projection in doubt can be thrown away at any time.
 */
export async function rebuildPresence(trx: Transaction<Tables>): Promise<void> {
  await sql`delete from presence`.execute(trx);
  await sql`delete from inventories`.execute(trx);
  await sql`insert into inventories (walk_id, account_id, relay_id, covered_from, covered_until, first_observed_at_ms, last_observed_at_ms)
    select attempts.walk_id, ranges.account_id, ranges.relay_id, ranges.since, ranges.until,
      min(queries.completed_at_ms), max(queries.completed_at_ms) filter (where queries.covered_until is not null)
    from attempts
    join ranges on ranges.id = attempts.range_id
    join queries on queries.walk_id = attempts.walk_id
    join accounts on accounts.id = ranges.account_id
    where attempts.status = 'complete' and ${ASKS_FOR_EVERYTHING}
    group by attempts.walk_id`.execute(trx);
  await rebuildFor(trx, sql`1`, sql`1`);
}

/** Computes the projection of one kind on one relay again, after a probe showed that the relay hides that kind. */
export async function rebuildPresenceOfKind(trx: Transaction<Tables>, relayId: number, kind: number): Promise<void> {
  await sql`delete from presence where relay_id = ${relayId} and kind = ${kind}`.execute(trx);
  await rebuildFor(trx, sql`ranges.relay_id = ${relayId}`, sql`events.kind = ${kind}`);
}

async function rebuildFor(
  trx: Transaction<Tables>,
  ofRelay: ReturnType<typeof sql>,
  ofEvent: ReturnType<typeof sql>,
): Promise<void> {
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select ranges.relay_id, evidence.event_ref, 1, queries.completed_at_ms, queries.id, events.kind
    from evidence
    join queries on queries.id = coalesce(evidence.latest_query_id, evidence.query_id)
    join attempts on attempts.id = queries.attempt_id
    join ranges on ranges.id = attempts.range_id
    left join events on events.ref = evidence.event_ref
    where evidence.present = 1 and ${ofRelay} and ${ofEvent} ${LATER_WINS}`.execute(trx);
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select ranges.relay_id, events.ref, 1, queries.completed_at_ms, queries.id, events.kind
    from queries
    join attempts on attempts.id = queries.attempt_id
    join ranges on ranges.id = attempts.range_id
    join accounts on accounts.id = ranges.account_id
    join authors on authors.pubkey = unhex(accounts.pubkey)
    join events on events.author = authors.id and events.created_at >= coalesce(queries.covered_from, 0)
      and events.created_at <= queries.covered_until and events.sequence <= queries.compared_up_to
    where queries.type = 'NEG' and queries.covered_until is not null and ${ofRelay} and ${ofEvent}
      and not exists (select 1 from evidence where evidence.walk_id = queries.walk_id
        and evidence.event_ref = events.ref)
    ${LATER_WINS}`.execute(trx);
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
    select inventories.relay_id, events.ref, 0, queries.completed_at_ms, queries.id, events.kind, events.author
    from inventories
    join ranges on ranges.id = (select range_id from attempts where attempts.id = inventories.walk_id)
    join accounts on accounts.id = inventories.account_id
    join authors on authors.pubkey = unhex(accounts.pubkey)
    join events on events.author = authors.id and events.created_at <= inventories.covered_until
      and events.created_at >= coalesce(inventories.covered_from, 0)
    join queries on queries.id = ${coveringQuery()}
    where ${ofRelay} and ${ofEvent} and ${wasNotSeen()}
      and ${concludesAbout(sql`inventories.relay_id`, sql`events.kind`)}
    ${LATER_WINS}`.execute(trx);
}
