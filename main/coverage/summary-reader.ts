import type { CopiesSummary, CoverageTimeline } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import type { SummarySubject } from './coverage-summary.ts';
import type { SummaryRequest } from './summary-worker.ts';

/** A summary is not computed again before this many times its own duration have passed: live numbers must not eat a core. */
const REST_FACTOR = 4;

interface Kept {
  summary: Promise<CopiesSummary | CoverageTimeline>;
  /** Monotonic milliseconds; until then the kept summary is given. */
  freshUntilMs: number;
}

/** Computes summaries that read every event of an account, in a thread, one of each kind and account at a time. */
export class SummaryReader {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #thread = new RequestThread<SummaryRequest, CopiesSummary | CoverageTimeline>(
    workerUrl(import.meta.url, 'summary-worker'),
  );

  /** @param path the database file. */
  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  async copies(subject: SummarySubject): Promise<CopiesSummary> {
    return (await this.#read('copies', subject)) as CopiesSummary;
  }

  async timeline(subject: SummarySubject): Promise<CoverageTimeline> {
    return (await this.#read('timeline', subject)) as CoverageTimeline;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  #read(type: SummaryRequest['type'], subject: SummarySubject): Promise<CopiesSummary | CoverageTimeline> {
    const key = JSON.stringify([type, subject.account, subject.relays]);
    const kept = this.#kept.get(key);
    const startedMs = this.#clock.monotonicMs();
    if (kept !== undefined && startedMs < kept.freshUntilMs) return kept.summary;
    const entry: Kept = {
      summary: this.#thread.ask({ type, path: this.#path, subject }),
      freshUntilMs: Number.POSITIVE_INFINITY,
    };
    this.#kept.set(key, entry);
    entry.summary.then(
      () => {
        const nowMs = this.#clock.monotonicMs();
        entry.freshUntilMs = nowMs + REST_FACTOR * (nowMs - startedMs);
      },
      () => this.#kept.delete(key),
    );
    return entry.summary;
  }
}
