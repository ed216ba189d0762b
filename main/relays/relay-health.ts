import type { HealthState } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { backoffMs, DEFAULT_BACKOFF } from './backoff.ts';
import type { BackoffTimes } from './backoff.ts';
import { connectionFailure } from './connection-failure.ts';
import { RATE_LIMIT_COOL_DOWN_MS } from './pacing.ts';
import type { ConnectionFailure, ConnectionFailureCode } from './relay-query.ts';

/** Failing for this long without a success makes a relay dead; it is then tried once in this time. */
export const DEAD_AFTER_MS = 24 * 3_600_000;
/** How long a relay must hold after a recovery to count as healthy again. */
export const STABLE_AFTER_MS = 5 * 60_000;

export interface HealthOptions {
  clock: Clock;
  random: Random;
  backoff?: BackoffTimes;
}

/**
 * The health of one relay by the rules of GRASP-02. It does nothing by itself: it is told what happened and says
 * which state that makes and when the next connection attempt is allowed.
 *
 * - `healthy`: connected, and either never failed or stable for five minutes since it recovered.
 * - `disconnected`: not connected, and no failure since the last success.
 * - `degraded`: failing to connect, or connected again for less than five minutes.
 * - `dead`: nothing but failures for 24 hours.
 * - `rate-limited`: within 65 seconds of a request for less speed; the state before it shows again afterwards.
 */
export class RelayHealth {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: BackoffTimes;
  #connected = false;
  #failures = 0;
  #failingSinceMs = 0;
  #recoveredAtMs: number | null = null;
  #failuresBeforeRecovery = 0;
  #drops = 0;
  #nextAttemptMs = Number.NEGATIVE_INFINITY;
  #rateLimitedUntilMs = Number.NEGATIVE_INFINITY;
  #lastConnectedAtMs: number | null = null;
  #lastFailure: ConnectionFailure | null = null;

  constructor(options: HealthOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backoff = options.backoff ?? DEFAULT_BACKOFF;
  }

  get state(): HealthState {
    const now = this.#clock.monotonicMs();
    if (now < this.#rateLimitedUntilMs) {
      return 'rate-limited';
    }
    if (this.#failures > 0) {
      return now - this.#failingSinceMs >= DEAD_AFTER_MS ? 'dead' : 'degraded';
    }
    if (!this.#connected) {
      return 'disconnected';
    }
    return this.#recoveredAtMs !== null && now - this.#recoveredAtMs < STABLE_AFTER_MS ? 'degraded' : 'healthy';
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Failures to connect since the last success. */
  get consecutiveFailures(): number {
    return this.#failures;
  }

  /** Wall-clock time of the last success, in Unix milliseconds. */
  get lastConnectedAtMs(): number | null {
    return this.#lastConnectedAtMs;
  }

  /** One sentence about the latest failure; kept after a recovery. */
  get lastFailure(): string | null {
    return this.#lastFailure?.message ?? null;
  }

  /** The kind of the latest failure. */
  get lastFailureCode(): ConnectionFailureCode | null {
    return this.#lastFailure?.code ?? null;
  }

  /** Milliseconds until a connection attempt is allowed; 0 when it is allowed now. */
  attemptDelayMs(): number {
    return Math.max(0, this.#nextAttemptMs - this.#clock.monotonicMs());
  }

  /** The socket is open. */
  succeeded(): void {
    if (this.#failures > 0) {
      this.#recoveredAtMs = this.#clock.monotonicMs();
      this.#failuresBeforeRecovery = this.#failures;
    }
    this.#connected = true;
    this.#failures = 0;
    this.#lastConnectedAtMs = this.#clock.nowMs();
    this.#nextAttemptMs = Number.NEGATIVE_INFINITY;
  }

  /** A connection attempt failed. */
  failed(failure: ConnectionFailure): void {
    const now = this.#clock.monotonicMs();
    this.#connected = false;
    this.#failures += 1;
    if (this.#failures === 1) {
      this.#failingSinceMs = now;
    }
    this.#lastFailure = failure;
    const dead = now - this.#failingSinceMs >= DEAD_AFTER_MS;
    this.#nextAttemptMs = now + (dead ? DEAD_AFTER_MS : backoffMs(this.#failures, this.#random, this.#backoff));
  }

  /** A connection that had opened went away without having said anything: it counts as a failure to connect. */
  failedAfterOpening(words: string): void {
    if (this.#recoveredAtMs !== null) {
      // The recovery was none: the failures before it count on.
      this.#failures = this.#failuresBeforeRecovery;
      this.#recoveredAtMs = null;
    }
    this.failed(connectionFailure('closed-early', words));
  }

  /** The relay closed, or the connection was lost, while it was needed. Not a failure, but no reason to come back at once. */
  dropped(words: string): void {
    this.#connected = false;
    this.#drops += 1;
    this.#lastFailure = { code: 'unreachable', message: words };
    this.#nextAttemptMs = this.#clock.monotonicMs() + backoffMs(this.#drops, this.#random, this.#backoff);
  }

  /** The connection ended in good order, or while nothing needed it. */
  disconnected(): void {
    this.#connected = false;
  }

  /** A request was answered to its end: drops before it no longer count. */
  answered(): void {
    this.#drops = 0;
  }

  /** The relay asked for less speed. */
  rateLimited(): void {
    this.#rateLimitedUntilMs = this.#clock.monotonicMs() + RATE_LIMIT_COOL_DOWN_MS;
  }

  /** A person asked: the next attempt is allowed now. Failures still count. */
  allowAttempt(): void {
    this.#nextAttemptMs = Number.NEGATIVE_INFINITY;
  }
}
