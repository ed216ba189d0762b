import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { coveringQuery } from './observe-presence.ts';
import { ASKS_FOR_EVERYTHING, concludesAbout, LATER_WINS } from './presence-rule.ts';
import type { Range } from './range-history.ts';
import { timeSlices } from './time-slices.ts';

/**
 * Called in the transaction that completes a walk: from now on it is an inventory, so archived events of its scope that
 * it neither returned nor named were missing on the relay, as of the query that covered their second (design §3.3).
 *
 * @returns false, and concludes nothing, when the walk's queries do not cover the whole scope after all.
 */
export async function completeInventory(trx: Transaction<Tables>, range: Range, walkId: number): Promise<boolean> {
  const spans = await coveredSpans(trx, walkId);
  if (!coversWhole(spans, range)) return false;
  await sql`insert into inventories (walk_id, account_id, relay_id, covered_from, covered_until, first_observed_at_ms, last_observed_at_ms)
    select attempts.walk_id, ranges.account_id, ranges.relay_id, ranges.since, ranges.until,
      min(queries.completed_at_ms), max(queries.completed_at_ms) filter (where queries.covered_until is not null)
    from ranges
    join accounts on accounts.id = ranges.account_id
    join attempts on attempts.range_id = ranges.id and attempts.walk_id = ${walkId}
    join queries on queries.attempt_id = attempts.id
    where ranges.id = ${range.id} and ${ASKS_FOR_EVERYTHING} group by attempts.walk_id
    on conflict do nothing`.execute(trx);
  // An older inventory within this one could only say what this one says later, whether for an event or against it.
  await sql`delete from inventories as older where account_id = ${range.accountId} and relay_id = ${range.relayId}
    and covered_until <= ${range.until} and ${range.since === null ? sql`1` : sql`covered_from >= ${range.since}`}
    and last_observed_at_ms < (select first_observed_at_ms from inventories where walk_id = ${walkId})`.execute(trx);
  for await (const slice of timeSlices(trx, range.accountId, range)) {
    await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
      select inventories.relay_id, events.ref, 0, queries.completed_at_ms, queries.id, events.kind, events.author
      from events
      join inventories on inventories.walk_id = ${walkId}
      join queries on queries.id = ${coveringQuery()}
      where events.author = ${slice.author} and events.created_at between ${slice.from} and ${slice.until}
        and ${wasNotSeen()} and ${concludesAbout(sql`inventories.relay_id`, sql`events.kind`)}
      ${LATER_WINS}`.execute(trx);
  }
  return true;
}

/**
 * Whether an inventory did not see an event. A walk by pages saw what it has evidence for. A NEG session also had every
 * body archived up to `compared_up_to` on its side: of those, what it did not call missing was there.
 */
export function wasNotSeen() {
  return sql<boolean>`coalesce((select 1 - evidence.present from evidence
      where evidence.walk_id = inventories.walk_id and evidence.event_ref = events.ref),
    queries.compared_up_to is null or events.sequence > queries.compared_up_to)`;
}

interface Span {
  covered_from: number | null;
  covered_until: number;
  completed_at_ms: number;
}

async function coveredSpans(trx: Transaction<Tables>, walkId: number): Promise<Span[]> {
  const { rows } = await sql<Span>`select covered_from, covered_until, completed_at_ms from queries
    where walk_id = ${walkId} and covered_until is not null order by covered_until desc`.execute(trx);
  return rows;
}

/** Whether the spans leave no second of the scope out. */
function coversWhole(spans: readonly Span[], scope: { since: number | null; until: number }): boolean {
  let missingUntil: number | null = scope.until;
  for (const span of spans) {
    if (missingUntil === null) break;
    if (span.covered_until < missingUntil) return false;
    if (span.covered_from === null) missingUntil = null;
    else missingUntil = Math.min(missingUntil, span.covered_from - 1);
  }
  return missingUntil === null || (scope.since !== null && missingUntil < scope.since);
}
