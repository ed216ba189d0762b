import type { RunType, Strategy, StrategyChoice } from '../../preload/contract.ts';
import { readFetchState } from '../coverage/fetch-state.ts';
import {
  beginAttempt,
  latestAttempt,
  openRange,
  rangesWithLatestAttempt,
  type Attempt,
  type Range,
} from '../coverage/range-history.ts';
import type { RelayEnd } from '../coverage/relay-end.ts';
import { warnRun } from '../coverage/run-history.ts';
import { unfinishedRanges } from '../coverage/unfinished-ranges.ts';
import { nowSeconds } from '../platform/clock.ts';
import { probeHiddenKinds } from './kind-probe.ts';
import { fetchMissingBodies, runNegentropyAttempt, type ReconcilingContext } from './negentropy-attempt.ts';
import { isWorthReconciling } from './negentropy-support.ts';
import { runPagingAttempt, type AttemptEnd } from './paging-attempt.ts';
import { clockWarning, planNewer, type Bounds } from './relay-plan.ts';

/** One relay's share of a run. */
export interface RelayTask {
  runId: number;
  type: Extract<RunType, 'fetch' | 'recheck' | 'refetch'>;
  account: { id: number; pubkey: string };
  /** T, the page limit and the strategy as the run was begun with. */
  boundary: number;
  pageLimit: number;
  strategy: StrategyChoice;
  /** For refetch and Resume: exactly these ranges. For fetch and recheck on a fresh relay: empty. */
  ranges: readonly { range: Range; mode: 'continue' | 'repeat' }[];
  /** Whether, after `ranges`, the relay is brought up to T (fetch) or asked from Beginning (recheck). */
  planned: boolean;
}

/**
 * Does one relay's share of a run, range after range. A relay that cannot be asked any further ends its share; other
 * relays do not notice. Never throws because of a relay.
 */
export async function fetchFromRelay(context: ReconcilingContext, task: RelayTask): Promise<RelayEnd> {
  const share = new RelayShare(context, task);
  return share.run();
}

class RelayShare {
  readonly #context: ReconcilingContext;
  readonly #task: RelayTask;
  readonly #ends: AttemptEnd[] = [];

  constructor(context: ReconcilingContext, task: RelayTask) {
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
    const bounds = planNewer(
      state,
      await rangesWithLatestAttempt(db, account.id, relayId),
      boundary,
      pageLimit,
      now,
      await this.#mayReconcile(),
    );
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
    this.#ends.push(await this.#work(range, mode, prior));
    if (!this.#isLost()) await probeHiddenKinds(this.#context, range);
  }

  /**
   * NIP-77 where it works, else paging, without an error (design §5). A walk by pages that was interrupted is gone on
   * with by pages, from its cursor and under its limit; a checkpoint of one strategy is never read as another's.
   */
  async #work(range: Range, mode: 'continue' | 'repeat', prior: Attempt | null): Promise<AttemptEnd> {
    if (mode === 'continue' && prior !== null) {
      if (prior.strategy === 'negentropy' && prior.status === 'complete') {
        return fetchMissingBodies(this.#context, range, await this.#begin(range, 'negentropy', prior, true));
      }
      if (prior.strategy === 'paging' && prior.cursor !== null) {
        return runPagingAttempt(this.#context, range, await this.#begin(range, 'paging', prior, true));
      }
    }
    if (!(await this.#mayReconcile())) {
      return runPagingAttempt(this.#context, range, await this.#begin(range, 'paging', prior, false));
    }
    const comparison = await this.#begin(range, 'negentropy', prior, false);
    const end = await runNegentropyAttempt(this.#context, range, comparison);
    if (!end.fallBack || this.#task.strategy === 'negentropy') return end;
    return runPagingAttempt(this.#context, range, await this.#begin(range, 'paging', comparison, false));
  }

  #begin(range: Range, strategy: Strategy, prior: Attempt | null, continued: boolean): Promise<Attempt> {
    return beginAttempt(this.#context.db, {
      rangeId: range.id,
      runId: this.#task.runId,
      strategy,
      pageLimit: continued && prior !== null ? prior.pageLimit : this.#task.pageLimit,
      startedAt: nowSeconds(this.#context.clock),
      prior,
      continued,
    });
  }

  async #mayReconcile(): Promise<boolean> {
    const { db, relayId, clock } = this.#context;
    if (this.#task.strategy !== 'auto') return this.#task.strategy === 'negentropy';
    return isWorthReconciling(db, relayId, clock.nowMs());
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
