import type { RangeStatus } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import type { PageRequest } from '../coverage/arrived-page.ts';
import { endAttempt, type Attempt, type Range } from '../coverage/range-history.ts';
import { recordPage, type PageOutcome } from '../coverage/record-page.ts';
import type { WindowsCheckpoint } from '../coverage/windows-checkpoint.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { RelayFetchProgress } from '../coverage/fetch-progress.ts';
import type { CollectedPage } from '../coverage/page-collector.ts';
import { askPage, type PageQuery } from '../coverage/page-query.ts';
import { pageRecord } from '../coverage/page-record.ts';
import { readRelayHints, writeRelayHints, type PagingHints } from '../coverage/relay-hints.ts';
import { afterUnfinishedAnswer, type Troubles } from '../coverage/unfinished-answer.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { QueryOutcome, Waiting } from '../relays/relay-query.ts';
import { endOfWalk, judgeWindow, postponeWindow, type Window, type WindowWalk } from './window-walk.ts';

export interface WindowsContext {
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

/** How an attempt ended; `lost` says that the relay could not be asked any further, so its other windows need not be tried. */
export interface WindowsEnd {
  status: Exclude<RangeStatus, 'active'>;
  reason: string;
  lost: boolean;
}

const NO_TROUBLES: Troubles = { disconnects: 0, refusedLimits: 0, busy: 0, rateLimits: 0 };

/**
 * Asks for windows that the first version left, one after another under its rules. Every answer is committed with its bodies,
 * its evidence and the windows left after it, so that a crash loses no window. What arrives is positive evidence; nothing
 * is concluded from what does not. Never throws because of a relay.
 *
 * @param established whether an earlier attempt of the same walk established anything.
 */
export async function runWindowsAttempt(
  context: WindowsContext,
  range: Range,
  attempt: Attempt,
  walk: WindowWalk,
  established: boolean,
): Promise<WindowsEnd> {
  const hints = await readRelayHints(context.db, context.relayId);
  return new WindowsAttempt(context, range, attempt, { walk, established, hints }).run();
}

/** The walk as it is stored with an attempt. */
export function toCheckpoint({ pending, full }: WindowWalk): WindowsCheckpoint {
  return { version: 'legacy-windows-1', pending: [...pending], full: [...full] };
}

class WindowsAttempt {
  readonly #context: WindowsContext;
  readonly #range: Range;
  readonly #attempt: Attempt;
  #walk: WindowWalk;
  #hints: PagingHints;
  /** Whether anything was established: an answer was finished, or an event found. */
  #established: boolean;
  #troubles: Troubles = NO_TROUBLES;
  /** Fewer events an answer from here on, because larger ones were too heavy. */
  #lighterLimit: number | null = null;
  /** Why the relay had to be waited for last: told when it is given up before it answered. */
  #lastWait: string | null = null;

  constructor(
    context: WindowsContext,
    range: Range,
    attempt: Attempt,
    from: { walk: WindowWalk; established: boolean; hints: PagingHints },
  ) {
    this.#context = context;
    this.#range = range;
    this.#attempt = attempt;
    this.#walk = from.walk;
    this.#hints = from.hints;
    this.#established = from.established;
  }

  async run(): Promise<WindowsEnd> {
    this.#context.progress.beginRange(this.#range.since, this.#range.until);
    for (;;) {
      const [window] = this.#walk.pending;
      const end = window === undefined ? await this.#endUnasked() : await this.#take(this.#ask(window));
      if (end !== null) return end;
    }
  }

  #ask({ since, until }: Window): PageQuery {
    const onWaiting = (waiting: Waiting | null): void => {
      this.#lastWait = waiting?.reason ?? this.#lastWait;
      this.#context.progress.wait(waiting);
    };
    this.#context.progress.enter('fetching');
    return askPage({ ...this.#context, onWaiting }, { ...this.#range.filter, since, until, limit: this.#limit() });
  }

  /** The old limit, unless this relay refuses one as large. */
  #limit(): number {
    const { pageLimit } = this.#attempt;
    return Math.min(pageLimit, this.#hints.acceptedLimit ?? pageLimit, this.#lighterLimit ?? pageLimit);
  }

  async #take(query: PageQuery): Promise<WindowsEnd | null> {
    const result = await query.result;
    if (!result.sent) return this.#giveUp(result.failure.message);
    const { outcome } = result;
    const page = await query.collector.finish();
    if (!isFinished(outcome.ending)) return this.#takeFragment(query.request, outcome, page);
    if (outcome.unreadable + outcome.lateEvents > 0) return this.#takeUnclear(query.request, outcome, page);
    return this.#takeAnswer(query.request, outcome, page);
  }

