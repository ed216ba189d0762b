import { sql } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';
import { isAmong, isOfKinds, isRefused, isUnchecked, isWithin } from './candidate-conditions.ts';
import type { CandidateSubject } from './candidate-subject.ts';
import { addKindCount, byReason, type CopyCounts } from './copy-counts.ts';

interface Row {
  relay_id: number | null;
  kind: number | null;
  fate: string | null;
  copies: number;
  observed_at_ms: number | null;
}

/**
 * Counts candidates by a look at every event of the author within the time asked for; about half a second for a million.
 *
 * @param author the account's number in the archive.
 * @param vanishedUntil by relay: up to which second everything vanished from it (Unix seconds).
 */
export async function countOneByOne(
  db: ReadableDatabase,
  subject: CandidateSubject,
  author: number,
  vanishedUntil: ReadonlyMap<number, number>,
): Promise<CopyCounts> {
  // The number of a relay stands in the place of what is counted, so that both sums come from one reading.
  const { rows } = await sql<Row>`with missing as materialized (
      select presence.relay_id, presence.event_ref, presence.kind, presence.observed_at_ms, case
          when exclusions.reason is not null then exclusions.reason
          when expirations.expires_at <= ${subject.now} then 'expired'
          when events.created_at <= ${vanishingOf(vanishedUntil)} then 'vanished'
          when ${isUnchecked('events.ref')} then 'unchecked'
          when ${isRefused(sql`presence.relay_id`, 'presence.event_ref')} then 'refused'
        end as fate
      from events indexed by events_by_author_and_time
      cross join presence indexed by presence_absent_by_event
        on presence.event_ref = events.ref and presence.present = 0
      left join exclusions on exclusions.event_ref = events.ref
      left join expirations on expirations.event_ref = events.ref
      where events.author = ${author} and ${isWithin('events.created_at', subject)}
        and ${isAmong('presence.relay_id', subject.relays)} and ${isOfKinds('presence.kind', subject.kinds)})
    select relay_id, kind, fate, count(*) as copies, min(observed_at_ms) as observed_at_ms
      from missing where fate is null or fate = 'refused' group by relay_id, kind, fate
    union all
    select null, null, fate, count(distinct event_ref), null from missing where fate is not null group by fate`.execute(
    db,
  );
  const counts: CopyCounts = { candidates: new Map(), refused: new Map(), excluded: new Map() };
  for (const { relay_id: relay, kind, fate, copies, observed_at_ms: observedAtMs } of rows) {
    if (relay === null || kind === null || observedAtMs === null) continue;
    const counted = { count: copies, observedAtMs };
    addKindCount(fate === 'refused' ? counts.refused : counts.candidates, relay, kind, counted);
  }
  const events = rows.filter((row) => row.relay_id === null);
  return { ...counts, excluded: byReason(events.map(({ fate, copies }) => ({ reason: fate, events: copies }))) };
}

/** The second up to which everything vanished from the row's relay, as SQL; null where nothing did. */
function vanishingOf(vanishedUntil: ReadonlyMap<number, number>) {
  if (vanishedUntil.size === 0) return sql`null`;
  const whens = [...vanishedUntil].map(([relay, until]) => sql`when ${relay} then ${until}`);
  return sql`case presence.relay_id ${sql.join(whens, sql` `)} end`;
}
