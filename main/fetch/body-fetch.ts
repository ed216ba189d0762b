import { recordPage } from '../coverage/record-page.ts';
import type { Attempt, Range } from '../coverage/range-history.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import { PageCollector, type CollectedPage } from '../coverage/page-collector.ts';
import { pageRecord } from '../coverage/page-record.ts';
import type { PagingContext } from './paging-attempt.ts';
import { afterUnfinishedAnswer, type Troubles } from '../coverage/unfinished-answer.ts';

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
  #largestBatch = BATCH;
  #troubles = NO_TROUBLES;
  #notFetched = 0;
  #stopped: string | null = null;
  #working: Promise<void> | null = null;
  #defect: Error | null = null;
  readonly #failure = new AbortController();
  readonly #abandoned = new AbortController();
  /** Aborts when the run is cancelled, and when this is abandoned. */
  readonly #signal: AbortSignal;

  constructor(context: PagingContext, range: Range, attempt: Attempt) {
    this.#signal = AbortSignal.any([context.signal, this.#abandoned.signal]);
    this.#context = context;
    this.#range = range;
    this.#attempt = attempt;
  }

  /** Aborts when a batch could not be stored: {@link BodyFetch.finish} rejects then, and nothing more is asked for. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  /** Asks for more bodies, by ID (64 hex characters). */
  add(ids: readonly string[]): void {
    this.#queue.push(...ids);
    if (this.#working === null && this.#goesOn()) this.#working = this.#work();
  }

  /** Resolves when everything that was added was asked for, and once more what did not come. Rejects when a batch could not be stored. */
  async finish(): Promise<BodyFetchEnd> {
    await this.#working;
    if (this.#defect !== null) throw this.#defect;
    const again = this.#again.splice(0);
    while (again.length > 0 && this.#stopped === null) {
      this.#notFetched += (await this.#ask(again.splice(0, this.#batch))).length;
    }
    this.#notFetched += again.length + this.#queue.splice(0).length;
    return { notFetched: this.#notFetched, reason: this.#stopped };
  }

  /** Asks for nothing more, whatever was added; resolves when nothing more will be stored. Never rejects. */
  async abandon(): Promise<void> {
    this.#abandoned.abort();
    await this.#working;
  }

  #goesOn(): boolean {
    return this.#queue.length > 0 && this.#stopped === null && this.#defect === null && !this.#abandoned.signal.aborted;
  }

  /** Nobody waits for it while a comparison goes on, so it never rejects. */
  async #work(): Promise<void> {
    try {
      while (this.#goesOn()) this.#again.push(...(await this.#ask(this.#queue.splice(0, this.#batch))));
    } catch (error) {
      this.#defect = error instanceof Error ? error : new Error(String(error));
      this.#failure.abort(this.#defect);
    }
    // In the same step as the last look at the queue, so that what is added next is not left lying.
    this.#working = null;
  }

  /** @returns the IDs that did not come. */
  async #ask(ids: readonly string[]): Promise<string[]> {
    const request: RelayFilter = { ids: [...ids], limit: ids.length };
    for (;;) {
      const collector = new PageCollector(this.#context.verifier, { ...this.#range.filter, ...request });
      const result = await this.#context.connection.query(request, {
        onEvent: (event) => collector.add(event),
        signal: this.#signal,
        idleTimeoutMs: this.#context.idleTimeoutMs,
        onWaiting: (waiting) => this.#context.progress.wait(waiting),
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
        if (missing.length === 0) this.#batch = Math.min(this.#largestBatch, this.#batch * 2);
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
      const smaller = next.lighterLimit ?? next.acceptedLimit;
      if (smaller !== null) return this.#askInSmallerBatches(missing, smaller);
    }
  }

  /** After an answer that was too heavy, or a limit that was refused: what came of it is kept, the rest comes in parts. */
  async #askInSmallerBatches(ids: readonly string[], size: number): Promise<string[]> {
    this.#largestBatch = Math.min(this.#largestBatch, size);
    this.#batch = Math.min(this.#batch, size);
    const missing: string[] = [];
    for (let start = 0; start < ids.length; start += size) {
      const part = ids.slice(start, start + size);
      missing.push(...(this.#stopped === null ? await this.#ask(part) : part));
    }
    return missing;
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
