import { FakeClock } from '../fixtures/fake-clock.ts';
import { indexNextTags, TagIndex } from '../../main/archive/tag-index.ts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { readArchivedEvent, summarizeArchive } from '../../main/archive/event-reader.ts';
import { internEventIds, storeEvents } from '../../main/archive/event-store.ts';
import { indexedTagValue } from '../../main/archive/indexed-tags.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { archive, readAll } from './archive-rig.ts';

describe('archiving', () => {
  test('keeps an event once, however often it comes', async () => {
    const { db } = await openScratchDatabase();
    const [first, second] = [buildEvent(), buildEvent({ content: 'another' })];

    const once = await archive(db, [first, first, second, first], 10);
    const again = await archive(db, [second, first], 20);

    expect(once.newlyArchived.size).toBe(2);
    expect(again.newlyArchived.size).toBe(0);
    expect(again.refs).toEqual(new Map([...once.refs].reverse()));
    expect(await readAll(db)).toHaveLength(2);
    expect((await readArchivedEvent(db, first.id))?.firstSeenAt).toBe(10);
  });

  test('adds a body to an ID that was named before', async () => {
    const { db } = await openScratchDatabase();
    const event = buildEvent();
    const named = await db.transaction().execute((trx) => internEventIds(trx, [event.id]));
    expect(await readArchivedEvent(db, event.id)).toBeNull();

    const { refs, newlyArchived } = await archive(db, [event]);

    expect(refs).toEqual(named);
    expect([...newlyArchived]).toEqual([...named.values()]);
  });

  test('is undone as a whole with the transaction that it belongs to', async () => {
    const { db } = await openScratchDatabase();
    const failing = db.transaction().execute(async (trx) => {
      await storeEvents(trx, [buildEvent({ tags: [['t', 'x']] })], 10);
      throw new Error('the evidence could not be written');
    });

    await expect(failing).rejects.toThrow('evidence');

    for (const table of ['events', 'event_ids', 'event_tags', 'authors'] as const) {
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
    expect(await summarizeArchive(db, alice.pubkey)).toEqual({ events: 0, oldest: null, newest: null });
  });

  test('takes nothing, and more than one insert carries', async () => {
    const { db } = await openScratchDatabase();
    expect(await archive(db, [])).toEqual({ refs: new Map(), newlyArchived: new Set() });

    const { newlyArchived } = await archive(db, buildHistory({ count: 173, from: 1000, to: 9000 }));

    expect(newlyArchived.size).toBe(173);
    expect(await readAll(db)).toHaveLength(173);
  });
});

describe('the summary of an author', () => {
  test('counts and spans that author alone', async () => {
    const { db } = await openScratchDatabase();
    await archive(db, buildHistory({ count: 5, from: 100, to: 500 }));
    await archive(db, [buildEvent({ author: bob, createdAt: 9 })]);

    expect(await summarizeArchive(db, alice.pubkey)).toEqual({ events: 5, oldest: 100, newest: 500 });
    expect(await summarizeArchive(db, bob.pubkey)).toEqual({ events: 1, oldest: 9, newest: 9 });
    expect(await summarizeArchive(db, 'f'.repeat(64))).toEqual({ events: 0, oldest: null, newest: null });
  });
});

describe('the tag index', () => {
  /** IDs of the events whose tag `name` has this value, from the index. */
  async function tagged(db: WritableDatabase, name: string, text: string): Promise<string[]> {
    const { value, isHex } = indexedTagValue(text);
    const { rows } = await sql<{ id: string }>`
      select lower(hex(event_ids.id)) as id from event_tags join event_ids on event_ids.ref = event_tags.event_ref
      where name = ${name} and value = ${isHex ? Buffer.from(value, 'hex') : value} order by id`.execute(db);
    return rows.map(({ id }) => id);
  }

  test('finds events by the first value of their single-letter tags', async () => {
    const { db } = await openScratchDatabase();
    const event = buildEvent({
      tags: [['t', 'fish', 'cat'], ['T', 'upper'], ['word', 'x'], ['1', 'x'], ['d'], [], ['']],
    });
    await archive(db, [event, buildEvent({ tags: [['t', 'Fish']] })]);
    while (await indexNextTags(db));

    expect(await tagged(db, 't', 'fish')).toEqual([event.id]);
    expect(await tagged(db, 'T', 'upper')).toEqual([event.id]);
    expect(await tagged(db, 't', 'cat')).toEqual([]);
    expect(await tagged(db, 't', 'upper')).toEqual([]);
    expect(await db.selectFrom('event_tags').select('name').distinct().orderBy('name').execute()).toEqual([
      { name: 'T' },
      { name: 't' },
    ]);
  });

  test('keeps 64 hex characters as 32 bytes, and everything else as text', async () => {
    const { db } = await openScratchDatabase();
    const lower = buildEvent({ tags: [['p', bob.pubkey]] });
    const upper = buildEvent({ tags: [['p', bob.pubkey.toUpperCase()]] });
    const number = buildEvent({ tags: [['p', '12345678901234567890']] });
    await archive(db, [lower, upper, number]);
    while (await indexNextTags(db));

    expect(await tagged(db, 'p', bob.pubkey)).toEqual([lower.id]);
    expect(await tagged(db, 'p', bob.pubkey.toUpperCase())).toEqual([upper.id]);
    expect(await tagged(db, 'p', '12345678901234567890')).toEqual([number.id]);
    const { rows } = await sql<{ type: string; length: number }>`
      select typeof(value) as type, length(value) as length from event_tags order by length`.execute(db);
    expect(rows).toEqual([
      { type: 'text', length: 20 },
      { type: 'blob', length: 32 },
      { type: 'text', length: 64 },
    ]);
  });

  test('holds a value once per event, and finds values that text columns cannot hold', async () => {
    const { db } = await openScratchDatabase();
    const event = buildEvent({
      tags: [
        ['t', 'a'],
        ['t', 'a', 'again'],
        ['t', 'nul\u0000x'],
        ['t', 'half \ud83d'],
        ['t', 'y'.repeat(600)],
        ['t', ''],
      ],
    });
    await archive(db, [event]);
    while (await indexNextTags(db));

    for (const text of ['a', 'nul\u0000x', 'half \ud83d', 'y'.repeat(600), ''])
      expect(await tagged(db, 't', text)).toEqual([event.id]);
    expect(await db.selectFrom('event_tags').selectAll().execute()).toHaveLength(5);
  });

  test('follows in the order of archiving, in portions, and goes on where it stopped', async () => {
    const { db } = await openScratchDatabase();
    const events = Array.from({ length: 300 }, (_, index) =>
      buildEvent({ createdAt: index, tags: [['t', `n${index}`]] }),
    );
    await archive(db, events);
    expect(await indexNextTags(db)).toBe(true);
    expect(await tagged(db, 't', 'n0')).toEqual([events[0]?.id]);
    expect(await tagged(db, 't', 'n299')).toEqual([]);
    while (await indexNextTags(db));
    expect(await tagged(db, 't', 'n299')).toEqual([events[299]?.id]);
    expect(await db.selectFrom('event_tags').selectAll().execute()).toHaveLength(300);
    expect(await indexNextTags(db)).toBe(false);
  });

  test('is kept close behind by the engine, and can be waited for', async () => {
    const { db } = await openScratchDatabase();
    const clock = new FakeClock();
    const index = new TagIndex(db, clock, () => undefined);
    await archive(db, [buildEvent({ tags: [['t', 'one']] })]);
    index.wake();
    await clock.pass(100);
    await index.caughtUp();
    expect(await tagged(db, 't', 'one')).toHaveLength(1);
    await archive(db, [buildEvent({ tags: [['t', 'two']] })]);
    await index.caughtUp();
    expect(await tagged(db, 't', 'two')).toHaveLength(1);
    await index.close();
  });
});
