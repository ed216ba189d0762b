import type { LegacyCheckpoint } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { Clock } from '../platform/clock.ts';
import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import { RestingAnswers } from '../platform/resting-answers.ts';
import type { ArchivedWithinRequest } from './archived-within-worker.ts';
import { leftOf, readCheckpoints, readWindowRanges } from './checkpoint-store.ts';

/** Reads checkpoints for whoever shows them; what is archived within their windows is counted in a thread. */
export class CheckpointList {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #answers: RestingAnswers<number[]>;
  readonly #thread = new RequestThread<ArchivedWithinRequest, number[]>(
    workerUrl(import.meta.url, 'archived-within-worker'),
  );

  /**
   * @param path the database file.
   * @param onRested called when counts that were given again while they rested may be made anew: whoever shows them asks once more.
   */
  constructor(path: string, clock: Clock, onRested: () => void) {
    this.#path = path;
    this.#clock = clock;
    this.#answers = new RestingAnswers(clock, onRested);
  }

  /** Every checkpoint in its order, with the windows that are left by now. */
  async read(db: ReadableDatabase): Promise<LegacyCheckpoint[]> {
    const checkpoints = await readCheckpoints(db);
    if (checkpoints.length === 0) return [];
    const ranges = await readWindowRanges(
      db,
      checkpoints.map(({ id }) => id),
    );
    const left = checkpoints.map((checkpoint) => leftOf(checkpoint, ranges.get(checkpoint.id) ?? []));
    const entries = checkpoints.map(({ account }, index) => ({
      account,
      windows: (left[index] ?? []).map(({ since, until }) => ({ since, until })),
    }));
    const archived = await this.#answers.ask(JSON.stringify(entries), () =>
      this.#thread.ask({ path: this.#path, nowMs: this.#clock.nowMs(), entries }),
    );
    return checkpoints.map((checkpoint, index) => {
      const windows = left[index] ?? [];
      return {
        id: checkpoint.id,
        account: checkpoint.account,
        status: checkpoint.status,
        startedAt: checkpoint.startedAt,
        stoppedAt: checkpoint.stoppedAt,
        relays: checkpoint.relays.map(({ url }) => url),
        pendingWindows: windows.length,
        windows,
        completedWindows: checkpoint.completedWindows,
        eventsSeen: checkpoint.eventsSeen,
        windowLimit: checkpoint.windowLimit,
        archivedWithin: archived[index] ?? 0,
        run: checkpoint.runId,
      };
    });
  }

  close(): Promise<void> {
    this.#answers.close();
    return this.#thread.close();
  }
}
