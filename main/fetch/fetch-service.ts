import type { RunProgress, RunStatus, RunType, StrategyChoice } from '../../preload/contract.ts';
import {
  isSource,
  readAccount,
  readAccountById,
  readAccountRelays,
  type Account,
  type RoledRelay,
} from '../accounts/account-store.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import type { AccountTurns } from '../coverage/account-turns.ts';
import { Beginnings } from '../coverage/beginnings.ts';
import { CancelWatch } from '../coverage/cancel-watch.ts';
import { UnrecordedEnds } from '../coverage/unrecorded-ends.ts';
import { isResumable, latestAttempt, openRange, rangesOfRun, readRange } from '../coverage/range-history.ts';
import {
  beginRun,
  finishRun,
  readRun,
  reopenRun,
  settleInterrupted,
  warnRun,
  type RunSnapshot,
} from '../coverage/run-history.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import { checkPageLimit } from '../platform/page-limit.ts';
import type { RelayDirectory } from '../relays/relay-directory.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';
import { ClockWatch } from '../platform/clock-watch.ts';
import { RelayFetchProgress, RunFetchProgress } from '../coverage/fetch-progress.ts';
import type { Reconciler } from './reconciler.ts';
import type { RelayEnd } from '../coverage/relay-end.ts';
import { fetchFromRelay, type RelayTask } from './relay-fetch.ts';
import { runStatus } from '../coverage/run-status.ts';

export interface FetchServiceOptions {
  db: WritableDatabase;
  relays: RelayDirectory;
  verifier: EventVerifier;
  reconciler: Reconciler;
  clock: Clock;
  turns: AccountTurns;
  /** Called whenever progress or history may have changed. */
  onChange: (account: string) => void;
  log: (line: string) => void;
  idleTimeoutMs?: number;
}

export interface FetchRequest {
  /** 64 hex characters. */
  account: string;
  recheck: boolean;
  /** URLs to narrow the sources to; all sources when empty. */
  relays: readonly string[];
  pageLimit: number;
  strategy: StrategyChoice;
}

interface ActiveRun {
  id: number;
  account: Account;
  progress: RunFetchProgress;
  cancel: AbortController;
  ended: Promise<void>;
}

interface Source {
  relayId: number;
  url: string;
  task: RelayTask;
}

const DEFAULT_IDLE_TIMEOUT_MS = 30_000;

/** Runs fetches: one run at a time for an account, its relays side by side. */
export class FetchService {
  readonly #options: FetchServiceOptions;
  readonly #active = new Map<number, ActiveRun>();
  readonly #unrecorded: UnrecordedEnds;
  readonly #beginnings = new Beginnings();
  readonly #cancelWatch: CancelWatch;

