import { setImmediate } from 'node:timers/promises';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Clock } from '../platform/clock.ts';
import { checkNextEvents } from './check-next-events.ts';

/** While pages keep arriving, checking waits: it would slow down the archiving of the next page. */
const REST_MS = 1000;

/**
 * Lets the tables on which eligibility rests follow the archive, and lets whoever reads them wait until they have caught
 * up.
 */
export class EligibilityIndex {
  readonly #db: WritableDatabase;
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  #stopTimer: (() => void) | null = null;
  #working: Promise<void> | null = null;
  #checkedUpTo = 0;
  #closed = false;

  constructor(db: WritableDatabase, clock: Clock, log: (line: string) => void) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Says that bodies were archived; they are checked when the archive has rested for a second, or somebody asks. */
  wake(): void {
    if (this.#closed) return;
    this.#stopTimer?.();
    this.#stopTimer = this.#clock.after(REST_MS, () => {
      this.#stopTimer = null;
      this.caughtUp().catch((error: unknown) => this.#log(`checking what may be sent: ${String(error)}`));
    });
  }

  /** Resolves when every body archived before the call is checked, or when this is closed. */
  async caughtUp(): Promise<void> {
    const { last } = await this.#db.selectFrom('archive_sequence').select('last').executeTakeFirstOrThrow();
    while (!this.#closed && this.#checkedUpTo < last) {
      this.#working ??= this.#checkSome(last).finally(() => {
        this.#working = null;
      });
      await this.#working;
    }
  }

  /** Stops following; what is not checked yet will be after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer?.();
    // Whoever asked for it hears of a failure.
    await this.#working?.catch(() => undefined);
  }

  async #checkSome(upTo: number): Promise<void> {
    while (!this.#closed && this.#checkedUpTo < upTo) {
      const checkedUpTo = await checkNextEvents(this.#db);
      this.#checkedUpTo = checkedUpTo ?? upTo;
      // Transactions follow one another without a turn of the event loop.
      await setImmediate();
    }
  }
}
