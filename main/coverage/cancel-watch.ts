import type { ReadableDatabase } from '../database/database-file.ts';
import type { Clock } from '../platform/clock.ts';
import { cancelRequests } from './run-history.ts';

const POLL_MS = 1000;

export interface CancelWatchOptions {
  db: ReadableDatabase;
  clock: Clock;
  log: (line: string) => void;
  /** Whether anything is at work that could be cancelled. */
  isNeeded: () => boolean;
  /** Called with every run that somebody asked to cancel, as long as it is active. */
  onRequest: (run: number) => void;
}

/** Looks every second whether another process has left word that a run should be cancelled. */
export class CancelWatch {
  readonly #options: CancelWatchOptions;
  #stop: (() => void) | null = null;
  #closed = false;

  constructor(options: CancelWatchOptions) {
    this.#options = options;
  }

  /** Says that something is at work; the watch ends by itself when nothing is any more. */
  wake(): void {
    if (this.#stop !== null || this.#closed) return;
    this.#stop = this.#options.clock.after(POLL_MS, () => this.#look());
  }

  close(): void {
    this.#closed = true;
    this.#stop?.();
  }

  #look(): void {
    const { db, log, isNeeded, onRequest } = this.#options;
    this.#stop = null;
    if (!isNeeded() || this.#closed) return;
    void cancelRequests(db)
      .then((runs) => runs.forEach(onRequest))
      .catch((error: unknown) => log(`looking for cancel requests: ${String(error)}`))
      .finally(() => this.wake());
  }
}
