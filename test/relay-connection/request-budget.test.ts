import { expect, it } from 'vitest';
import { RequestBudget } from '../../main/relays/request-budget.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';

function budgetOf(configured: number): { budget: RequestBudget; clock: FakeClock } {
  const clock = new FakeClock();
  return { clock, budget: new RequestBudget(clock, () => 0.5, configured) };
}

async function take(budget: RequestBudget): Promise<() => void> {
  const release = await budget.take();
  if (release === null) {
    throw new Error('was cancelled');
  }
  return release;
}

it('opens as many as configured and the rest in order of asking', async () => {
  const { budget } = budgetOf(2);
  const started: number[] = [];
  const places = [await take(budget), await take(budget)];
  for (const number of [3, 4, 5]) {
    void take(budget).then((release) => {
      started.push(number);
      places.push(release);
    });
  }
  await settle();
  expect([budget.taken, started]).toEqual([2, []]);
  places[0]?.();
  places[0]?.();
  await settle();
  expect(started).toEqual([3]);
  places[1]?.();
  places[2]?.();
  await settle();
  expect([budget.taken, started]).toEqual([2, [3, 4, 5]]);
});

it('lets a waiting request be cancelled without losing a place', async () => {
  const { budget } = budgetOf(1);
  const release = await take(budget);
  const stop = new AbortController();
  const cancelled = budget.take(stop.signal);
  const next = take(budget);
  stop.abort();
  expect(await cancelled).toBeNull();
  release();
  await next;
  expect(budget.taken).toBe(1);
  expect(await budget.take(stop.signal)).toBeNull();
});

it('is lowered below what was open by every refusal, never below one, and holds back longer each time', async () => {
  const { budget, clock } = budgetOf(8);
  const places = [await take(budget), await take(budget), await take(budget)];
  budget.refused(3);
  expect([budget.limit, budget.holdMs()]).toEqual([2, 5_000]);
  places.forEach((release) => release());
  clock.advance(5_000);
  const only = await take(budget);
  budget.refused(1);
  budget.refused(1);
  expect([budget.limit, budget.holdMs()]).toEqual([1, 20_000]);
  only();

  let opened = false;
  void take(budget).then(() => (opened = true));
  await clock.pass(19_999);
  expect(opened).toBe(false);
  await clock.pass(1);
  expect(opened).toBe(true);
});

it('comes back one by one, ten minutes apart, up to what is configured', async () => {
  const { budget, clock } = budgetOf(3);
  const releases = [await take(budget), await take(budget)];
  budget.refused(2);
  releases.forEach((release) => release());
  expect(budget.limit).toBe(1);
  await clock.pass(599_999);
  expect(budget.limit).toBe(1);
  await clock.pass(1);
  expect(budget.limit).toBe(2);
  await clock.pass(600_000);
  expect(budget.limit).toBe(3);
  await clock.pass(6_000_000);
  expect([budget.limit, clock.pending]).toEqual([3, 0]);
});

it('starts counting refusals anew once a request was served', () => {
  const { budget } = budgetOf(4);
  budget.refused(4);
  budget.refused(4);
  budget.served();
  budget.refused(4);
  expect(budget.holdMs()).toBe(5_000);
});

it('takes what a relay advertises as an upper bound only', () => {
  const { budget } = budgetOf(4);
  budget.advertise(2);
  expect(budget.limit).toBe(2);
  budget.advertise(100);
  expect(budget.limit).toBe(4);
  budget.advertise(null);
  budget.configure(6);
  expect(budget.limit).toBe(6);
});

it('counts live subscriptions, and still lets one request run beside any number of them', async () => {
  const { budget } = budgetOf(2);
  const ends = [budget.stand(), budget.stand(), budget.stand()];
  const release = await take(budget);
  expect([budget.taken, budget.free]).toEqual([4, false]);
  let second = false;
  void take(budget).then(() => (second = true));
  ends.forEach((end) => end());
  await settle();
  expect(second).toBe(true);
  release();
});

it('wakes those who wait even when a timer fires a moment early', async () => {
  const clock = new FakeClock();
  const early = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs: number, callback: () => void) => clock.after(delayMs - 0.5, callback),
  };
  const budget = new RequestBudget(early, () => 0.5, 2);
  budget.refused(4);
  let opened = false;
  void take(budget).then(() => (opened = true));
  await clock.pass(5_000);
  expect(opened).toBe(true);
});
