import type { Clock } from '../platform/clock.ts';

/** A correction smaller than this is ordinary time keeping. */
const TOLERANCE_MS = 2000;

/** Notices whether the wall clock was set back while something ran, by comparing it with the monotonic one. */
export class ClockWatch {
  readonly #clock: Clock;
  readonly #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.nowMs() - clock.monotonicMs();
  }

  /** The sentence for a clock that was set back since this watch began, or null. */
  warning(): string | null {
    const setBackMs = this.#offsetMs - (this.#clock.nowMs() - this.#clock.monotonicMs());
    if (setBackMs < TOLERANCE_MS) return null;
    return `This computer's clock was set back by ${Math.round(setBackMs / 1000)} seconds during this run; what it asked from then on is recorded as later than what came before.`;
  }
}
