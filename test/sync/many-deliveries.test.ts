import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { beginReverifying, reopenDeliveries, reopenRefused } from '../../main/sync/delivery-reopening.ts';
import { leaveShareUnread, notePending, withdrawPending } from '../../main/sync/delivery-store.ts';
import { warningsFromRefusals } from '../../main/sync/earlier-refusals.ts';
import { chooseVerified } from '../../main/sync/reverification.ts';
import { ShareTotals } from '../../main/sync/share-totals.ts';
import type { DeliveryState } from '../../preload/contract.ts';
import { CoverageRig, START } from '../coverage/coverage-rig.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice } from '../relays/event-builder.ts';

/** Many slices. */
const COPIES = 6000;

let db: WritableDatabase;
let rig: CoverageRig;
let share: { runId: number; relayId: number };
let turns: number;
let timer: NodeJS.Timeout;

beforeEach(async () => {
  db = (await openScratchDatabase()).db;
  rig = await CoverageRig.over(db);
  share = { runId: await rig.run(), relayId: rig.relay('write') };
  const numbers = sql`(with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${COPIES})
    select number from numbers)`;
  await sql`insert into authors (id, pubkey) values (1, ${Buffer.from(alice.pubkey, 'hex')})`.execute(db);
  await sql`insert into event_ids (ref, id) select number, unhex(format('%064x', number)) from ${numbers}`.execute(db);
  await sql`insert into events (ref, author, kind, created_at, sig, tags, content, first_seen_at, sequence)
    select number, 1, 1, number, zeroblob(64), '[]', 'note', 0, number from ${numbers}`.execute(db);
});
afterEach(() => clearInterval(timer));

/** Deliveries of all events in one state, and of another run, and to another relay, that are nobody's business. */
async function deliver(state: DeliveryState, fields: { lasting?: number; message?: string } = {}): Promise<void> {
  const others = { runId: await rig.run(), relayId: rig.relay('both') };
  for (const [runId, relayId, from] of [
    [others.runId, share.relayId, COPIES - 2],
    [share.runId, share.relayId, 0],
    [share.runId, others.relayId, COPIES - 2],
  ] as const) {
    await sql`insert into deliveries (run_id, relay_id, event_ref, kind, created_at, position, state, lasting, message)
      select ${runId}, ${relayId}, ref, 1, created_at, ref, ${state}, ${fields.lasting ?? 0}, ${fields.message ?? null}
      from events where ref > ${from} order by ref`.execute(db);
  }
  turns = 0;
  timer = setInterval(() => (turns += 1), 0);
}

async function countOf(state: DeliveryState, reason: string | null = null): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from deliveries
    where state = ${state} and reason is ${reason}`.execute(db);
  return rows[0]?.count ?? 0;
}

describe('with many deliveries the event loop goes on', () => {
  afterEach(() => expect(turns).toBeGreaterThan(5));

  test('while those refused for passing reasons are made pending', async () => {
    await deliver('rejected');
    await reopenDeliveries(db, share.runId, START * 1000);
    // Where a later delivery took the copy up, it stays refused.
    expect(await countOf('pending')).toBe(COPIES + 2);
  });

  test('while those refused for good are made pending, of one relay', async () => {
    await deliver('rejected', { lasting: 1 });
    expect(await reopenRefused(db, share.runId, share.relayId)).toBe(COPIES);
    expect(await countOf('pending')).toBe(COPIES);
  });

  test('while those that wait are told why', async () => {
    await deliver('pending');
    await notePending(db, share, 'nobody there');
    expect(await countOf('pending', 'not-sent')).toBe(COPIES);
  });

  test('while those that wait are withdrawn', async () => {
    await deliver('pending');
    await withdrawPending(db, share, { reason: 'no-write-relay', message: 'no', atMs: 1 });
    expect(await countOf('withdrawn', 'no-write-relay')).toBe(COPIES);
  });

  test('while those that cannot be read back are told why', async () => {
    await deliver('accepted');
    await leaveShareUnread(db, share, 'nobody there');
    expect(await countOf('accepted', 'not-read-back')).toBe(COPIES);
  });

  test('while verified ones are chosen and prepared to be looked for again', async () => {
    await deliver('verified');
    const chosen = await chooseVerified(db, share.runId, null, () => 0);
    expect(chosen).toHaveLength(COPIES + 2);
    await sql`update deliveries set looks = 2`.execute(db);
    await beginReverifying(
      db,
      share.runId,
      chosen.map(({ id }) => id),
    );
    const { rows } = await sql<{ count: number }>`select count(*) as count from deliveries where looks = 2`.execute(db);
    expect(rows).toEqual([{ count: 2 }]);
  });

  test('while earlier refusals are looked at', async () => {
    await deliver('rejected', { message: 'blocked' });
    const copies = [{ ref: 7, createdAt: 7 }];
    const warnings = await warningsFromRefusals(db, share.relayId, copies);
    expect(warnings).toMatchObject([{ type: 'refused-before', copies: 1, message: expect.stringContaining('6,000') }]);
  });
});

test('a sample has so many, each at most once, and any of them', async () => {
  await deliver('verified');
  let next = 0;
  const random = () => (next = (next + 0.618_034) % 1);

  const chosen = await chooseVerified(db, share.runId, 50, random);

  expect(new Set(chosen.map(({ id }) => id)).size).toBe(50);
  expect(chosen).toEqual(chosen.toSorted((a, b) => a.id - b.id));
  expect((chosen.at(-1)?.id ?? 0) - (chosen[0]?.id ?? 0)).toBeGreaterThan(COPIES / 2);
  expect(await chooseVerified(db, share.runId, COPIES * 2, random)).toHaveLength(COPIES + 2);
});

test('deliveries are counted again only when counting has rested long enough, and shown as changed each time', async () => {
  await deliver('pending');
  let nowMs = 0;
  // Each look at the clock is a hundredth of a second later: counting takes that long.
  const clock = Object.assign(new FakeClock(), { monotonicMs: () => (nowMs += 10) });
  let changes = 0;
  let counts = 0;
  const progress = { setTotals: () => (counts += 1) };
  const totals = new ShareTotals({ db, clock, share, progress, onRecorded: () => (changes += 1) });

  await totals.changed();
  await totals.changed();
  expect([counts, changes]).toEqual([1, 2]);
  nowMs += 1000;
  await totals.changed();
  expect([counts, changes]).toEqual([2, 3]);
  await totals.count();
  expect([counts, changes]).toEqual([3, 4]);
});
