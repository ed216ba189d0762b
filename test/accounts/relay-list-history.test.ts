import { expect, test } from 'vitest';
import { addAccount } from '../../main/accounts/account-store.ts';
import { keepRelayLists, readRelayLists } from '../../main/accounts/relay-list-history.ts';
import { readArchivedEvent } from '../../main/archive/event-reader.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';

function list(createdAt: number, url: string) {
  return buildEvent({ kind: 10_002, createdAt, tags: [['r', url]] });
}

test('every version is kept and archived, newest first, of one second the lower ID first', async () => {
  const { db } = await openScratchDatabase();
  const { id } = await addAccount(db, { pubkey: alice.pubkey, label: null, relays: [], createdAt: 0 });
  const other = await addAccount(db, { pubkey: bob.pubkey, label: null, relays: [], createdAt: 0 });
  const tied = [list(2000, 'wss://a.example'), list(2000, 'wss://b.example')].sort((a, b) => (a.id < b.id ? -1 : 1));
  const [old, newest] = [list(1000, 'wss://old.example'), list(3000, 'wss://new.example')];

  await keepRelayLists(db, id, [...tied.toReversed(), newest], 10);
  await keepRelayLists(db, id, [old, newest], 20);
  await keepRelayLists(db, id, [], 30);

  const versions = await readRelayLists(db, id);
  expect(versions.map(({ eventId }) => eventId)).toEqual([newest, ...tied, old].map((event) => event.id));
  expect(versions[0]).toEqual({
    eventId: newest.id,
    createdAt: 3000,
    seenAt: 10,
    relays: [{ url: 'wss://new.example', read: true, write: true, extra: false }],
  });
  expect((await readArchivedEvent(db, old.id))?.event).toEqual(old);
  expect(await readRelayLists(db, other.id)).toEqual([]);
});
