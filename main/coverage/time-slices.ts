import { setImmediate } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** How many archived events a slice holds, about; more only when they share one second. */
const EVENTS_PER_SLICE = 2000;

/** Part of a scope by time, both ends inclusive, for one author. */
export interface TimeSlice {
  author: number;
  from: number;
  until: number;
}

/**
 * Cuts an account's archived events within a scope into slices that take a few milliseconds each, and lets the main loop
 * go on between them. Works within one transaction, so what is made of the slices is seen whole or not at all.
 *
 * Events from before 1970 are in no slice: a negative number is no time of the protocol, and no relay can be relied on to
 * compare or return such an event.
 */
export async function* timeSlices(
  trx: Transaction<Tables>,
  accountId: number,
  scope: { since: number | null; until: number },
): AsyncGenerator<TimeSlice> {
  const { rows } = await sql<{ author: number }>`select authors.id as author from accounts
    join authors on authors.pubkey = unhex(accounts.pubkey) where accounts.id = ${accountId}`.execute(trx);
  const author = rows[0]?.author;
  if (author === undefined) return;
  let from = Math.max(0, scope.since ?? 0);
  while (from <= scope.until) {
    const next = await sql<{ created_at: number }>`select created_at from events
      where author = ${author} and created_at between ${from} and ${scope.until}
      order by created_at limit 1 offset ${EVENTS_PER_SLICE}`.execute(trx);
    const end = next.rows[0]?.created_at ?? scope.until;
    yield { author, from, until: end };
    from = end + 1;
    await setImmediate();
  }
}
