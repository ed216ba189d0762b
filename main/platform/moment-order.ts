import type { Clock } from './clock.ts';

/**
 * Keeps moments in the order in which they came, although the wall clock may be set back: a moment that the clock puts
 * before an earlier one is told how much later than the clock's time it has to be recorded.
 */
export class MomentOrder {
  readonly #clock: Clock;
  #latestMs: number;
  /** Whether the latest moment lies ahead of the clock. */
  #isAhead = false;

  /** `latestMs`: the latest moment that was recorded before this began, Unix milliseconds. */
  constructor(clock: Clock, latestMs = 0) {
    this.#clock = clock;
    this.#latestMs = latestMs;
  }

  /**
   * Something comes to its end at this moment.
   *
   * @returns the milliseconds to add to the clock's time: 0, but while the clock stands before an earlier moment.
   */
  next(): number {
    const nowMs = this.#clock.nowMs();
    const isBehind = nowMs < this.#latestMs || (this.#isAhead && nowMs === this.#latestMs);
    this.#latestMs = isBehind ? this.#latestMs + 1 : nowMs;
    this.#isAhead = isBehind;
    return this.#latestMs - nowMs;
  }

  /** Something begins, which is not to end before this moment. */
  begin(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs <= this.#latestMs) return;
    this.#latestMs = nowMs;
    this.#isAhead = false;
  }
}
