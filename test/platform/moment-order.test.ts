import { expect, test } from 'vitest';
import { MomentOrder } from '../../main/platform/moment-order.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

test('while the clock goes on, moments are what it says; two may be the same', () => {
  const clock = new FakeClock(1000);
  const order = new MomentOrder(clock, 900);
  expect([order.next(), order.next()]).toEqual([0, 0]);
  clock.advance(5);
  expect(order.next()).toBe(0);
});

test('after the clock was set back each moment comes a millisecond after the one before, until the clock has caught up', () => {
  const clock = new FakeClock(1000);
  const order = new MomentOrder(clock);
  order.next();
  clock.setWallClock(400);
  expect([order.next(), order.next()]).toEqual([601, 602]);
  clock.setWallClock(1002);
  expect(order.next()).toBe(1);
  clock.setWallClock(1004);
  expect(order.next()).toBe(0);
});

test('a moment comes after those of an earlier session, and after what began before it', () => {
  const clock = new FakeClock(1000);
  expect(new MomentOrder(clock, 5000).next()).toBe(4001);
  const order = new MomentOrder(clock);
  order.begin();
  clock.setWallClock(10);
  expect(order.next()).toBe(991);
});
