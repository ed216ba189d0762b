import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { observePresent } from './observe-presence.ts';
import type { Attempt, Range } from './range-history.ts';

/** A query that returned or named events in a walk. */
export interface Sighting {
  range: Range;
  attempt: Attempt;
  queryId: number;
  observedAtMs: number;
  refs: readonly number[];
}

/**
 * Those of some events that the walk has not found so far. What a NEG session of the walk showed to be on both sides was
 * found, though nothing is written down about it: it gets its evidence now, so that it is not counted a second time.
 */
export async function newToWalk(
  trx: Transaction<Tables>,
  range: Range,
  attempt: Attempt,
  refs: readonly number[],
): Promise<number[]> {
  if (refs.length === 0) return [];
  const list = JSON.stringify(refs);
  if (attempt.strategy === 'negentropy') {
    await sql`insert into evidence (walk_id, event_ref, query_id)
      select ${attempt.walkId}, list.value, (select queries.id from queries
        where queries.walk_id = ${attempt.walkId} and queries.covered_until >= events.created_at
          and events.created_at >= coalesce(queries.covered_from, 0) and queries.compared_up_to >= events.sequence)
        as common_by
      from json_each(${list}) as list
      join events on events.ref = list.value and events.author = (select authors.id from accounts
        join authors on authors.pubkey = unhex(accounts.pubkey) where accounts.id = ${range.accountId})
      where common_by is not null
      on conflict do nothing`.execute(trx);
  }
  const { rows } = await sql<{ event_ref: number }>`select event_ref from evidence where walk_id = ${attempt.walkId}
    and present = 1 and event_ref in (select value from json_each(${list}))`.execute(trx);
  const known = new Set(rows.map((row) => row.event_ref));
  return refs.filter((ref) => !known.has(ref));
}

/**
 * Writes positive evidence, one row for each event of a walk: the query that found it first, and the latest one that
 * showed it again, by completion time. The projection learns of every sighting.
 */
export async function addSightings(trx: Transaction<Tables>, sighting: Sighting): Promise<void> {
  const { range, attempt, queryId, observedAtMs, refs } = sighting;
  if (refs.length === 0) return;
  await sql`insert into evidence (walk_id, event_ref, query_id)
    select ${attempt.walkId}, value, ${queryId} from json_each(${JSON.stringify(refs)}) where true
    on conflict do update set
      latest_query_id = case when (${observedAtMs}, excluded.query_id) > (select completed_at_ms, id from queries
          where id = coalesce(evidence.latest_query_id, evidence.query_id))
        then excluded.query_id else evidence.latest_query_id end,
      query_id = case when evidence.present = 0 then excluded.query_id else evidence.query_id end,
      present = 1`.execute(trx);
  await observePresent(trx, { relayId: range.relayId, queryId, observedAtMs, refs });
}

/**
 * Counts newly archived bodies as fetched in every walk whose relay had named them before, wherever the bodies came from.
 * The latest attempt of a walk tells its counts.
 */
export async function countAsFetched(trx: Transaction<Tables>, refs: readonly number[]): Promise<void> {
  if (refs.length === 0) return;
  const { rows } = await sql<{ walk_id: number; kind: number; found: number }>`
    select evidence.walk_id, events.kind, count(*) as found from json_each(${JSON.stringify(refs)}) as list
    join evidence on evidence.event_ref = list.value and evidence.present = 1
    join events on events.ref = list.value
    group by evidence.walk_id, events.kind`.execute(trx);
  for (const { walk_id: walkId, kind, found } of rows) {
    await addKinds(trx, walkId, [{ kind, found }]);
    await sql`update attempts set fetched = fetched + ${found} where id = (select max(latest.id) from attempts as first
      join attempts as latest on latest.range_id = first.range_id and latest.walk_id = first.id
      where first.id = ${walkId})`.execute(trx);
  }
}

/** Adds to a walk's fetched events by kind. */
export async function addKinds(
  trx: Transaction<Tables>,
  walkId: number,
  kinds: readonly { kind: number; found: number }[],
): Promise<void> {
  if (kinds.length === 0) return;
  await sql`insert into walk_kinds (walk_id, kind, found)
    select ${walkId}, value ->> 0, value ->> 1 from json_each(${JSON.stringify(kinds.map(({ kind, found }) => [kind, found]))}) where true
    on conflict do update set found = found + excluded.found`.execute(trx);
}
