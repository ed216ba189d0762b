import type { Clock } from '../platform/clock.ts';

/** Calls back once when nothing has touched it for a while. Touching costs no timer, so that it may happen per frame. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #touchedAtMs: number;
  #cancel: () => void;

  constructor(clock: Clock, idleMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
    this.#touchedAtMs = clock.monotonicMs();
    this.#cancel = clock.after(idleMs, () => this.#check());
  }

  touch(): void {
    this.#touchedAtMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #check(): void {
    const leftMs = this.#touchedAtMs + this.#idleMs - this.#clock.monotonicMs();
    if (leftMs <= 0) {
      this.#onIdle();
    } else {
      this.#cancel = this.#clock.after(leftMs, () => this.#check());
    }
  }
}
