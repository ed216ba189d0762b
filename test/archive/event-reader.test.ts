import { expect, test } from 'vitest';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent, buildHistory, saturatedSecond } from '../relays/event-builder.ts';
import { archive, inOrder, readAll } from './archive-rig.ts';

test('events are read by time, then ID, across pages, also when many share a second', async () => {
  const { db } = await openScratchDatabase();
  const events = [
    ...buildHistory({ count: 450, from: 1000, to: 9000, perSecond: 3 }),
    ...saturatedSecond(5000, 1100),
    ...buildHistory({ count: 30, from: 9001, to: 9002, perSecond: 15 }),
  ];
  // Archived newest first, so that the order of arrival is of no help.
  for (let end = events.length; end > 0; end -= 400)
    await archive(db, events.slice(Math.max(0, end - 400), end).reverse());

  const read = await readAll(db);

  expect(read.map(({ id }) => id)).toEqual(
    inOrder([...new Map(events.map((event) => [event.id, event])).values()]).map(({ id }) => id),
  );
});

test.each([499, 500, 501, 1000])('%d events are read whole', async (count) => {
  const { db } = await openScratchDatabase();
  await archive(db, buildHistory({ count, from: 1, to: 100_000 }));

  expect(await readAll(db)).toHaveLength(count);
});

test('reading is narrowed by author, kinds and inclusive bounds, together', async () => {
  const { db } = await openScratchDatabase();
  const events = [
    ...buildHistory({ count: 20, from: 100, to: 119, kinds: [1, 7] }),
    ...buildHistory({ author: bob, count: 20, from: 100, to: 119, kinds: [1, 7, 30_023] }),
    buildEvent({ createdAt: -5 }),
  ];
  await archive(db, events);
  const expected = (keep: (event: (typeof events)[number]) => boolean): string[] =>
    inOrder(events.filter(keep)).map(({ id }) => id);
  const read = async (selection: Parameters<typeof readAll>[1]): Promise<string[]> =>
    (await readAll(db, selection)).map(({ id }) => id);

  expect(await read({})).toEqual(expected(() => true));
  expect(await read({ author: alice.pubkey })).toEqual(expected(({ pubkey }) => pubkey === alice.pubkey));
  expect(await read({ kinds: [7, 30_023] })).toEqual(expected(({ kind }) => kind !== 1));
  expect(await read({ since: 105, until: 105 })).toEqual(expected(({ created_at: at }) => at === 105));
  expect(await read({ since: 0 })).toEqual(expected(({ created_at: at }) => at >= 0));
  expect(await read({ author: bob.pubkey, kinds: [1], since: 103, until: 110 })).toEqual(
    expected(({ pubkey, kind, created_at: at }) => pubkey === bob.pubkey && kind === 1 && at >= 103 && at <= 110),
  );
  expect(await read({ author: 'f'.repeat(64) })).toEqual([]);
  expect(await read({ kinds: [] })).toEqual([]);
});

test('a reader that stops early leaves nothing open', async () => {
  const { db } = await openScratchDatabase();
  await archive(db, buildHistory({ count: 600, from: 1, to: 600 }));
  const { readArchive } = await import('../../main/archive/event-reader.ts');

  for await (const event of readArchive(db, {})) if (event.created_at > 0) break;

  await archive(db, [buildEvent()]);
});
