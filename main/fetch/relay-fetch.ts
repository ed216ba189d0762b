import type { RangeStatus, RunType } from '../../preload/contract.ts';
import { readFetchState } from '../coverage/fetch-state.ts';
import {
  beginAttempt,
  latestAttempt,
  openRange,
  rangesWithLatestAttempt,
  type Attempt,
  type Range,
} from '../coverage/range-history.ts';
import { warnRun } from '../coverage/run-history.ts';
import { unfinishedRanges } from '../coverage/unfinished-ranges.ts';
import { nowSeconds } from '../platform/clock.ts';
import { runPagingAttempt, type AttemptEnd, type PagingContext } from './paging-attempt.ts';
import { clockWarning, planNewer, type Bounds } from './relay-plan.ts';

/** One relay's share of a run. */
export interface RelayTask {
  runId: number;
  type: Extract<RunType, 'fetch' | 'recheck' | 'refetch'>;
  account: { id: number; pubkey: string };
  /** T and the page limit as the run was begun with. */
  boundary: number;
  pageLimit: number;
  /** For refetch and Resume: exactly these ranges. For fetch and recheck on a fresh relay: empty. */
  ranges: readonly { range: Range; mode: 'continue' | 'repeat' }[];
  /** Whether, after `ranges`, the relay is brought up to T (fetch) or asked from Beginning (recheck). */
  planned: boolean;
}

/** How a relay's share of a run ended: the worst of its ranges, and when unfinished, why. */
export interface RelayEnd {
  status: Exclude<RangeStatus, 'active'>;
  reason: string | null;
}

/**
 * Does one relay's share of a run, range after range. A relay that cannot be asked any further ends its share; other
 * relays do not notice. Never throws because of a relay.
 */
export async function fetchFromRelay(context: PagingContext, task: RelayTask): Promise<RelayEnd> {
  const share = new RelayShare(context, task);
  return share.run();
}

class RelayShare {
  readonly #context: PagingContext;
  readonly #task: RelayTask;
  readonly #ends: AttemptEnd[] = [];

  constructor(context: PagingContext, task: RelayTask) {
    this.#context = context;
    this.#task = task;
  }

  async run(): Promise<RelayEnd> {
    for (const { range, mode } of this.#task.ranges) {
      if (this.#isLost()) break;
      await this.#attempt(range, mode, await latestAttempt(this.#context.db, range.id));
    }
    if (this.#task.planned && !this.#isLost()) {
      if (this.#task.type === 'recheck') await this.#ask({ since: null, until: this.#task.boundary });
      else if (this.#task.type === 'fetch') await this.#bringUpToBoundary();
    }
    return summarize(this.#ends);
  }

  /** Fetch: go on with what is unfinished, then ask for what is newer. */
  async #bringUpToBoundary(): Promise<void> {
    const { db, relayId } = this.#context;
    const { account, boundary, pageLimit, runId } = this.#task;
    const before = await rangesWithLatestAttempt(db, account.id, relayId);
    const tried = new Set(this.#task.ranges.map(({ range }) => range.id));
    for (const { range, attempt } of unfinishedRanges(before)) {
      if (this.#isLost()) return;
      if (!tried.has(range.id)) await this.#attempt(range, 'continue', attempt);
    }
    if (this.#isLost()) return;
    // On Resume the run may have begun its range up to T already: that one was gone on with, or had been completed.
    if (before.some(({ range, attempt }) => attempt.runId === runId && range.until >= boundary)) return;
    const state = await readFetchState(db, account.id, relayId);
    const now = nowSeconds(this.#context.clock);
    const warning = clockWarning(state, now);
    if (warning !== null) await warnRun(db, runId, warning);
    const bounds = planNewer(state, await rangesWithLatestAttempt(db, account.id, relayId), boundary, pageLimit, now);
    if (bounds !== null) await this.#ask(bounds);
  }

  async #ask(bounds: Bounds): Promise<void> {
    const range = await openRange(this.#context.db, {
      accountId: this.#task.account.id,
      relayId: this.#context.relayId,
      filter: { authors: [this.#task.account.pubkey] },
      ...bounds,
    });
    await this.#attempt(range, 'repeat', await latestAttempt(this.#context.db, range.id));
  }

  async #attempt(range: Range, mode: 'continue' | 'repeat', prior: Attempt | null): Promise<void> {
    // A walk is gone on with under the limit it was begun with; a checkpoint of another strategy is never reused.
    const continued = mode === 'continue' && prior?.strategy === 'paging';
    const attempt = await beginAttempt(this.#context.db, {
      rangeId: range.id,
      runId: this.#task.runId,
      strategy: 'paging',
      pageLimit: continued ? prior.pageLimit : this.#task.pageLimit,
      startedAt: nowSeconds(this.#context.clock),
      prior,
      continued,
    });
    this.#ends.push(await runPagingAttempt(this.#context, range, attempt));
  }

  #isLost(): boolean {
    return this.#context.signal.aborted || this.#ends.some((end) => end.lost);
  }
}

function summarize(ends: readonly AttemptEnd[]): RelayEnd {
  const unfinished = ends.filter((end) => end.status !== 'complete');
  const reason = unfinished.at(-1)?.reason ?? null;
  if (unfinished.length === 0) return { status: 'complete', reason };
  return {
    status:
      unfinished.length === ends.length && unfinished.every((end) => end.status === 'failed') ? 'failed' : 'partial',
    reason,
  };
}
