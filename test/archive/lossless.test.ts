import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readArchivedEvent, summarizeArchive } from '../../main/archive/event-reader.ts';
import { importJsonl } from '../../main/archive/jsonl-import.ts';
import { computeEventId } from '../../main/nostr/event-id.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import { archive, inOrder, readAll } from './archive-rig.ts';
import { anyEvent, HARD_TEXTS, signLong } from './event-texts.ts';

test.each(HARD_TEXTS.map((text) => [JSON.stringify(text), text]))(
  'the text %s comes back with its ID',
  async (_, text) => {
    const { db } = await openScratchDatabase();
    const event = buildEvent({ content: text, tags: [['t', text], [text], [text, text, text]] });

    await archive(db, [event]);

    const found = await readArchivedEvent(db, event.id);
    expect(found?.event).toEqual(event);
    expect(JSON.stringify(found?.event)).toBe(JSON.stringify(event));
  },
);

test.each<[string, Partial<SignedEvent>]>([
  ['no tags', { tags: [] }],
  ['empty tags', { tags: [[], [], ['']] }],
  ['a tag of many elements', { tags: [['x', ...Array.from({ length: 2000 }, (_, index) => `element ${index}`)]] }],
  ['many tags', { tags: Array.from({ length: 3000 }, (_, index) => ['p', String(index)]) }],
  ['the largest kind', { kind: 65_535 }],
  ['a time before 1970', { created_at: -1_700_000_000 }],
  ['a time in milliseconds', { created_at: 1_700_000_000_123 }],
  ['the largest time', { created_at: Number.MAX_SAFE_INTEGER }],
  ['the smallest time', { created_at: Number.MIN_SAFE_INTEGER }],
])('an event with %s comes back with its ID', async (_, { tags, kind, created_at: createdAt, content }) => {
  const { db } = await openScratchDatabase();
  const event = buildEvent(JSON.parse(JSON.stringify({ tags, kind, createdAt, content })) as object);

  await archive(db, [event]);

  expect((await readArchivedEvent(db, event.id))?.event).toEqual(event);
});

test('an event of millions of characters comes back with its ID', async () => {
  const { db } = await openScratchDatabase();
  const event = signLong({ content: 'long \u0000 text 🐟 \ud83d'.repeat(200_000) });

  await archive(db, [event]);

  expect(JSON.stringify((await readArchivedEvent(db, event.id))?.event) === JSON.stringify(event)).toBe(true);
});

test('whatever is validly signed comes back field for field, with the ID that it computes to', async () => {
  const { db } = await openScratchDatabase();
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 8 }), async (events) => {
      const { refs } = await archive(db, events);
      expect(refs.size).toBe(new Set(events.map(({ id }) => id)).size);
      for (const event of events) {
        const found = await readArchivedEvent(db, event.id);
        expect(JSON.stringify(found?.event)).toBe(JSON.stringify(event));
        expect(found === null ? '' : computeEventId(found.event)).toBe(event.id);
      }
    }),
    { numRuns: 60 },
  );
});

test('an export imported into a second archive gives the same archive', async () => {
  const first = await openScratchDatabase();
  const second = await openScratchDatabase();
  const events = fc.sample(anyEvent, { numRuns: 150, seed: 20_261_130 });
  await archive(first.db, events);

  const lines = (await readAll(first.db)).map((event) => JSON.stringify(event));
  const report = await importJsonl(lines, { store: (good) => archive(second.db, good), verifier: pureVerifier });

  expect(report).toMatchObject({ read: lines.length, newlyArchived: lines.length, alreadyArchived: 0, bad: 0 });
  expect((await readAll(second.db)).map((event) => JSON.stringify(event))).toEqual(lines);
  expect(lines).toHaveLength(new Set(events.map(({ id }) => id)).size);
  expect(lines).toEqual(
    inOrder([...new Map(events.map((event) => [event.id, event])).values()]).map((event) => JSON.stringify(event)),
  );
});

test('the totals of every author are those of a recount, whatever is archived in whatever batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyEvent, { maxLength: 6 }), { maxLength: 6 }), async (batches) => {
      const { db, close } = await openScratchDatabase();
      // Every batch twice, as relays and imports repeat what is here already.
      for (const batch of batches) {
        await archive(db, batch);
        await archive(db, [...batch, ...batch]);
      }
      for (const { pubkey } of [alice, bob]) {
        const { rows } = await sql<{ events: number; oldest: number | null; newest: number | null }>`
          select count(*) as events, min(created_at) as oldest, max(created_at) as newest from events
          join authors on authors.id = events.author where authors.pubkey = ${Buffer.from(pubkey, 'hex')}`.execute(db);
        expect(await summarizeArchive(db, pubkey)).toEqual(rows[0]);
      }
      await close();
    }),
    { numRuns: 12 },
  );
});
