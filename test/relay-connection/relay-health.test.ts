import { describe, expect, it } from 'vitest';
import { connectionFailure } from '../../main/relays/connection-failure.ts';
import { RelayHealth } from '../../main/relays/relay-health.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const HOUR = 3_600_000;
const failure = connectionFailure('refused', 'nobody there');

function freshHealth(): { health: RelayHealth; clock: FakeClock } {
  const clock = new FakeClock();
  return { clock, health: new RelayHealth({ clock, random: () => 0.5 }) };
}

/** Fails whenever an attempt is allowed, for so long. */
function failFor(health: RelayHealth, clock: FakeClock, durationMs: number): void {
  const endMs = clock.monotonicMs() + durationMs;
  health.failed(failure);
  while (clock.monotonicMs() + health.attemptDelayMs() <= endMs) {
    clock.advance(health.attemptDelayMs());
    health.failed(failure);
  }
  clock.advance(endMs - clock.monotonicMs());
}

describe('the health of a relay', () => {
  it('begins disconnected, and is healthy at once when it connects without having failed', () => {
    const { health, clock } = freshHealth();
    expect([health.state, health.attemptDelayMs(), health.lastConnectedAtMs]).toEqual(['disconnected', 0, null]);
    health.succeeded();
    expect([health.state, health.lastConnectedAtMs]).toEqual(['healthy', clock.nowMs()]);
    health.disconnected();
    expect(health.state).toBe('disconnected');
  });

  it('is degraded while connecting fails, with the doubling backoff', () => {
    const { health, clock } = freshHealth();
    for (const delayMs of [5_000, 10_000, 20_000, 40_000]) {
      health.failed(failure);
      expect([health.state, health.attemptDelayMs()]).toEqual(['degraded', delayMs]);
      clock.advance(delayMs);
    }
    expect([health.consecutiveFailures, health.lastFailure, health.lastFailureCode]).toEqual([
      4,
      failure.message,
      'refused',
    ]);
  });

  it('never waits more than an hour before it is dead', () => {
    const { health, clock } = freshHealth();
    failFor(health, clock, 10 * HOUR);
    expect(health.state).toBe('degraded');
    expect(health.attemptDelayMs()).toBeLessThanOrEqual(HOUR);
  });

  it('is dead after 24 hours of nothing but failures, and then tried once a day', () => {
    const { health, clock } = freshHealth();
    health.failed(failure);
    clock.advance(24 * HOUR - 1);
    expect(health.state).toBe('degraded');
    clock.advance(1);
    expect(health.state).toBe('dead');
    health.failed(failure);
    expect([health.state, health.attemptDelayMs()]).toEqual(['dead', 24 * HOUR]);
  });

  it('is no longer dead once it connects', () => {
    const { health, clock } = freshHealth();
    failFor(health, clock, 25 * HOUR);
    health.succeeded();
    expect([health.state, health.consecutiveFailures]).toEqual(['degraded', 0]);
  });

  it('is degraded for five minutes after a recovery, then healthy', () => {
    const { health, clock } = freshHealth();
    health.failed(failure);
    clock.advance(5_000);
    health.succeeded();
    clock.advance(5 * 60_000 - 1);
    expect(health.state).toBe('degraded');
    clock.advance(1);
    expect(health.state).toBe('healthy');
    expect(health.lastFailure).toBe(failure.message);
  });

  it('is disconnected when a recovered connection ends in good order, and healthy later without a new wait', () => {
    const { health, clock } = freshHealth();
    health.failed(failure);
    health.succeeded();
    health.disconnected();
    expect(health.state).toBe('disconnected');
    clock.advance(5 * 60_000);
    health.succeeded();
    expect(health.state).toBe('healthy');
  });

  it('is rate-limited for 65 seconds whatever it was, and then what it was before', () => {
    for (const prepare of [
      (health: RelayHealth) => health.succeeded(),
      (health: RelayHealth) => health.failed(failure),
      () => undefined,
    ]) {
      const { health, clock } = freshHealth();
      prepare(health);
      const before = health.state;
      health.rateLimited();
      clock.advance(64_999);
      expect(health.state).toBe('rate-limited');
      clock.advance(1);
      expect(health.state).toBe(before);
    }
  });

  it('does not take a connection that says nothing for a recovery', () => {
    const { health } = freshHealth();
    health.failed(failure);
    health.failed(failure);
    health.succeeded();
    health.failedAfterOpening('closed at once');
    expect([health.state, health.consecutiveFailures, health.attemptDelayMs()]).toEqual(['degraded', 3, 20_000]);
  });

  it('lets a relay that only ever opens and closes die after 24 hours too', () => {
    const { health, clock } = freshHealth();
    const endMs = clock.monotonicMs() + 25 * HOUR;
    while (clock.monotonicMs() < endMs) {
      clock.advance(health.attemptDelayMs());
      health.succeeded();
      health.failedAfterOpening('closed at once');
    }
    expect(health.state).toBe('dead');
  });

  it('keeps away for a while after a lost connection, longer each time, until something is answered', () => {
    const { health } = freshHealth();
    const delays: number[] = [];
    for (let drop = 0; drop < 3; drop += 1) {
      health.succeeded();
      health.dropped('reset');
      delays.push(health.attemptDelayMs());
    }
    health.succeeded();
    health.answered();
    health.dropped('reset');
    delays.push(health.attemptDelayMs());
    expect(delays).toEqual([5_000, 10_000, 20_000, 5_000]);
    expect([health.state, health.consecutiveFailures]).toEqual(['disconnected', 0]);
  });

  it('lets a person try at once, without forgetting the failures', () => {
    const { health, clock } = freshHealth();
    failFor(health, clock, 30 * HOUR);
    health.allowAttempt();
    expect([health.state, health.attemptDelayMs()]).toEqual(['dead', 0]);
  });

  it('is not moved by a wall clock that jumps', () => {
    const { health, clock } = freshHealth();
    health.failed(failure);
    clock.setWallClock(clock.nowMs() + 48 * HOUR);
    expect([health.state, health.attemptDelayMs()]).toEqual(['degraded', 5_000]);
  });
});
