import type { CopiesSummary, CoverageTimeline } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { RequestThread, workerUrl } from '../platform/request-thread.ts';
import { RestingAnswers } from '../platform/resting-answers.ts';
import type { SummarySubject } from './coverage-summary.ts';
import type { SummaryRequest } from './summary-worker.ts';

/** Computes summaries that read every event of an account, in a thread, one of each kind and account at a time. */
export class SummaryReader {
  readonly #path: string;
  readonly #answers: RestingAnswers<CopiesSummary | CoverageTimeline>;
  readonly #thread = new RequestThread<SummaryRequest, CopiesSummary | CoverageTimeline>(
    workerUrl(import.meta.url, 'summary-worker'),
  );

  /**
   * @param path the database file.
   * @param onRested called when a summary that was given again while it rested may be computed anew: whoever shows it asks once more.
   */
  constructor(path: string, clock: Clock, onRested: () => void) {
    this.#path = path;
    this.#answers = new RestingAnswers(clock, onRested);
  }

  async copies(subject: SummarySubject): Promise<CopiesSummary> {
    return (await this.#read('copies', subject)) as CopiesSummary;
  }

  async timeline(subject: SummarySubject): Promise<CoverageTimeline> {
    return (await this.#read('timeline', subject)) as CoverageTimeline;
  }

  close(): Promise<void> {
    this.#answers.close();
    return this.#thread.close();
  }

  #read(type: SummaryRequest['type'], subject: SummarySubject): Promise<CopiesSummary | CoverageTimeline> {
    const name = JSON.stringify([type, subject.account, subject.relays]);
    return this.#answers.ask(name, () => this.#thread.ask({ type, path: this.#path, subject }));
  }
}
