import { recordPage } from '../coverage/record-page.ts';
import type { Attempt, Range } from '../coverage/range-history.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import { PageCollector, type CollectedPage } from './page-collector.ts';
import { pageRecord } from './page-record.ts';
import type { PagingContext } from './paging-attempt.ts';
import { afterUnfinishedAnswer, type Troubles } from './unfinished-answer.ts';

/** How fetching bodies by ID ended. */
export interface BodyFetchEnd {
  /** IDs that were asked for and not returned, or not asked for any more. */
  notFetched: number;
  /** Why asking was given up, or null when every ID was asked for. */
  reason: string | null;
}

const BATCH = 100;
const SMALLEST_BATCH = 20;
const NO_TROUBLES: Troubles = { disconnects: 0, refusedLimits: 0, busy: 0, rateLimits: 0 };

/**
 * Fetches the bodies of named IDs in batches while more may still be named. What does not come is asked for once more
 * and then left as *not fetched* (design §5); every batch is committed as it arrives.
 */
export class BodyFetch {
  readonly #context: PagingContext;
  readonly #range: Range;
  readonly #attempt: Attempt;
  #queue: string[] = [];
  #again: string[] = [];
  #batch = BATCH;
  #troubles = NO_TROUBLES;
  #notFetched = 0;
  #stopped: string | null = null;
  #working: Promise<void> | null = null;
  #defect: Error | null = null;

  constructor(context: PagingContext, range: Range, attempt: Attempt) {
    this.#context = context;
    this.#range = range;
    this.#attempt = attempt;
  }

  /** Asks for more bodies, by ID (64 hex characters). */
  add(ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.#queue.push(...ids);
    this.#working ??= this.#work()
      // Nobody waits yet; `finish` tells of it.
      .catch((error: unknown) => {
        this.#defect = error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        this.#working = null;
      });
  }

  /** Resolves when everything that was added was asked for, and once more what did not come. Rejects when a batch could not be stored. */
  async finish(): Promise<BodyFetchEnd> {
    await this.#working;
    if (this.#defect !== null) throw this.#defect;
    const again = this.#again;
    this.#again = [];
    for (let start = 0; start < again.length && this.#stopped === null; start += this.#batch) {
      const ids = again.slice(start, start + this.#batch);
      const missing = await this.#ask(ids);
      this.#notFetched += missing.length;
    }
    return { notFetched: this.#notFetched, reason: this.#stopped };
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0 && this.#stopped === null && this.#defect === null) {
      this.#again.push(...(await this.#ask(this.#queue.splice(0, this.#batch))));
    }
  }

  /** @returns the IDs that did not come. */
  async #ask(ids: readonly string[]): Promise<string[]> {
    const request: RelayFilter = { ids: [...ids], limit: ids.length };
    for (;;) {
      const collector = new PageCollector(this.#context.verifier, { ...this.#range.filter, ...request });
      const result = await this.#context.connection.query(request, {
        onEvent: (event) => collector.add(event),
        signal: this.#context.signal,
        idleTimeoutMs: this.#context.idleTimeoutMs,
      });
      if (!result.sent) {
        this.#stopped = result.failure.message;
        return [...ids];
      }
      const page = await collector.finish();
      const missing = await this.#record(request, result.outcome, page);
      if (isFinished(result.outcome.ending)) {
        this.#troubles = NO_TROUBLES;
        // A relay that returns fewer bodies than asked for may cap its answers: it is asked for fewer for a while.
        if (missing.length === 0) this.#batch = Math.min(BATCH, this.#batch * 2);
        else if (page.events.length > 0)
          this.#batch = Math.max(SMALLEST_BATCH, Math.min(this.#batch, page.events.length));
        return missing;
      }
      const next = afterUnfinishedAnswer(result.outcome, this.#troubles, ids.length, this.#context.connection.url);
      if (next.type === 'stop') {
        if (next.lost) this.#stopped = next.reason;
        return missing;
      }
      this.#troubles = next.troubles;
    }
  }

  async #record(request: RelayFilter, outcome: QueryOutcome, page: CollectedPage): Promise<string[]> {
    const recorded = await recordPage(
      this.#context.db,
      pageRecord({ range: this.#range, attempt: this.#attempt }, request, outcome, page),
      () => ({ cursor: null, checkpoint: NEGENTROPY_CHECKPOINT, covered: null, end: null }),
    );
    this.#context.progress.addBodies({ fetched: page.events.length, newlyArchived: recorded.newlyArchived });
    const came = new Set(page.events.map((event: SignedEvent) => event.id));
    return (request.ids ?? []).filter((id) => !came.has(id));
  }
}

/** A reconciliation keeps no cursor: gone on with, it compares anew or asks for the bodies that are missing. */
export const NEGENTROPY_CHECKPOINT = { version: 'negentropy-1' };
