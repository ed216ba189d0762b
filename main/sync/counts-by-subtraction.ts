import { sql } from 'kysely';
import { hasLaterDelivery } from '../coverage/passing-refusals.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import {
  isAmong,
  isExcluded,
  isExpired,
  isOfKinds,
  isRefused,
  isUnchecked,
  UNCHECKED_EVENTS,
} from './candidate-conditions.ts';
import type { CandidateSubject } from './candidate-subject.ts';
import { addKindCount, byReason, type CopyCounts, type KindCount } from './copy-counts.ts';

/**
 * Counts candidates without a look at each of them: all that is missing, from an index that has it by relay and kind, less what
 * is not sent, which is little. That takes neither the time of an event nor a request to vanish into account.
 *
 * @param author the account's number in the archive.
 */
export async function countBySubtraction(
  db: ReadableDatabase,
  subject: CandidateSubject,
  author: number,
): Promise<CopyCounts> {
  const candidates = await countMissing(db, subject, author);
  const removed = await countRemoved(db, subject, author);
  const refused = await countRefused(db, subject, author);
  for (const { relay, kind, copies } of [...removed, ...refused]) {
    const kinds = candidates.get(relay);
    const known = kinds?.get(kind);
    if (kinds === undefined || known === undefined) continue;
    kinds.set(kind, { ...known, count: known.count - copies });
  }
  await findOldest(db, subject, author, { candidates, changed: [...removed, ...refused] });
  const refusedByRelay: CopyCounts['refused'] = new Map();
  for (const { relay, kind, copies, observed_at_ms: observedAtMs } of refused) {
    addKindCount(refusedByRelay, relay, kind, { count: copies, observedAtMs });
  }
  return { candidates, refused: refusedByRelay, excluded: await countExcludedEvents(db, subject, author) };
}

interface CopiesOfKind {
  relay: number;
  kind: number;
  copies: number;
}

async function countMissing(
  db: ReadableDatabase,
  { relays, kinds }: CandidateSubject,
  author: number,
): Promise<CopyCounts['candidates']> {
  const missing: CopyCounts['candidates'] = new Map();
  for (const { relayId } of relays) {
    const { rows } = await sql<{ kind: number; copies: number; observed_at_ms: number }>`
      select kind, count(*) as copies, min(observed_at_ms) as observed_at_ms
      from presence indexed by presence_absent
      where relay_id = ${relayId} and present = 0 and author = ${author} and ${isOfKinds('kind', kinds)}
      group by kind`.execute(db);
    const counts = rows.map((row): [number, KindCount] => [
      row.kind,
      { count: row.copies, observedAtMs: row.observed_at_ms },
    ]);
    if (counts.length > 0) missing.set(relayId, new Map(counts));
  }
  return missing;
}

/** Events that are sent to no relay, with the first reason; those that are not checked yet are among them. */
function removedEvents({ kinds, now }: CandidateSubject, author: number) {
  return sql`(
    select event_ref, kind, reason from exclusions where author = ${author} and ${isOfKinds('kind', kinds)}
    union all
    select event_ref, kind, 'expired' from expirations
      where author = ${author} and expires_at <= ${now} and ${isOfKinds('kind', kinds)}
        and not ${isExcluded('expirations.event_ref')}
    union all
    select unchecked.ref, unchecked.kind, 'unchecked' from ${UNCHECKED_EVENTS}
      and unchecked.author = ${author} and ${isOfKinds('unchecked.kind', kinds)}
      and not ${isExcluded('unchecked.ref')} and not ${isExpired('unchecked.ref', now)})`;
}

async function countRemoved(db: ReadableDatabase, subject: CandidateSubject, author: number): Promise<CopiesOfKind[]> {
  const { rows } = await sql<CopiesOfKind>`select presence.relay_id as relay, removed.kind, count(*) as copies
    from ${removedEvents(subject, author)} as removed
    cross join presence indexed by presence_absent_by_event
      on presence.event_ref = removed.event_ref and presence.present = 0
    where ${isAmong('presence.relay_id', subject.relays)}
    group by presence.relay_id, removed.kind`.execute(db);
  return rows;
}

async function countExcludedEvents(
  db: ReadableDatabase,
  subject: CandidateSubject,
  author: number,
): Promise<CopyCounts['excluded']> {
  const { rows } = await sql<{ reason: string; events: number }>`select removed.reason, count(*) as events
    from ${removedEvents(subject, author)} as removed
    where exists (select 1 from presence indexed by presence_absent_by_event
      where presence.event_ref = removed.event_ref and presence.present = 0
        and ${isAmong('presence.relay_id', subject.relays)})
    group by removed.reason`.execute(db);
  return byReason(rows);
}

async function countRefused(
  db: ReadableDatabase,
  { relays, kinds, now }: CandidateSubject,
  author: number,
): Promise<(CopiesOfKind & { observed_at_ms: number })[]> {
  const ref = 'refused.event_ref';
  const { rows } = await sql<CopiesOfKind & { observed_at_ms: number }>`
    select refused.relay_id as relay, refused.kind, count(*) as copies, min(presence.observed_at_ms) as observed_at_ms
    from deliveries as refused indexed by deliveries_refused
    cross join presence on presence.relay_id = refused.relay_id and presence.event_ref = refused.event_ref
    where refused.state = 'rejected' and refused.lasting = 1 and ${isAmong('refused.relay_id', relays)}
      and presence.present = 0 and presence.author = ${author} and ${isOfKinds('refused.kind', kinds)}
      and not ${hasLaterDelivery('refused')}
      and not ${isExcluded(ref)} and not ${isExpired(ref, now)} and not ${isUnchecked(ref)}
    group by refused.relay_id, refused.kind`.execute(db);
  return rows;
}

/** Where something was taken away, the oldest observation may have gone with it. */
async function findOldest(
  db: ReadableDatabase,
  { now }: CandidateSubject,
  author: number,
  { candidates, changed }: { candidates: CopyCounts['candidates']; changed: readonly CopiesOfKind[] },
): Promise<void> {
  const ref = 'presence.event_ref';
  const found = new Set<string>();
  for (const { relay, kind } of changed) {
    const kinds = candidates.get(relay);
    const known = kinds?.get(kind);
    if (kinds === undefined || known === undefined || found.has(`${relay}:${kind}`)) continue;
    found.add(`${relay}:${kind}`);
    if (known.count === 0) {
      kinds.delete(kind);
      if (kinds.size === 0) candidates.delete(relay);
      continue;
    }
    const { rows } = await sql<{ observed_at_ms: number }>`select observed_at_ms
      from presence indexed by presence_absent
      where relay_id = ${relay} and present = 0 and author = ${author} and kind = ${kind}
        and not ${isExcluded(ref)} and not ${isExpired(ref, now)} and not ${isUnchecked(ref)}
        and not ${isRefused(sql`presence.relay_id`, ref)}
      order by observed_at_ms limit 1`.execute(db);
    kinds.set(kind, { ...known, observedAtMs: rows[0]?.observed_at_ms ?? known.observedAtMs });
  }
}
