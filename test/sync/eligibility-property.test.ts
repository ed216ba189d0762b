import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { reasonsNotToSend } from '../../main/sync/send-check.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { archive } from '../archive/archive-rig.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob } from '../relays/event-builder.ts';
import { expectedReason, histories, RELAY_KEYS } from './eligibility-model.ts';
import { wipeArchive } from './wipe-archive.ts';

/** A history, an order to archive it in, how many events come between two checks, and how many are checked at once. */
const arrivals = histories.chain((history) =>
  fc.record({
    history: fc.constant(history),
    order: fc.shuffledSubarray(history, { minLength: history.length }),
    batch: fc.integer({ min: 1, max: history.length }),
    slice: fc.integer({ min: 1, max: 4 }),
  }),
);

async function checkAll(db: WritableDatabase, slice?: number): Promise<void> {
  while ((await checkNextEvents(db, slice)) !== null);
}

/** Everything that the tables say, with IDs in the place of numbers. */
async function tables(db: WritableDatabase): Promise<unknown> {
  const id = (ref: string) =>
    sql`(select lower(hex(id)) from event_ids where ref = ${sql.ref(ref)}) as ${sql.ref(`id_${ref}`)}`;
  const author = sql`(select lower(hex(pubkey)) from authors where id = author) as pubkey`;
  const queries = [
    sql`select ${id('event_ref')}, ${author}, kind, reason from exclusions order by 1`,
    sql`select ${id('event_ref')}, ${author}, kind, expires_at from expirations order by 1`,
    sql`select ${id('event_ref')}, ${author}, ${id('request_ref')} from deleted_events order by 1, 2, 3`,
    sql`select ${id('request_ref')}, ${author}, kind, identifier, until from deleted_addresses order by 1, 3, 4`,
    sql`select ${id('event_ref')}, ${author}, kind, identifier, created_at from versions order by 1`,
    sql`select ${id('request_ref')}, ${author}, relay_key, until from vanish_requests order by 1, 3`,
  ];
  return Promise.all(queries.map(async (query) => (await query.execute(db)).rows));
}

async function exclusions(db: WritableDatabase): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; reason: string }>`select lower(hex(id)) as id, reason
    from exclusions join event_ids on ref = event_ref order by id`.execute(db);
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}

function expectedExclusions(history: readonly SignedEvent[]): Map<string, string> {
  const reasons = history.map((event) => [event.id, expectedReason(event, history) ?? ''] as const);
  return new Map(reasons.filter(([, reason]) => reason !== '').toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

test('whatever order events come in, the tables end as the rules say', async () => {
  const { db } = await openScratchDatabase();
  await fc.assert(
    fc.asyncProperty(arrivals, async ({ history, order, batch, slice }) => {
      await wipeArchive(db);
      await archive(db, history);
      await checkAll(db);
      const expected = await tables(db);

      await wipeArchive(db);
      for (let start = 0; start < order.length; start += batch) {
        const arrived = order.slice(start, start + batch);
        await archive(db, arrived);
        await checkAll(db, slice);
        expect(await exclusions(db)).toEqual(expectedExclusions(order.slice(0, start + arrived.length)));
      }
      expect(await tables(db)).toEqual(expected);
    }),
    { numRuns: 1000 },
  );
}, 120_000);

test('what is about to be sent is judged as the rules say', async () => {
  const { db } = await openScratchDatabase();
  const asked = fc.record({ relayKey: fc.constantFrom(...RELAY_KEYS), now: fc.integer({ min: 0, max: 7 }) });
  await fc.assert(
    fc.asyncProperty(histories, asked, async (history, { relayKey, now }) => {
      await wipeArchive(db);
      const { refs } = await archive(db, history);
      await checkAll(db);

      const reasons = await reasonsNotToSend(db, { author: alice.pubkey, relayKey, refs: [...refs.values()], now });

      for (const event of history) {
        const expected = event.pubkey === bob.pubkey ? 'never-sent' : expectedReason(event, history, { relayKey, now });
        expect(reasons.get(refs.get(event.id) ?? 0) ?? null).toBe(expected);
      }
    }),
    { numRuns: 300 },
  );
}, 60_000);
