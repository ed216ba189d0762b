import { setImmediate } from 'node:timers/promises';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { coveringQuery } from './observe-presence.ts';
import { wasNotSeen } from './complete-inventory.ts';
import { ASKS_FOR_EVERYTHING, concludesAbout, LATER_WINS } from './presence-rule.ts';

/**
 * Computes the projection again from the evidence alone (design §3): inventories from completed walks, then every
 * positive (sightings of the first version among them), then what inventories did not see. The result is the same as the one kept up to date, which a property
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
  await restorePositives(
    trx,
    () => sql`1`,
    () => sql`1`,
  );
  await restoreAbsences(trx);
}

/** Absent rows looked at again in one go: a few milliseconds. */
const REFS_PER_SLICE = 500;

/**
 * Takes back what was concluded from the absence of a kind on a relay, after it turned out that the relay hides it. Only
 * what was called absent can change: it becomes what positive evidence says, or undetermined. Works in slices within
 * the transaction, so that the main loop goes on.
 */
export async function takeBackAbsences(trx: Transaction<Tables>, relayId: number, kind: number): Promise<void> {
  const { rows } = await sql<{ event_ref: number }>`select event_ref from presence
    where relay_id = ${relayId} and kind = ${kind} and present = 0`.execute(trx);
  for (let start = 0; start < rows.length; start += REFS_PER_SLICE) {
    const refs = JSON.stringify(rows.slice(start, start + REFS_PER_SLICE).map((row) => row.event_ref));
    const among = (ref: string) => sql`${sql.ref(ref)} in (select value from json_each(${refs}))`;
    await sql`delete from presence where relay_id = ${relayId} and ${among('event_ref')}`.execute(trx);
    await restorePositives(trx, (relay) => sql`${sql.ref(relay)} = ${relayId}`, among);
    await setImmediate();
  }
}

async function restorePositives(
  trx: Transaction<Tables>,
  ofRelay: (relay: string) => RawBuilder<unknown>,
  among: (ref: string) => RawBuilder<unknown>,
): Promise<void> {
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select ranges.relay_id, evidence.event_ref, 1, queries.completed_at_ms, queries.id, events.kind
    from evidence
    join queries on queries.id = coalesce(evidence.latest_query_id, evidence.query_id)
    join attempts on attempts.id = queries.attempt_id
    join ranges on ranges.id = attempts.range_id
    left join events on events.ref = evidence.event_ref
    where evidence.present = 1 and ${ofRelay('ranges.relay_id')} and ${among('evidence.event_ref')} ${LATER_WINS}`.execute(
    trx,
  );
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select ranges.relay_id, events.ref, 1, queries.completed_at_ms, queries.id, events.kind
    from queries
    join attempts on attempts.id = queries.attempt_id
    join ranges on ranges.id = attempts.range_id
    join accounts on accounts.id = ranges.account_id
    join authors on authors.pubkey = unhex(accounts.pubkey)
    join events on events.author = authors.id and events.created_at >= coalesce(queries.covered_from, 0)
      and events.created_at <= queries.covered_until and events.sequence <= queries.compared_up_to
    where queries.type = 'NEG' and queries.covered_until is not null and ${ofRelay('ranges.relay_id')} and ${among('events.ref')}
      and not exists (select 1 from evidence where evidence.walk_id = queries.walk_id
        and evidence.event_ref = events.ref)
    ${LATER_WINS}`.execute(trx);
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select legacy_sightings.relay_id, legacy_sightings.event_ref, 1, legacy_sightings.observed_at * 1000, null, events.kind
    from legacy_sightings
    left join events on events.ref = legacy_sightings.event_ref
    where ${ofRelay('legacy_sightings.relay_id')} and ${among('legacy_sightings.event_ref')} ${LATER_WINS}`.execute(
    trx,
  );
}

async function restoreAbsences(trx: Transaction<Tables>): Promise<void> {
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
    select inventories.relay_id, events.ref, 0, queries.completed_at_ms, queries.id, events.kind, events.author
    from inventories
    join ranges on ranges.id = (select range_id from attempts where attempts.id = inventories.walk_id)
    join accounts on accounts.id = inventories.account_id
    join authors on authors.pubkey = unhex(accounts.pubkey)
    join events on events.author = authors.id and events.created_at <= inventories.covered_until
      and events.created_at >= coalesce(inventories.covered_from, 0)
    join queries on queries.id = ${coveringQuery()}
    where ${wasNotSeen()}
      and ${concludesAbout(sql`inventories.relay_id`, sql`events.kind`)}
    ${LATER_WINS}`.execute(trx);
}
