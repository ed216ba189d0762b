import type { CopiesSummary, CoverageTimeline } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import type { SummarySubject } from './coverage-summary.ts';
import type { SummaryRequest } from './summary-worker.ts';

/** A summary is not computed again before this many times its own duration have passed: live numbers must not eat a core. */
const REST_FACTOR = 4;

interface Kept {
  summary: Promise<CopiesSummary | CoverageTimeline>;
  /** False once the rest after computing it is over; until then it is given to whoever asks. */
  resting: boolean;
  /** Somebody asked meanwhile, perhaps because something changed that it does not know of. */
  askedAgain: boolean;
}

/** Computes summaries that read every event of an account, in a thread, one of each kind and account at a time. */
export class SummaryReader {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #thread = new RequestThread<SummaryRequest, CopiesSummary | CoverageTimeline>(
    workerUrl(import.meta.url, 'summary-worker'),
  );

  readonly #onRested: () => void;
  readonly #stopTimers = new Set<() => void>();

  /**
   * @param path the database file.
   * @param onRested called when a summary that was given again while it rested may be computed anew: whoever shows it asks once more.
   */
  constructor(path: string, clock: Clock, onRested: () => void) {
    this.#path = path;
    this.#clock = clock;
    this.#onRested = onRested;
  }

  async copies(subject: SummarySubject): Promise<CopiesSummary> {
    return (await this.#read('copies', subject)) as CopiesSummary;
  }

  async timeline(subject: SummarySubject): Promise<CoverageTimeline> {
    return (await this.#read('timeline', subject)) as CoverageTimeline;
  }

  close(): Promise<void> {
    for (const stop of this.#stopTimers) stop();
    return this.#thread.close();
  }

  #read(type: SummaryRequest['type'], subject: SummarySubject): Promise<CopiesSummary | CoverageTimeline> {
    const key = JSON.stringify([type, subject.account, subject.relays]);
    const kept = this.#kept.get(key);
    if (kept?.resting === true) {
      kept.askedAgain = true;
      return kept.summary;
    }
    const startedMs = this.#clock.monotonicMs();
    const entry: Kept = {
      summary: this.#thread.ask({ type, path: this.#path, subject }),
      resting: true,
      askedAgain: false,
    };
    this.#kept.set(key, entry);
    entry.summary.then(
      () => {
        const restMs = REST_FACTOR * (this.#clock.monotonicMs() - startedMs);
        const stop = this.#clock.after(restMs, () => {
          this.#stopTimers.delete(stop);
          entry.resting = false;
          if (entry.askedAgain) this.#onRested();
        });
        this.#stopTimers.add(stop);
      },
      () => this.#kept.delete(key),
    );
    return entry.summary;
  }
}
