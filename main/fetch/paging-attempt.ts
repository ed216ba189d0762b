import type { QueryEnding, RangeStatus } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import { endAttempt, type Attempt, type Range } from '../coverage/range-history.ts';
import { recordPage, type PageOutcome, type PageRecord } from '../coverage/record-page.ts';
import type { WalkCheckpoint } from '../coverage/walk-checkpoint.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { isPlausibleTime } from '../nostr/plausible-time.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import type { RelayFetchProgress } from './fetch-progress.ts';
import { PageCollector, type CollectedPage } from './page-collector.ts';
import { pageRecord } from './page-record.ts';
import { beginWalk, judgePage, nextBounds, type PageAnswer, type WalkState } from './paging-walk.ts';
import { readRelayHints, writeRelayHints, type PagingHints } from './relay-hints.ts';
import { afterUnfinishedAnswer, MOST_BYTES, MOST_EVENTS, type Troubles } from './unfinished-answer.ts';

export interface PagingContext {
  db: WritableDatabase;
  verifier: EventVerifier;
  clock: Clock;
  connection: RelayConnection;
  relayId: number;
  progress: RelayFetchProgress;
  signal: AbortSignal;
  /** Without a frame for this long a query ends as `timeout`. */
  idleTimeoutMs: number;
}

/** How an attempt ended; `lost` says that the relay could not be asked any further, so other ranges need not be tried. */
export interface AttemptEnd {
  status: Exclude<RangeStatus, 'active'>;
  reason: string;
  lost: boolean;
}

/**
 * Walks a range backwards by pages until it ends, stops, or is cancelled (spec §4, design §3.4 to §3.7). A page is
 * committed before the next one is asked, so at most one page is repeated after a crash. Never throws because of a relay.
 */
export async function runPagingAttempt(context: PagingContext, range: Range, attempt: Attempt): Promise<AttemptEnd> {
  const walk = new PagingAttempt(context, range, attempt, await readRelayHints(context.db, context.relayId));
  return walk.run();
}

class PagingAttempt {
  readonly #context: PagingContext;
  readonly #range: Range;
  readonly #attempt: Attempt;
  #hints: PagingHints;
  #state: WalkState;
  #found: number;
  #troubles: Troubles = { disconnects: 0, refusedLimits: 0, busy: 0, rateLimits: 0 };
  /** Fewer events a page from here on, because larger pages were too heavy. */
  #lighterLimit: number | null = null;
  /** Why the relay had to be waited for last: told when it is given up before it answered. */
  #lastWait: string | null = null;

  constructor(context: PagingContext, range: Range, attempt: Attempt, hints: PagingHints) {
    this.#context = context;
    this.#range = range;
    this.#attempt = attempt;
    this.#hints = hints;
    this.#found = attempt.found;
    this.#state = resumeWalk(range, attempt);
  }

  async run(): Promise<AttemptEnd> {
    const { progress } = this.#context;
    progress.beginRange(this.#range.since, this.#range.until);
    for (;;) {
      const request = this.#nextRequest();
      const collector = new PageCollector(this.#context.verifier, request);
      progress.enter('fetching');
      const result = await this.#context.connection.query(request, {
        onEvent: (event) => collector.add(event),
        signal: this.#context.signal,
        idleTimeoutMs: this.#context.idleTimeoutMs,
        maxEvents: MOST_EVENTS,
        maxBytes: MOST_BYTES,
        onWaiting: (waiting) => {
          this.#lastWait = waiting?.reason ?? this.#lastWait;
          progress.wait(waiting);
        },
      });
      if (!result.sent) return this.#giveUp(result.failure.message);
      const page = await collector.finish();
      const end = isFinished(result.outcome.ending)
        ? await this.#takePage(request, result.outcome, page)
        : await this.#takeFragment(request, result.outcome, page);
      if (end !== null) return end;
    }
  }

