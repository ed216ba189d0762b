import { expect, test, vi } from 'vitest';
import { EligibilityIndex } from '../../main/sync/eligibility-index.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { archive } from '../archive/archive-rig.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { buildHistory } from '../relays/event-builder.ts';

const PROTECTED = [['-']];
const EVENTS = buildHistory({ count: 1000, from: 1, to: 1000 }).map((event) => ({ ...event, tags: PROTECTED }));

async function checked(db: WritableDatabase): Promise<number> {
  const { count } = await db
    .selectFrom('exclusions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

test('catching up lets the event loop go on', async () => {
  const { db } = await openScratchDatabase();
  await archive(db, EVENTS);
  const index = new EligibilityIndex(db, new FakeClock(), () => undefined);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);

  await index.caughtUp();
  clearInterval(timer);

  expect(await checked(db)).toBe(EVENTS.length);
  expect(turns).toBeGreaterThan(3);
});

test('whoever waits waits for what was archived before, also while others wait for less', async () => {
  const { db } = await openScratchDatabase();
  const index = new EligibilityIndex(db, new FakeClock(), () => undefined);
  await archive(db, EVENTS.slice(0, 300));
  const first = index.caughtUp();
  await archive(db, EVENTS.slice(300));

  await index.caughtUp();

  expect(await checked(db)).toBe(EVENTS.length);
  await first;
});

test('closing stops it between two slices, and another one goes on', async () => {
  const { db } = await openScratchDatabase();
  await archive(db, EVENTS);
  const closed = new EligibilityIndex(db, new FakeClock(), () => undefined);
  const waiting = closed.caughtUp();
  await new Promise((resolve) => setImmediate(resolve));

  await closed.close();
  await waiting;

  expect(await checked(db)).toBeLessThan(EVENTS.length);
  const next = new EligibilityIndex(db, new FakeClock(), () => undefined);
  await next.caughtUp();
  expect(await checked(db)).toBe(EVENTS.length);
});

test('it follows by itself once the archive has rested for a second', async () => {
  const { db } = await openScratchDatabase();
  const clock = new FakeClock();
  const index = new EligibilityIndex(db, clock, () => undefined);
  await archive(db, EVENTS.slice(0, 10));
  index.wake();
  await clock.pass(900);
  index.wake();
  await clock.pass(900);
  expect(await checked(db)).toBe(0);

  await clock.pass(200);

  await vi.waitFor(async () => expect(await checked(db)).toBe(10));
  await index.close();
});

test('a failure is told to whoever waits, and does not end the work for good', async () => {
  const { db } = await openScratchDatabase();
  const log = vi.fn();
  const clock = new FakeClock();
  const index = new EligibilityIndex(db, clock, log);
  await archive(db, EVENTS.slice(0, 10));
  await db.schema.alterTable('exclusions').renameTo('gone').execute();

  await expect(index.caughtUp()).rejects.toThrow(/exclusions/);
  index.wake();
  await clock.pass(1000);
  await vi.waitFor(() => expect(log).toHaveBeenCalledWith(expect.stringMatching(/exclusions/)));
  await db.schema.alterTable('gone').renameTo('exclusions').execute();
  await index.caughtUp();

  expect(await checked(db)).toBe(10);
});
