import { sql } from 'kysely';
import { eventFromColumns } from '../archive/event-columns.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { PublishedRelayList } from '../../preload/contract.ts';
import { isNewerVersion, readRelayList } from './relay-list.ts';

/**
 * All archived versions of an account's relay list (NIP-65), wherever they were found, newest first by NIP-01: the first
 * one is the published list.
 *
 * @param pubkey 64 hex characters.
 */
export async function readRelayLists(db: ReadableDatabase, pubkey: string): Promise<PublishedRelayList[]> {
  const rows = await db
    .selectFrom('events')
    .innerJoin('event_ids', 'event_ids.ref', 'events.ref')
    .innerJoin('authors', 'authors.id', 'events.author')
    .select([
      'events.first_seen_at',
      'event_ids.id',
      'authors.pubkey',
      'events.created_at',
      'events.kind',
      'events.tags',
      'events.content',
      'events.sig',
    ])
    .where('authors.pubkey', '=', Buffer.from(pubkey, 'hex'))
    // The kind stands in the text, so that the index of relay lists serves the query.
    .where(sql<boolean>`events.kind = 10002`)
    .execute();
  return rows
    .map((row) => ({ event: eventFromColumns(row), seenAt: row.first_seen_at }))
    .sort((a, b) => (isNewerVersion(a.event, b.event) ? -1 : 1))
    .map(({ event, seenAt }) => ({
      eventId: event.id,
      createdAt: event.created_at,
      seenAt,
      relays: readRelayList(event),
    }));
}