  #nextRequest(): RelayFilter {
    const { pageLimit } = this.#attempt;
    const limit = Math.min(pageLimit, this.#hints.acceptedLimit ?? pageLimit, this.#lighterLimit ?? pageLimit);
    const { since, until } = nextBounds(this.#state, this.#range.since);
    return { ...this.#range.filter, ...(since === null ? {} : { since }), until, limit };
  }

  /** A finished answer: judge it, and commit it together with where the walk stands now. */
  async #takePage(request: RelayFilter, outcome: QueryOutcome, page: CollectedPage): Promise<AttemptEnd | null> {
    const { db, clock, progress } = this.#context;
    const now = nowSeconds(clock);
    const times = page.events.map((event) => event.created_at).filter((time) => isPlausibleTime(time, now));
    const recorded = await recordPage(db, this.#record(request, outcome, page), (unique) => {
      const answer: PageAnswer = {
        ending: finishedEnding(outcome.ending),
        limit: request.limit ?? this.#attempt.pageLimit,
        received: outcome.received,
        invalid: page.invalid + outcome.malformed,
        unreadable: outcome.unreadable + outcome.lateEvents,
        valid: page.events.length,
        unique,
        earliest: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)),
        latest: times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b)),
        ordered: times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time)),
      };
      return { ...outcomeOf(this.#state, answer, this.#range, this.#hints), answer };
    });
    this.#found += recorded.unique;
    const { decision, answer } = recorded.outcome;
    this.#state = decision.state;
    this.#troubles = { disconnects: 0, refusedLimits: this.#troubles.refusedLimits, busy: 0, rateLimits: 0 };
    await this.#learnCap(answer.received, decision.type === 'continue' ? decision.observedCap : null);
    progress.addPage({ ...recorded, reachedSecond: answer.earliest });
    if (recorded.outcome.end === null) return null;
    return { ...recorded.outcome.end, lost: false };
  }

  /** An unfinished answer: keep what came, leave the cursor, and decide whether asking again makes sense. */
  async #takeFragment(request: RelayFilter, outcome: QueryOutcome, page: CollectedPage): Promise<AttemptEnd | null> {
    const { db, connection, progress } = this.#context;
    const next = afterUnfinishedAnswer(
      outcome,
      this.#troubles,
      request.limit ?? this.#attempt.pageLimit,
      connection.url,
    );
    const recorded = await recordPage(db, this.#record(request, outcome, page), (unique) => ({
      cursor: this.#state.cursor,
      checkpoint: toCheckpoint(this.#state, false),
      covered: null,
      end: next.type === 'stop' ? { status: this.#unfinishedStatus(unique), reason: next.reason } : null,
    }));
    this.#found += recorded.unique;
    progress.addPage({ ...recorded, reachedSecond: null });
    if (next.type === 'stop') return { status: this.#unfinishedStatus(0), reason: next.reason, lost: next.lost };
    this.#troubles = next.troubles;
    this.#lighterLimit = next.lighterLimit ?? this.#lighterLimit;
    if (next.acceptedLimit !== null) {
      this.#hints = { ...this.#hints, acceptedLimit: next.acceptedLimit };
      await writeRelayHints(db, this.#context.relayId, this.#hints);
    }
    return null;
  }

  async #giveUp(words: string): Promise<AttemptEnd> {
    const waited = this.#lastWait === null ? '' : ` Before that: ${this.#lastWait}`;
    const reason = this.#context.signal.aborted ? `${cancelledReason(this.#context.signal)}${waited}` : words;
    const status = this.#unfinishedStatus(0);
    await endAttempt(this.#context.db, this.#attempt.id, status, reason, nowSeconds(this.#context.clock));
    return { status, reason, lost: true };
  }

  /** Partial keeps something; failed established nothing at all. */
  #unfinishedStatus(unique: number): 'partial' | 'failed' {
    return this.#found + unique > 0 || this.#state.pages > 0 ? 'partial' : 'failed';
  }

  /** A page larger than the remembered cap shows that the cap is no longer true. */
  async #learnCap(received: number, observedCap: number | null): Promise<void> {
    const { observedCap: known } = this.#hints;
    const next = known !== null && received > known ? null : (observedCap ?? known);
    if (next === known) return;
    this.#hints = { ...this.#hints, observedCap: next };
    await writeRelayHints(this.#context.db, this.#context.relayId, this.#hints);
  }

  #record(request: RelayFilter, outcome: QueryOutcome, page: CollectedPage): PageRecord {
    return pageRecord({ range: this.#range, attempt: this.#attempt }, request, outcome, page);
  }
}

function outcomeOf(state: WalkState, answer: PageAnswer, range: Range, hints: PagingHints) {
  const decision = judgePage(state, answer, range.since, hints.observedCap);
  const unpageable = decision.type === 'stop' && decision.unpageable;
  const newlySaturated = decision.state.saturatedSeconds.length > state.saturatedSeconds.length;
  const outcome: PageOutcome = {
    cursor: decision.state.cursor,
    checkpoint: toCheckpoint(decision.state, unpageable),
    covered: coveredBy(state, decision, range),
    end: endOf(decision),
    ...(newlySaturated && state.probing === null ? { ending: 'unpageable' as const } : {}),
  };
  return { ...outcome, decision };
}

/**
 * The seconds a finished page leaves nothing open in: from the cursor it was asked at down to just above the second where
 * the walk stands now, or to the edge of the range at the end.
 */
function coveredBy(before: WalkState, decision: ReturnType<typeof judgePage>, range: Range): PageOutcome['covered'] {
  if (decision.type === 'stop') return null;
  if (decision.type === 'end') return { from: range.since, until: before.cursor };
  const from = decision.state.cursor + 1;
  return from > before.cursor ? null : { from, until: before.cursor };
}

function endOf(decision: ReturnType<typeof judgePage>): PageOutcome['end'] {
  if (decision.type === 'continue') return null;
  return { status: decision.type === 'end' ? 'complete' : 'partial', reason: decision.reason };
}

function resumeWalk(range: Range, attempt: Attempt): WalkState {
  if (attempt.cursor === null || attempt.checkpoint === null) return beginWalk(range.until);
  const { version: _version, unpageable: _unpageable, ...state } = attempt.checkpoint;
  return { ...state, cursor: attempt.cursor };
}

function toCheckpoint(state: WalkState, unpageable: boolean): WalkCheckpoint {
  const { cursor: _cursor, ...kept } = state;
  return { version: 'paging-1', unpageable, ...kept };
}

function finishedEnding(ending: QueryEnding): PageAnswer['ending'] {
  return ending === 'eose-finish' || ending === 'eose-more' ? ending : 'eose';
}

/** Why a person or the program ended it. */
function cancelledReason(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : 'Cancelled.';
}
