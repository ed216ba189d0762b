import { expect, test } from 'vitest';
import { readRelayLists } from '../../main/accounts/relay-list-history.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { archive } from '../archive/archive-rig.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';

function list(createdAt: number, url: string): SignedEvent {
  return buildEvent({ kind: 10_002, createdAt, tags: [['r', url]] });
}

test('every version is kept, newest first, of one second the lower ID first', async () => {
  const { db } = await openScratchDatabase();
  const tied = [list(2000, 'wss://a.example'), list(2000, 'wss://b.example')].sort((a, b) => (a.id < b.id ? -1 : 1));
  const [old, newest] = [list(1000, 'wss://old.example'), list(3000, 'wss://new.example')];

  await archive(db, [...tied.toReversed(), newest, buildEvent({ createdAt: 9000 })], 10);
  await archive(db, [old, newest], 20);

  const versions = await readRelayLists(db, alice.pubkey);
  expect(versions.map(({ eventId }) => eventId)).toEqual([newest, ...tied, old].map((event) => event.id));
  expect(versions[0]).toEqual({
    eventId: newest.id,
    createdAt: 3000,
    seenAt: 10,
    relays: [{ url: 'wss://new.example', read: true, write: true, extra: false }],
  });
  expect(await readRelayLists(db, bob.pubkey)).toEqual([]);
});
