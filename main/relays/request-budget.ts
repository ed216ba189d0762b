import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { backoffMs, DEFAULT_BACKOFF } from './backoff.ts';
import type { BackoffTimes } from './backoff.ts';

/** Without another refusal for this long, one more request may be open again. */
const RESTORE_AFTER_MS = 10 * 60_000;

interface Waiter {
  start: () => void;
}

/**
 * How many requests may be open on one connection. Relays refuse more than they like without saying beforehand how many
 * that is, so a refusal lowers the budget and holds everything back for a moment; it comes back slowly.
 */
export class RequestBudget {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: BackoffTimes;
  #configured: number;
  #learned = Number.POSITIVE_INFINITY;
  #advertised = Number.POSITIVE_INFINITY;
  #open = 0;
  #standing = 0;
  #refusals = 0;
  #holdUntilMs = Number.NEGATIVE_INFINITY;
  #cancelRestore: (() => void) | null = null;
  #cancelHold: (() => void) | null = null;
  #waiting: Waiter[] = [];

  constructor(clock: Clock, random: Random, configured: number, backoff: BackoffTimes = DEFAULT_BACKOFF) {
    this.#clock = clock;
    this.#random = random;
    this.#configured = configured;
    this.#backoff = backoff;
  }

  /** Requests that may be open at the same time now; at least one. */
  get limit(): number {
    return Math.max(1, Math.min(this.#configured, this.#learned, this.#advertised));
  }

  /** Places that are taken now, live subscriptions included. */
  get taken(): number {
    return this.#open + this.#standing;
  }

  /** Milliseconds for which nothing new is opened after a refusal. */
  holdMs(): number {
    return Math.max(0, this.#holdUntilMs - this.#clock.monotonicMs());
  }

  /** Sets the number the user wants at the most. */
  configure(most: number): void {
    this.#configured = most;
    this.#startWaiting();
  }

  /** NIP-11 `max_subscriptions`: only ever lowers the budget. Null forgets it. */
  advertise(most: number | null): void {
    this.#advertised = most ?? Number.POSITIVE_INFINITY;
    this.#startWaiting();
  }

  /** True when a request could be opened at once. */
  get free(): boolean {
    return this.#waiting.length === 0 && this.#hasRoom();
  }

  /**
   * Resolves in order of asking, when a request may be opened, with a function that gives the place back (calling it
   * again does nothing); resolves with null when the signal aborts first.
   */
  take(signal?: AbortSignal): Promise<(() => void) | null> {
    if (signal?.aborted) {
      return Promise.resolve(null);
    }
    if (this.free) {
      return Promise.resolve(this.#occupy());
    }
    return new Promise((resolve) => {
      const abandon = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        resolve(null);
      };
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', abandon);
          resolve(this.#occupy());
        },
      };
      signal?.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Counts a live subscription, which does not wait for a place but takes one; returns what gives it back. */
  stand(): () => void {
    this.#standing += 1;
    let standing = true;
    return () => {
      if (standing) {
        standing = false;
        this.#standing -= 1;
        this.#startWaiting();
      }
    };
  }

  /** The relay refused a request because too many were open: `open` of them, that one included. */
  refused(open: number): void {
    this.#refusals += 1;
    this.#learned = Math.max(1, Math.min(this.limit, open - 1));
    this.#holdUntilMs = this.#clock.monotonicMs() + backoffMs(this.#refusals, this.#random, this.#backoff);
    this.#cancelHold?.();
    this.#cancelHold = this.#clock.after(this.holdMs(), () => {
      // Timers may fire a moment early; nothing else would wake those who wait.
      this.#holdUntilMs = Number.NEGATIVE_INFINITY;
      this.#cancelHold = null;
      this.#startWaiting();
    });
    this.#restoreLater();
  }

  /** A request ended as the relay meant it to: what was refused before is not refused for good. */
  served(): void {
    this.#refusals = 0;
  }

  /** Stops every timer. */
  close(): void {
    this.#cancelRestore?.();
    this.#cancelHold?.();
    this.#cancelRestore = null;
    this.#cancelHold = null;
  }

  #occupy(): () => void {
    this.#open += 1;
    let occupied = true;
    return () => {
      if (occupied) {
        occupied = false;
        this.#open -= 1;
        this.#startWaiting();
      }
    };
  }

  #hasRoom(): boolean {
    // Live subscriptions may use the budget up; one request at a time goes on beside them all the same.
    return this.holdMs() === 0 && this.#open < Math.max(1, this.limit - this.#standing);
  }

  #startWaiting(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        return;
      }
      next.start();
    }
  }

  #restoreLater(): void {
    this.#cancelRestore?.();
    this.#cancelRestore = this.#clock.after(RESTORE_AFTER_MS, () => {
      this.#cancelRestore = null;
      this.#learned += 1;
      if (this.#learned < this.#configured) {
        this.#restoreLater();
      } else {
        this.#learned = Number.POSITIVE_INFINITY;
      }
      this.#startWaiting();
    });
  }
}
