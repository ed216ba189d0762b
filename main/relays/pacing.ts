import type { Clock } from '../platform/clock.ts';

/** How long a relay is left alone after it asked for less speed: the usual minute, and five seconds more. */
export const RATE_LIMIT_COOL_DOWN_MS = 65_000;

/** A cool-down that was renewed again and again for this long is not waited for any more. */
export const LONGEST_COOL_DOWN_MS = 30 * 60_000;

const SLOWEST_MS = 10_000;
const FIRST_SLOWDOWN_MS = 500;
/** Sends in a row without a complaint after which the pace is doubled again. */
const SENDS_TO_RECOVER = 20;

/**
 * When the next frame of one kind of work (reading or publishing; one object each) may be sent to one relay: at least an
 * interval after the one before, and never during a cool-down. The interval grows with every complaint about the
 * speed and shrinks again while there is none.
 */
export class Pacing {
  readonly #clock: Clock;
  readonly #fastestMs: number;
  #intervalMs: number;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #coolUntilMs = Number.NEGATIVE_INFINITY;
  /** When the cool-down began that lasts now, however often it was renewed since. */
  #coolingSinceMs = Number.NEGATIVE_INFINITY;
  #sendsSinceComplaint = 0;

  /** `fastestMs`: the interval between two sends while the relay has not complained. */
  constructor(clock: Clock, fastestMs: number) {
    this.#clock = clock;
    this.#fastestMs = fastestMs;
    this.#intervalMs = fastestMs;
  }

  /** The least number of milliseconds between two sends at present. */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** Milliseconds that a cool-down still lasts; 0 without one. */
  coolDownMs(): number {
    return Math.max(0, this.#coolUntilMs - this.#clock.monotonicMs());
  }

  /** Milliseconds for which the present cool-down is still worth waiting for; 0 when it was renewed for too long. */
  patienceMs(): number {
    return Math.max(0, this.#coolingSinceMs + LONGEST_COOL_DOWN_MS - this.#clock.monotonicMs());
  }

  /** Milliseconds until a frame may be sent; 0 when it may be sent now. */
  delayMs(): number {
    return Math.max(this.coolDownMs(), this.#sentAtMs + this.#intervalMs - this.#clock.monotonicMs(), 0);
  }

  /** Notes that a frame is being sent. */
  sent(): void {
    this.#sentAtMs = this.#clock.monotonicMs();
    this.#sendsSinceComplaint += 1;
    if (this.#sendsSinceComplaint >= SENDS_TO_RECOVER && this.#intervalMs > this.#fastestMs) {
      this.#sendsSinceComplaint = 0;
      const half = this.#intervalMs / 2;
      this.#intervalMs = half < FIRST_SLOWDOWN_MS ? this.#fastestMs : Math.max(this.#fastestMs, half);
    }
  }

  /** The relay asked for less speed: nothing is sent for the cool-down, and less often after it. */
  rateLimited(): void {
    const alreadyCooling = this.coolDownMs() > 0;
    this.#coolUntilMs = this.#clock.monotonicMs() + RATE_LIMIT_COOL_DOWN_MS;
    this.#sendsSinceComplaint = 0;
    if (!alreadyCooling) {
      this.#coolingSinceMs = this.#clock.monotonicMs();
      this.#intervalMs = Math.min(SLOWEST_MS, Math.max(FIRST_SLOWDOWN_MS, this.#intervalMs * 2));
    }
  }
}
