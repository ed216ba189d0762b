import { sql } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';
import {
  isExcluded,
  isExpired,
  isOfKinds,
  isUnchecked,
  isWithin,
  readAuthor,
  readVanishedUntil,
} from './candidate-conditions.ts';
import type { CandidateSubject, DestinationRelay } from './candidate-subject.ts';

/** One bit for each relay; a JavaScript number holds 53. */
const RELAYS_PER_CODE = 50;

/**
 * For each relay of the subject, in its order: how many archived events may be sent there of which nothing conclusive is
 * known. Reads every event of the account once; a second or two for a million events: for a thread.
 */
export async function countUndetermined(db: ReadableDatabase, subject: CandidateSubject): Promise<number[]> {
  const author = await readAuthor(db, subject.account);
  if (author === null) return subject.relays.map(() => 0);
  const counts: number[] = [];
  for (let start = 0; start < subject.relays.length; start += RELAYS_PER_CODE) {
    const relays = subject.relays.slice(start, start + RELAYS_PER_CODE);
    counts.push(...(await countForSome(db, { ...subject, relays }, author)));
  }
  return counts;
}

async function countForSome(db: ReadableDatabase, subject: CandidateSubject, author: number): Promise<number[]> {
  const ref = 'events.ref';
  const { rows } = await sql<{ settled: number; events: number }>`select settled, count(*) as events from (
      select ${await settledOn(db, subject.relays, author)} as settled
      from events
      where events.author = ${author} and ${isOfKinds('events.kind', subject.kinds)}
        and ${isWithin('events.created_at', subject)}
        and not ${isExcluded(ref)} and not ${isExpired(ref, subject.now)} and not ${isUnchecked(ref)})
    group by settled`.execute(db);
  return subject.relays.map((_, place) =>
    rows.reduce((sum, row) => sum + (Math.floor(row.settled / 2 ** place) % 2 === 0 ? row.events : 0), 0),
  );
}

/** Relays on which nothing is to be found out about the current row of `events`, as a number: known there, or vanished. */
async function settledOn(db: ReadableDatabase, relays: readonly DestinationRelay[], author: number) {
  const bits = relays.map(({ relayId }, place) => sql`when ${relayId} then ${2 ** place}`);
  const known = sql`coalesce((select sum(case presence.relay_id ${sql.join(bits, sql` `)} else 0 end)
    from presence indexed by presence_by_event where presence.event_ref = events.ref), 0)`;
  const vanished = [];
  for (const [place, { key }] of relays.entries()) {
    const until = await readVanishedUntil(db, author, key);
    if (until !== null) vanished.push(sql`iif(events.created_at <= ${until}, ${2 ** place}, 0)`);
  }
  return sql<number>`${sql.join([known, ...vanished], sql` | `)}`;
}
