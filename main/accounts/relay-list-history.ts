import type { PublishedRelayList } from '../../preload/contract.ts';
import { readRelayListEvents } from '../archive/event-reader.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { isNewerVersion, readRelayList } from './relay-list.ts';

/**
 * All archived versions of an account's relay list (NIP-65), wherever they were found, newest first by NIP-01: the first
 * one is the published list.
 *
 * @param pubkey 64 hex characters.
 */
export async function readRelayLists(db: ReadableDatabase, pubkey: string): Promise<PublishedRelayList[]> {
  const versions = await readRelayListEvents(db, pubkey);
  return versions
    .sort((a, b) => (isNewerVersion(a.event, b.event) ? -1 : 1))
    .map(({ event, firstSeenAt }) => ({
      eventId: event.id,
      createdAt: event.created_at,
      seenAt: firstSeenAt,
      relays: readRelayList(event),
    }));
}
