import { nowSeconds, type Clock } from '../platform/clock.ts';

export interface UnrecordedEndsOptions {
  clock: Clock;
  log: (line: string) => void;
  /** Records that a run ended. `now`: Unix seconds. */
  settle: (run: number, now: number) => Promise<void>;
}

/** How long to wait before it is tried to record them after all: twice as long each time, because a try may block for a while. */
const FIRST_RETRY_MS = 5000;
const LAST_RETRY_MS = 60_000;

/**
 * Runs that ended while nothing could be recorded, above all because a disk was full or gone. They stand as active although
 * nobody is at work: as soon as anything can be recorded again they become what an interruption leaves, so that Resume is
 * offered without a restart.
 */
export class UnrecordedEnds {
  readonly #options: UnrecordedEndsOptions;
  readonly #errors = new Map<number, unknown>();
  /** Those that are still to be recorded, and what to call then. */
  readonly #waiting = new Map<number, () => void>();
  #retryMs = FIRST_RETRY_MS;
  #cancelTimer: (() => void) | null = null;
  #closed = false;

  constructor(options: UnrecordedEndsOptions) {
    this.#options = options;
  }

  /** Why the end of a run could not be recorded when it came. `onRecorded`: called when it was after all. */
  add(run: number, error: unknown, onRecorded: () => void): void {
    this.#errors.set(run, error);
    this.#waiting.set(run, onRecorded);
    this.#retryMs = FIRST_RETRY_MS;
    this.#options.log(`run ${run} could not be recorded: ${String(error)}`);
    this.#retryLater();
  }

  /** A run is at work again. */
  forget(run: number): void {
    this.#errors.delete(run);
    this.#waiting.delete(run);
  }

  /** @throws what kept the end of a run from being recorded, such as a Fault `storage`. */
  throwIfAny(run: number): void {
    if (this.#errors.has(run)) throw this.#errors.get(run);
  }

  /** Tries one last time. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer?.();
    await this.#record();
  }

  #retryLater(): void {
    if (this.#closed || this.#cancelTimer !== null || this.#waiting.size === 0) return;
    this.#cancelTimer = this.#options.clock.after(this.#retryMs, () => {
      this.#cancelTimer = null;
      this.#retryMs = Math.min(LAST_RETRY_MS, 2 * this.#retryMs);
      void this.#record().then(() => this.#retryLater());
    });
  }

  async #record(): Promise<void> {
    const { clock, settle } = this.#options;
    for (const [run, onRecorded] of [...this.#waiting]) {
      try {
        await settle(run, nowSeconds(clock));
      } catch {
        // It is in the log already; the next time will tell.
        continue;
      }
      this.#waiting.delete(run);
      onRecorded();
    }
  }
}
