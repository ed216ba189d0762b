import { storeEvents } from '../archive/event-store.ts';
import { eventFromColumns } from '../archive/event-columns.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { PublishedRelayList, SignedEvent } from '../../preload/contract.ts';
import { isNewerVersion, readRelayList } from './relay-list.ts';

/** Archives relay lists that were found and keeps them as versions of the account's published list. */
export async function keepRelayLists(
  db: WritableDatabase,
  accountId: number,
  events: readonly SignedEvent[],
  seenAt: number,
): Promise<void> {
  if (events.length === 0) return;
  await db.transaction().execute(async (trx) => {
    const { refs } = await storeEvents(trx, events, seenAt);
    for (const ref of refs.values()) {
      await trx
        .insertInto('nip65_versions')
        .values({ account_id: accountId, event_ref: ref, seen_at: seenAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}

/** All versions that were found, newest first by NIP-01: the first one is the published list. */
export async function readRelayLists(db: ReadableDatabase, accountId: number): Promise<PublishedRelayList[]> {
  const rows = await db
    .selectFrom('nip65_versions')
    .innerJoin('events', 'events.ref', 'nip65_versions.event_ref')
    .innerJoin('event_ids', 'event_ids.ref', 'events.ref')
    .innerJoin('authors', 'authors.id', 'events.author')
    .select([
      'nip65_versions.seen_at',
      'event_ids.id',
      'authors.pubkey',
      'events.created_at',
      'events.kind',
      'events.tags',
      'events.content',
      'events.sig',
    ])
    .where('account_id', '=', accountId)
    .execute();
  return rows
    .map((row) => ({ event: eventFromColumns(row), seenAt: row.seen_at }))
    .sort((a, b) => (isNewerVersion(a.event, b.event) ? -1 : 1))
    .map(({ event, seenAt }) => ({
      eventId: event.id,
      createdAt: event.created_at,
      seenAt,
      relays: readRelayList(event),
    }));
}
