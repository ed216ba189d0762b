import type { RangeStatus } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import { dropArrivedPage, keepArrivedPage, readArrivedPage, type PageRequest } from '../coverage/arrived-page.ts';
import { endAttempt, type Attempt, type Range } from '../coverage/range-history.ts';
import { recordedTimes } from '../coverage/recorded-times.ts';
import { recordPage, type PageOutcome, type PageRecord } from '../coverage/record-page.ts';
import type { WalkCheckpoint } from '../coverage/walk-checkpoint.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { QueryOutcome, Waiting } from '../relays/relay-query.ts';
import type { RelayFetchProgress } from '../coverage/fetch-progress.ts';
import { boundsWhateverIsNew, foreseeBounds, type Bounds } from './foreseen-page.ts';
import { countAnswer, type AnswerSoFar } from './page-answer.ts';
import type { CollectedPage } from '../coverage/page-collector.ts';
import { askPage, replayPage, type PageQuery } from '../coverage/page-query.ts';
import { pageRecord } from '../coverage/page-record.ts';
import { beginWalk, judgePage, nextBounds, type PageAnswer, type WalkState } from './paging-walk.ts';
import { readRelayHints, writeRelayHints, type PagingHints } from '../coverage/relay-hints.ts';
import { afterUnfinishedAnswer, type Troubles } from '../coverage/unfinished-answer.ts';

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

/** Answers above this are not kept: writing them down would hold everything else up, and their checking hides a page's fixed cost. */
const MOST_BYTES_KEPT = 1024 * 1024;