  constructor(options: FetchServiceOptions) {
    this.#options = options;
    this.#unrecorded = new UnrecordedEnds({
      ...options,
      settle: (run, now) => settleInterrupted(options.db, now, run),
    });
    this.#cancelWatch = new CancelWatch({
      ...options,
      isNeeded: () => this.#active.size > 0,
      onRequest: (run) => this.cancel(run),
    });
  }

  /**
   * Starts a fetch or a recheck; settings and sources are snapshotted now.
   *
   * @returns the run's number; it goes on in the background (see {@link FetchService.ended}).
   * @throws Fault `unknown-account`, `unknown-relay`, `invalid-argument`, `nothing-to-do`, `already-active`.
   */
  start(request: FetchRequest): Promise<number> {
    return this.#beginnings.during(() => this.#start(request));
  }

  async #start(request: FetchRequest): Promise<number> {
    const { db, clock } = this.#options;
    const account = await readAccount(db, request.account);
    checkPageLimit(request.pageLimit);
    const sources = chooseSources(await readAccountRelays(db, account.id), request.relays);
    this.#refuseWhileActive(account);
    const type = request.recheck ? 'recheck' : 'fetch';
    const boundary = nowSeconds(clock);
    const { pageLimit, strategy } = request;
    const runId = await beginRun(db, {
      accountId: account.id,
      type,
      strategy,
      pageLimit,
      boundary,
      sources: sources.map(({ key }) => key),
      warnings: [],
      startedAt: boundary,
    });
    const base = { runId, type, account, boundary, pageLimit, strategy } as const;
    this.#launch(
      { id: runId, type, startedAt: boundary },
      account,
      sources.map(({ relayId, url }) => ({ relayId, url, task: { ...base, ranges: [], planned: true } })),
    );
    return runId;
  }

  /**
   * Goes on with an unfinished run under its saved settings: unfinished ranges from their cursors, and relays whose
   * turn had not come. A range that a later one covered meanwhile is gone on with only when it is the `range` asked for.
   *
   * @throws Fault `unknown-run`, `nothing-to-do`, `already-active`.
   */
  resume(runId: number, range: number | null = null): Promise<void> {
    return this.#beginnings.during(() => this.#resume(runId, range));
  }

  async #resume(runId: number, range: number | null): Promise<void> {
    const { db } = this.#options;
    const run = await readRun(db, runId);
    const account = await readAccountById(db, run.accountId);
    this.#refuseWhileActive(account);
    const sources = await this.#unfinishedSources(run, account, range);
    if (sources.length === 0)
      throw new Fault('nothing-to-do', `Run ${runId} has nothing left to resume.`, { run: runId });
    await reopenRun(db, runId);
    this.#launch({ id: runId, type: run.type, startedAt: nowSeconds(this.#options.clock) }, account, sources);
  }

  /**
   * Repeats exactly the scope of a range as a new run; the earlier attempts stay.
   *
   * @param pageLimit another page limit than the range's last one, for example to close a saturated second.
   * @throws Fault `unknown-range`, `invalid-argument`, `already-active`.
   */
  refetch(rangeId: number, pageLimit: number | null, strategy: StrategyChoice): Promise<number> {
    return this.#beginnings.during(() => this.#refetch(rangeId, pageLimit, strategy));
  }

  async #refetch(rangeId: number, pageLimit: number | null, strategy: StrategyChoice): Promise<number> {
    const { db, clock } = this.#options;
    // Of old windows only the scope is taken: what they hold is never mixed with what proves an inventory.
    const { id: _id, ...scope } = await readRange(db, rangeId);
    const account = await readAccountById(db, scope.accountId);
    const limit = pageLimit ?? (await latestAttempt(db, rangeId))?.pageLimit ?? 100;
    checkPageLimit(limit);
    this.#refuseWhileActive(account);
    const range = await openRange(db, scope);
    const relay = await db
      .selectFrom('relays')
      .select(['key', 'url'])
      .where('id', '=', range.relayId)
      .executeTakeFirstOrThrow();
    const startedAt = nowSeconds(clock);
    const runId = await beginRun(db, {
      accountId: account.id,
      type: 'refetch',
      strategy,
      pageLimit: limit,
      boundary: range.until,
      sources: [relay.key],
      warnings: [],
      startedAt,
    });
    const task: RelayTask = {
      runId,
      type: 'refetch',
      account,
      boundary: range.until,
      pageLimit: limit,
      strategy,
      ranges: [{ range, mode: 'repeat' }],
      planned: false,
    };
    this.#launch({ id: runId, type: 'refetch', startedAt }, account, [
      { relayId: range.relayId, url: relay.url, task },
    ]);
    return runId;
  }

  /** Stops a run cleanly; it stays resumable. False when it is not running here. */
  cancel(runId: number): boolean {
    const run = this.#active.get(runId);
    run?.cancel.abort(new Error('Cancelled. What had arrived is kept; Resume goes on from there.'));
    return run !== undefined;
  }

  /**
   * Resolves when a run that is active here has ended; at once when it is not.
   *
   * @throws what kept its end from being recorded, such as a Fault `storage`.
   */
  async ended(runId: number): Promise<void> {
    await this.#active.get(runId)?.ended;
    this.#unrecorded.throwIfAny(runId);
  }

  progress(): RunProgress[] {
    return [...this.#active.values()].map((run) => run.progress.snapshot());
  }

  /** Stops everything cleanly and waits until the last page is committed. */
  async close(): Promise<void> {
    const begun = this.#beginnings.close();
    this.#cancelWatch.close();
    this.#cancelAll();
    await begun;
    await Promise.all(this.#cancelAll().map((run) => run.ended));
    await this.#unrecorded.close();
  }

  #cancelAll(): ActiveRun[] {
    const runs = [...this.#active.values()];
    for (const { cancel } of runs) {
      cancel.abort(new Error('Holdfast was closed. What had arrived is kept; Resume goes on from there.'));
    }
    return runs;
  }

  #refuseWhileActive(account: Account): void {
    this.#beginnings.refuseWhileClosing();
    this.#options.turns.refuseWhileActive(account.pubkey);
  }

  async #unfinishedSources(run: RunSnapshot, account: Account, wanted: number | null): Promise<Source[]> {
    const { db } = this.#options;
    if (run.type !== 'fetch' && run.type !== 'recheck' && run.type !== 'refetch') return [];
    const ranges = await rangesOfRun(db, run.id);
    const relays = await db.selectFrom('relays').select(['id', 'key', 'url']).where('key', 'in', run.sources).execute();
    const sources: Source[] = [];
    for (const relay of relays) {
      const own = ranges.filter(({ range }) => range.relayId === relay.id);
      const unfinished = own.filter(
        ({ range, attempt, closedBy }) => isResumable(attempt) && (closedBy === null || range.id === wanted),
      );
      if (own.length > 0 && unfinished.length === 0) continue;
      sources.push({
        relayId: relay.id,
        url: relay.url,
        task: {
          runId: run.id,
          type: run.type,
          account,
          boundary: run.boundary,
          pageLimit: run.pageLimit,
          strategy: run.strategy,
          ranges: unfinished.map(({ range }) => ({ range, mode: 'continue' as const })),
          planned: run.type === 'fetch' || (run.type === 'recheck' && own.length === 0),
        },
      });
    }
    return sources;
  }

  #launch(run: { id: number; type: RunType; startedAt: number }, account: Account, sources: readonly Source[]): void {
    const { clock, onChange } = this.#options;
    const changed = (): void => onChange(account.pubkey);
    // A person asked: a relay that is backing off gets its chance now.
    for (const source of sources) this.#options.relays.connection(source.url).retryNow();
    const progresses = sources.map((source) => new RelayFetchProgress(source.url, clock, changed));
    const progress = new RunFetchProgress(
      { run: run.id, type: run.type, account: account.pubkey, startedAt: run.startedAt },
      progresses,
    );
    const active: ActiveRun = {
      id: run.id,
      account,
      progress,
      cancel: new AbortController(),
      ended: Promise.resolve(),
    };
    this.#active.set(run.id, active);
    this.#options.turns.take(account.pubkey, run.id);
    this.#unrecorded.forget(run.id);
    active.ended = this.#work(active, sources, progresses)
      .catch((error: unknown) => this.#unrecorded.add(run.id, error, changed))
      .finally(() => {
        this.#active.delete(run.id);
        this.#options.turns.giveBack(account.pubkey, run.id);
        changed();
      });
    this.#cancelWatch.wake();
    changed();
  }

  async #work(active: ActiveRun, sources: readonly Source[], progresses: readonly RelayFetchProgress[]): Promise<void> {
    const { db, clock } = this.#options;
    const watch = new ClockWatch(clock);
    const settled = await Promise.allSettled(
      sources.map((source, index) => {
        const progress = progresses[index];
        if (progress === undefined) throw new Error('every source has its progress');
        return this.#workOnRelay(active, source, progress);
      }),
    );
    const ends = settled.map((share) => {
      if (share.status === 'rejected') throw share.reason;
      return share.value;
    });
    const warning = watch.warning();
    if (warning !== null) await warnRun(db, active.id, warning);
    const status: RunStatus = runStatus(ends, active.cancel.signal.aborted);
    await finishRun(db, active.id, status, nowSeconds(clock));
  }

  /** A defect of ours in one relay's share must not take the others down: it is logged and shown as that share's failure. */
  async #workOnRelay(active: ActiveRun, source: Source, progress: RelayFetchProgress): Promise<RelayEnd> {
    const { db, verifier, reconciler, clock, relays, log } = this.#options;
    try {
      progress.enter('connecting');
      const end = await fetchFromRelay(
        {
          db,
          verifier,
          reconciler,
          account: active.account.pubkey,
          clock,
          progress,
          relayId: source.relayId,
          connection: relays.connection(source.url),
          signal: active.cancel.signal,
          idleTimeoutMs: this.#options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
        },
        source.task,
      );
      progress.enter(active.cancel.signal.aborted && end.status !== 'complete' ? 'cancelled' : end.status, end.reason);
      return end;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`run ${active.id}, ${source.url}: ${error instanceof Error ? (error.stack ?? reason) : reason}`);
      progress.enter('failed', reason);
      try {
        await this.#endOpenAttempts(active.id, source.relayId, reason);
      } catch (failure) {
        // Where nothing can be recorded, no relay needs to be asked any further.
        active.cancel.abort(failure);
        throw failure;
      }
      return { status: 'partial', reason };
    }
  }

  async #endOpenAttempts(runId: number, relayId: number, reason: string): Promise<void> {
    const { db, clock } = this.#options;
    await db
      .updateTable('attempts')
      .set({ status: 'partial', reason, completed_at: nowSeconds(clock) })
      .where('run_id', '=', runId)
      .where('status', '=', 'active')
      .where('range_id', 'in', (eb) => eb.selectFrom('ranges').select('id').where('relay_id', '=', relayId))
      .execute();
  }
}

function chooseSources(relays: readonly RoledRelay[], wanted: readonly string[]): RoledRelay[] {
  const sources = relays.filter(isSource);
  if (wanted.length > 0) {
    const keys = new Set(wanted.map((url) => parseRelayUrl(url).key));
    for (const key of keys) {
      if (!sources.some((source) => source.key === key)) {
        const readOnly = relays.some((relay) => relay.key === key);
        throw new Fault(
          'unknown-relay',
          readOnly
            ? `${key} is a read-only relay of this account; add it as an extra source to fetch from it.`
            : `${key} is not a source of this account. Add it as a write relay or as an extra source first.`,
          { relay: key },
        );
      }
    }
    return sources.filter((source) => keys.has(source.key));
  }
  if (sources.length === 0) {
    throw new Fault(
      'nothing-to-do',
      'This account has no relay to fetch from. Add a write relay or an extra source first.',
    );
  }
  return sources;
}
