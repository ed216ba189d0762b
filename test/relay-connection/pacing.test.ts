import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../main/relays/backoff.ts';
import { Pacing } from '../../main/relays/pacing.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

describe('pacing', () => {
  it('keeps the interval between two sends', () => {
    const clock = new FakeClock();
    const pacing = new Pacing(clock, 100);
    expect(pacing.delayMs()).toBe(0);
    pacing.sent();
    clock.advance(30);
    expect(pacing.delayMs()).toBe(70);
    clock.advance(70);
    expect(pacing.delayMs()).toBe(0);
  });

  it('stops for 65 seconds when the relay asks for less speed', () => {
    const clock = new FakeClock();
    const pacing = new Pacing(clock, 0);
    pacing.rateLimited();
    clock.advance(64_999);
    expect([pacing.coolDownMs(), pacing.delayMs()]).toEqual([1, 1]);
    clock.advance(1);
    expect([pacing.coolDownMs(), pacing.delayMs()]).toEqual([0, 0]);
  });

  it('goes slower after each complaint, not after each repetition of one, and faster again without any', () => {
    const clock = new FakeClock();
    const pacing = new Pacing(clock, 20);
    pacing.rateLimited();
    pacing.rateLimited();
    expect(pacing.intervalMs).toBe(500);
    clock.advance(65_000);
    pacing.rateLimited();
    expect(pacing.intervalMs).toBe(1_000);
    for (let complaint = 0; complaint < 9; complaint += 1) {
      clock.advance(65_000);
      pacing.rateLimited();
    }
    expect(pacing.intervalMs).toBe(10_000);
    for (let sends = 0; sends < 200; sends += 1) {
      pacing.sent();
    }
    expect(pacing.intervalMs).toBe(20);
  });

  it('is not moved by a wall clock that jumps', () => {
    const clock = new FakeClock();
    const pacing = new Pacing(clock, 0);
    pacing.rateLimited();
    clock.setWallClock(clock.nowMs() + 86_400_000);
    expect(pacing.coolDownMs()).toBe(65_000);
  });
});

describe('backoff', () => {
  it('is five seconds, doubled by every failure, at most an hour', () => {
    const middle = (failures: number): number => backoffMs(failures, () => 0.5);
    expect([0, 1, 2, 3, 4, 10, 11, 5_000].map(middle)).toEqual([
      0, 5_000, 10_000, 20_000, 40_000, 2_560_000, 3_600_000, 3_600_000,
    ]);
  });

  it('is moved by up to a quarter either way', () => {
    expect(backoffMs(1, () => 0)).toBe(3_750);
    expect(backoffMs(1, () => 0.999_999)).toBe(6_250);
  });
});