/**
 * Walks a range backwards by pages until it ends, stops, or is cancelled (spec §4, design §3.4 to §3.7). The next page
 * is asked when the last one is committed; or, when what follows can be foreseen, when it has arrived and is kept as it
 * came, so that the relay answers while signatures are checked. Either way at most one page is repeated after a crash.
 * Never throws because of a relay.
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
  /** Whether the present page's answer is kept on disk until it is committed. */
  #isKept = false;
  /** The next page, asked before the present one is committed, and the bounds that were foreseen for it. */
  #ahead: { bounds: Bounds; query: PageQuery } | null = null;
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
    this.#context.progress.beginRange(this.#range.since, this.#range.until);
    try {
      let page = await this.#keptPage();
      for (;;) {
        page ??= this.#ask(this.#bounds());
        const end = await this.#take(page);
        if (end !== null) return end;
        page = this.#ahead?.query ?? null;
        this.#ahead = null;
      }
    } finally {
      // Where something of ours failed.
      await this.#ahead?.query.abandon('Given up.').catch(() => undefined);
    }
  }

  /** What an earlier attempt of this walk received and did not get to commit. */
  async #keptPage(): Promise<PageQuery | null> {
    if (!this.#attempt.continued) return null;
    const { db, verifier } = this.#context;
    const kept = await readArrivedPage(db, this.#attempt.walkId, this.#request(this.#bounds()));
    const page = kept === null ? null : replayPage(verifier, kept);
    // Nothing that was not asked for is ever kept.
    this.#isKept = page !== null && page.collector.arrived.invalid === 0;
    if (this.#isKept) return page;
    await dropArrivedPage(db, this.#attempt.walkId);
    return null;
  }

  #bounds(): Bounds {
    return nextBounds(this.#state, this.#range.since);
  }

  #request({ since, until }: Bounds): PageRequest {
    const { pageLimit } = this.#attempt;
    const limit = Math.min(pageLimit, this.#hints.acceptedLimit ?? pageLimit, this.#lighterLimit ?? pageLimit);
    return { ...this.#range.filter, ...(since === null ? {} : { since }), until, limit };
  }

  #ask(bounds: Bounds): PageQuery {
    const onWaiting = (waiting: Waiting | null): void => {
      this.#lastWait = waiting?.reason ?? this.#lastWait;
      this.#context.progress.wait(waiting);
    };
    this.#context.progress.enter('fetching');
    return askPage({ ...this.#context, onWaiting }, this.#request(bounds));
  }

  async #take(page: PageQuery): Promise<AttemptEnd | null> {
    const result = await page.result;
    if (!result.sent) return this.#giveUp(result.failure.message);
    const { outcome } = result;
    if (!isFinished(outcome.ending)) return this.#takeFragment(page, outcome, await page.collector.finish());
    await this.#askAhead(page, outcome);
    const collected = await page.collector.finish();
    const answer = countAnswer(page.request, outcome, collected);
    await this.#leaveAheadUnlessNext(answer);
    return this.#takePage(page.request, outcome, collected, answer);
  }

  /** Keeps an answer that has arrived and asks for the next page while it is being checked, where that one can be foreseen. */
  async #askAhead({ request, collector }: PageQuery, outcome: QueryOutcome): Promise<void> {
    if (outcome.bytes > MOST_BYTES_KEPT) return;
    const answer = countAnswer(request, outcome, collector.arrived);
    const next = foreseeBounds(this.#state, answer, this.#range.since, this.#hints.observedCap);
    if (next === null || answer.ending === 'eose-finish') return;
    if (!this.#isKept) {
      const { received } = outcome;
      const { events } = collector.arrived;
      const page = { request, ...recordedTimes(outcome), ending: answer.ending, received, events };
      await keepArrivedPage(this.#context.db, this.#attempt.walkId, page);
      this.#isKept = true;
    }
    this.#ahead = { bounds: next, query: this.#ask(next) };
  }

  /**
   * A page whose signatures do not all hold may lead elsewhere than was foreseen. Then what was asked ahead is no page of
   * this walk: it is ended, and what it brought is kept as what it is. This comes before the page itself, with which
   * the walk may end.
   */
  async #leaveAheadUnlessNext(answer: AnswerSoFar): Promise<void> {
    if (this.#ahead === null) return;
    const { bounds, query } = this.#ahead;
    const next = boundsWhateverIsNew(this.#state, answer, this.#range.since, this.#hints.observedCap);
    if (next !== null && next.since === bounds.since && next.until === bounds.until) return;
    const result = await query.abandon('Not needed: the page before it led elsewhere.');
    this.#ahead = null;
    if (result.sent) await this.#commitFragment(query, result.outcome, await query.collector.finish(), null);
  }

  /** A finished answer: judge it, and commit it together with where the walk stands now. */
  async #takePage(
    request: PageRequest,
    outcome: QueryOutcome,
    page: CollectedPage,
    counted: AnswerSoFar,
  ): Promise<AttemptEnd | null> {
    const { db, progress } = this.#context;
    const record = { ...this.#record(request, outcome, page), kept: this.#isKept };
    const recorded = await recordPage(db, record, (unique) =>
      outcomeOf(this.#state, { ...counted, unique }, this.#range, this.#hints),
    );
    this.#isKept = false;
    this.#found += recorded.unique;
    const { decision, end } = recorded.outcome;
    this.#state = decision.state;
    this.#troubles = { disconnects: 0, refusedLimits: this.#troubles.refusedLimits, busy: 0, rateLimits: 0 };
    await this.#learnCap(counted.received, decision.type === 'continue' ? decision.observedCap : null);
    progress.addPage({ ...recorded, reachedSecond: counted.earliest });
    return end === null ? null : { ...end, lost: false };
  }

  /** An unfinished answer: keep what came, leave the cursor, and decide whether asking again makes sense. */
  async #takeFragment(query: PageQuery, outcome: QueryOutcome, page: CollectedPage): Promise<AttemptEnd | null> {
    const { db, connection } = this.#context;
    const next = afterUnfinishedAnswer(outcome, this.#troubles, query.request.limit, connection.url);
    await this.#commitFragment(query, outcome, page, next.type === 'stop' ? next.reason : null);
    if (next.type === 'stop') return { status: this.#unfinishedStatus(0), reason: next.reason, lost: next.lost };
    this.#troubles = next.troubles;
    this.#lighterLimit = next.lighterLimit ?? this.#lighterLimit;
    if (next.acceptedLimit !== null) {
      this.#hints = { ...this.#hints, acceptedLimit: next.acceptedLimit };
      await writeRelayHints(db, this.#context.relayId, this.#hints);
    }
    return null;
  }

  /** Commits what came of an answer that moves nothing; with a reason, the attempt ends by it. */
  async #commitFragment(
    { request }: PageQuery,
    outcome: QueryOutcome,
    page: CollectedPage,
    endReason: string | null,
  ): Promise<void> {
    const { db, progress } = this.#context;
    const recorded = await recordPage(db, this.#record(request, outcome, page), (unique) => ({
      cursor: this.#state.cursor,
      checkpoint: toCheckpoint(this.#state, false),
      covered: null,
      end: endReason === null ? null : { status: this.#unfinishedStatus(unique), reason: endReason },
    }));
    this.#found += recorded.unique;
    progress.addPage({ ...recorded, reachedSecond: null });
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

  #record(request: PageRequest, outcome: QueryOutcome, page: CollectedPage): PageRecord {
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

/** Why a person or the program ended it. */
function cancelledReason(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : 'Cancelled.';
}
