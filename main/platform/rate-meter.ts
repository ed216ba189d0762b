import type { Clock } from './clock.ts';

/** Rates are taken over this many milliseconds, so that they neither flicker nor lag. */
const WINDOW_MS = 5000;

/** What was counted lately, as a rate. */
export class RateMeter {
  readonly #clock: Clock;
  #samples: { atMs: number; count: number }[] = [];
  readonly #startedMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  add(count: number): void {
    this.#samples.push({ atMs: this.#clock.monotonicMs(), count });
  }

  perSecond(): number {
    const now = this.#clock.monotonicMs();
    this.#samples = this.#samples.filter((sample) => now - sample.atMs <= WINDOW_MS);
    const span = Math.min(WINDOW_MS, Math.max(1000, now - this.#startedMs));
    return Math.round((this.#samples.reduce((sum, sample) => sum + sample.count, 0) * 1000) / span);
  }
}