  async #takeAnswer(request: PageRequest, outcome: QueryOutcome, page: CollectedPage): Promise<WindowsEnd | null> {
    const { observedCap } = this.#hints;
    const walk = judgeWindow(this.#walk, {
      received: outcome.received,
      // An answer as large as the relay was ever seen to carry is as full as one that reached the limit.
      limit: Math.min(request.limit, observedCap ?? request.limit),
      more: outcome.ending === 'eose-more',
    });
    const end = walk.pending.length > 0 ? null : endOfWalk(walk);
    await this.#commit(request, outcome, page, walk, () => end);
    this.#troubles = { ...NO_TROUBLES, refusedLimits: this.#troubles.refusedLimits };
    return end === null ? null : { ...end, lost: false };
  }

  /** Finished, but not the whole of what was sent could be read: the window stays, and is asked again when a person says so. */
  async #takeUnclear(request: PageRequest, outcome: QueryOutcome, page: CollectedPage): Promise<WindowsEnd> {
    const end = {
      status: 'partial' as const,
      reason: 'Part of what the relay sent could not be read, so its answer is not taken for the whole.',
    };
    await this.#commit(request, outcome, page, postponeWindow(this.#walk), () => end);
    return { ...end, lost: false };
  }

  /** An unfinished answer: keep what came, leave the windows, and decide whether asking again makes sense. */
  async #takeFragment(request: PageRequest, outcome: QueryOutcome, page: CollectedPage): Promise<WindowsEnd | null> {
    const { db, connection } = this.#context;
    const next = afterUnfinishedAnswer(outcome, this.#troubles, request.limit, connection.url);
    if (next.type === 'stop') {
      const walk = next.lost ? this.#walk : postponeWindow(this.#walk);
      const status = await this.#commit(request, outcome, page, walk, (unique) => ({
        status: this.#unfinishedStatus(unique),
        reason: next.reason,
      }));
      return { status: status ?? 'partial', reason: next.reason, lost: next.lost };
    }
    await this.#commit(request, outcome, page, this.#walk, () => null);
    this.#troubles = next.troubles;
    this.#lighterLimit = next.lighterLimit ?? this.#lighterLimit;
    if (next.acceptedLimit !== null) {
      this.#hints = { ...this.#hints, acceptedLimit: next.acceptedLimit };
      await writeRelayHints(db, this.#context.relayId, this.#hints);
    }
    return null;
  }

  /** Commits an answer and where the walk stands after it. @returns the status that the attempt ended with, if it did. */
  async #commit(
    request: PageRequest,
    outcome: QueryOutcome,
    page: CollectedPage,
    walk: WindowWalk,
    endOf: (unique: number) => PageOutcome['end'],
  ): Promise<WindowsEnd['status'] | null> {
    const { db, progress } = this.#context;
    const scope = { range: this.#range, attempt: this.#attempt };
    const recorded = await recordPage(db, pageRecord(scope, request, outcome, page), (unique) => ({
      cursor: null,
      checkpoint: toCheckpoint(walk),
      // No second counts as covered: a short answer was the old proof, and it is none.
      covered: null,
      end: endOf(unique),
    }));
    this.#walk = walk;
    this.#established ||= recorded.unique > 0 || isFinished(outcome.ending);
    progress.addPage({ ...recorded, reachedSecond: request.since ?? null });
    return recorded.outcome.end?.status ?? null;
  }

  async #giveUp(words: string): Promise<WindowsEnd> {
    const { signal } = this.#context;
    const waited = this.#lastWait === null ? '' : ` Before that: ${this.#lastWait}`;
    const cancelled = signal.reason instanceof Error ? signal.reason.message : 'Cancelled.';
    const reason = signal.aborted ? `${cancelled}${waited}` : words;
    return this.#end({ status: this.#unfinishedStatus(0), reason, lost: true });
  }

  /** Nothing was left to ask for, for example because the process ended right after the last answer. */
  #endUnasked(): Promise<WindowsEnd> {
    return this.#end({ ...endOfWalk(this.#walk), lost: false });
  }

  async #end(end: WindowsEnd): Promise<WindowsEnd> {
    await endAttempt(this.#context.db, this.#attempt.id, end.status, end.reason, nowSeconds(this.#context.clock));
    return end;
  }

  /** Partial keeps something; failed established nothing at all. */
  #unfinishedStatus(unique: number): 'partial' | 'failed' {
    return this.#established || unique > 0 ? 'partial' : 'failed';
  }
}
