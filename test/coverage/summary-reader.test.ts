import { expect, test, vi } from 'vitest';
import { SummaryReader } from '../../main/coverage/summary-reader.ts';
import { archive } from '../archive/archive-rig.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';

test('what changed while a summary rested is told once the rest is over, so that nobody keeps an old one', async () => {
  const { db, path } = await openScratchDatabase();
  const clock = new FakeClock();
  const rested = vi.fn();
  const reader = new SummaryReader(path, clock, rested);
  const subject = { account: alice.pubkey, relays: [], now: 1_800_000_000 };

  await archive(db, [buildEvent({ createdAt: 1 })]);
  expect((await reader.copies(subject)).events).toBe(1);
  await archive(db, [buildEvent({ createdAt: 2 })]);
  expect((await reader.copies(subject)).events).toBe(1);
  expect(rested).not.toHaveBeenCalled();
  await clock.pass(1);
  expect(rested).toHaveBeenCalledOnce();
  expect((await reader.copies(subject)).events).toBe(2);
  await reader.close();
});

test('nobody is told when nobody asked meanwhile', async () => {
  const { path } = await openScratchDatabase();
  const clock = new FakeClock();
  const rested = vi.fn();
  const reader = new SummaryReader(path, clock, rested);
  await reader.copies({ account: alice.pubkey, relays: [], now: 1_800_000_000 });
  await clock.pass(60_000);
  expect(rested).not.toHaveBeenCalled();
  await reader.close();
});
