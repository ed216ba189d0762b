import { setImmediate } from 'node:timers/promises';
import type { DeliveryTotals, Narrowing, RunProgress } from '../../preload/contract.ts';
import { readAccount, readAccountById, type Account } from '../accounts/account-store.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import type { AccountTurns } from '../coverage/account-turns.ts';
import { Beginnings } from '../coverage/beginnings.ts';
import { CancelWatch } from '../coverage/cancel-watch.ts';
import { UnrecordedEnds } from '../coverage/unrecorded-ends.ts';
import { unfinishedDeliveries } from '../coverage/delivery-totals.ts';
import { readRun, reopenRun, settleInterrupted, type RunSnapshot } from '../coverage/run-history.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import type { Random } from '../platform/random.ts';
import type { RelayDirectory } from '../relays/relay-directory.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';
import { readShares } from './delivery-rows.ts';
import { beginSync } from './delivery-snapshot.ts';
import { beginReverifying, reopenDeliveries, reopenRefused } from './delivery-reopening.ts';
import type { EligibilityIndex } from './eligibility-index.ts';
import { checkNarrowing } from './narrowing.ts';
import { selectForSync } from './sync-selection.ts';
import { recordSyncEnd } from './record-sync-end.ts';
import { RelayDeliveries, type ShareEnd } from './relay-deliveries.ts';
import { beginReverification, chooseVerified, endReverification, groupByRelay } from './reverification.ts';
import { RelaySyncProgress, RunSyncProgress } from './sync-progress.ts';
import { settleFinishedSyncs } from './sync-status.ts';

export interface SyncServiceOptions {
  db: WritableDatabase;
  relays: RelayDirectory;
  verifier: EventVerifier;
  eligibility: Pick<EligibilityIndex, 'caughtUp'>;
  clock: Clock;
  random: Random;
  turns: AccountTurns;
  /** Says why a narrowing selects nothing. */
  sayNothingToSend: (account: Account, request: Pick<SyncRequest, 'narrowing' | 'includeRefused'>) => Promise<Fault>;
  /** Called, often, when something goes on. */
  onProgress: () => void;
  /** Called when runs or deliveries have changed. */
  onChange: () => void;
  log: (line: string) => void;
  idleTimeoutMs?: number;
}

export interface SyncRequest {
  /** 64 hex characters. */
  account: string;
  narrowing: Narrowing;
  /** Also what a relay refused for a lasting reason before. */
  includeRefused: boolean;
}

/** One relay's share of what a launch does: everything unfinished, or a look at these deliveries. */
interface Task {
  relayId: number;
  key: string;
  url: string;
  reverify: readonly number[] | null;
  /** How its deliveries stand now. */
  totals: DeliveryTotals;
}

interface ActiveRun {
  id: number;
  account: Account;
  boundary: number;
  progress: RunSyncProgress;
  cancel: AbortController;
  ended: Promise<void>;
}

const DEFAULT_IDLE_TIMEOUT_MS = 30_000;

/** Runs syncs: one run at a time for an account, its relays side by side. Nothing is ever sent without a command. */
export class SyncService {
  readonly #options: SyncServiceOptions;
  readonly #active = new Map<number, ActiveRun>();
  readonly #unrecorded: UnrecordedEnds;
  readonly #beginnings = new Beginnings();
  readonly #cancelWatch: CancelWatch;

  constructor(options: SyncServiceOptions) {
    this.#options = options;
    this.#unrecorded = new UnrecordedEnds({
      ...options,
      settle: async (run, now) => {
        await settleFinishedSyncs(options.db, now, run);
        await settleInterrupted(options.db, now, run);
      },
    });
    this.#cancelWatch = new CancelWatch({
      ...options,
      isNeeded: () => this.#active.size > 0,
      onRequest: (run) => this.cancel(run),
    });
  }

  /**
   * Snapshots exactly the candidates of now, as far as they are within the narrowing, and begins to send them.
   *
   * @returns the run's number, and how many copies it is to bring; it goes on in the background (see {@link SyncService.ended}).
   * @throws Fault `unknown-account`, `unknown-relay`, `invalid-argument`, `nothing-to-do`, `already-active`.
   */
  start(request: SyncRequest): Promise<{ run: number; copies: number }> {
    return this.#beginnings.during(() => this.#start(request));
  }

  async #start(request: SyncRequest): Promise<{ run: number; copies: number }> {
    const { db, clock, eligibility } = this.#options;
    checkNarrowing(request.narrowing);
    const account = await readAccount(db, request.account);
    return this.#inTurn(account, async () => {
      const selection = await selectForSync(db, { ...request, account, now: nowSeconds(clock) }, () =>
        eligibility.caughtUp(),
      );
      const copies = selection.shares.reduce((sum, { candidates }) => sum + candidates.length, 0);
      if (copies === 0) throw await this.#options.sayNothingToSend(account, request);
      this.#beginnings.refuseWhileClosing();
      const run = await beginSync(db, selection);
      this.#launch(
        { id: run, boundary: selection.boundary, startedAt: nowSeconds(clock) },
        account,
        await this.#tasks(run, () => true),
      );
      return { run, copies };
    });
  }

  /**
   * Goes on with an unfinished sync: what was sent and is not known to have arrived is looked for first; what is verified is
   * never sent again.
   *
   * @throws Fault `unknown-run`, `nothing-to-do`, `already-active`.
   */
  resume(runId: number): Promise<void> {
    return this.#beginnings.during(() => this.#resume(runId));
  }

  async #resume(runId: number): Promise<void> {
    const { run, account } = await this.#read(runId);
    await this.#inTurn(account, async () => {
      await this.#reopenDeliveries(runId);
      const tasks = await this.#tasks(runId, (totals) => unfinishedDeliveries(totals) > 0);
      if (tasks.length === 0) {
        throw new Fault('nothing-to-do', `Run ${runId} has nothing left to resume.`, { run: runId });
      }
      await this.#reopen(run, account, tasks);
    });
  }

  /**
   * Sends once more, on demand, what relays refused in a run, and goes on with the run.
   *
   * @param relay only what this relay refused.
   * @throws Fault `unknown-run`, `unknown-relay`, `nothing-to-do`, `already-active`.
   */
  retryRefused(runId: number, relay?: string): Promise<void> {
    return this.#beginnings.during(() => this.#retryRefused(runId, relay));
  }

  async #retryRefused(runId: number, relay?: string): Promise<void> {
    const { db } = this.#options;
    const { run, account } = await this.#read(runId);
    const relayId = relay === undefined ? null : await this.#relayOfRun(runId, relay);
    await this.#inTurn(account, async () => {
      const refused = await reopenRefused(db, runId, relayId);
      if (refused === 0) {
        throw new Fault(
          'nothing-to-do',
          `Nothing was refused in run ${runId}${relay === undefined ? '' : ` by ${relay}`}.`,
          {
            run: runId,
          },
        );
      }
      await this.#reopenDeliveries(runId);
      await this.#reopen(run, account, await this.#tasks(runId, (totals) => unfinishedDeliveries(totals) > 0));
    });
  }

  /**
   * Looks once more for copies that were verified, and sends nothing.
   *
   * @param sample a random sample of so many of them; all when it is left out.
   * @throws Fault `unknown-run`, `nothing-to-do`, `already-active`.
   */
  reverify(runId: number, sample?: number): Promise<void> {
    return this.#beginnings.during(() => this.#reverify(runId, sample));
  }

  async #reverify(runId: number, sample?: number): Promise<void> {
    const { db, random, clock } = this.#options;
    const { run, account } = await this.#read(runId);
    await this.#inTurn(account, async () => {
      const chosen = await chooseVerified(db, runId, sample ?? null, random);
      if (chosen.length === 0) {
        throw new Fault('nothing-to-do', `Run ${runId} has no verified copies to look at again.`, { run: runId });
      }
      const byRelay = groupByRelay(chosen);
      await beginReverification(db, runId, { copies: chosen.length, atMs: clock.nowMs() });
      await beginReverifying(
        db,
        runId,
        chosen.map(({ id }) => id),
      );
      const tasks = await this.#tasks(runId, (_, relayId) => byRelay.has(relayId));
      await this.#reopen(
        run,
        account,
        tasks.map((task) => ({ ...task, reverify: byRelay.get(task.relayId) ?? [] })),
      );
    });
  }

  /** Stops a run cleanly; it stays resumable. False when it is not running here. */
  cancel(runId: number): boolean {
    const run = this.#active.get(runId);
    run?.cancel.abort(new Error('Cancelled. What was sent is recorded; Resume goes on from there.'));
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

  /** Stops everything cleanly and waits until what was sent is recorded. */
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
      cancel.abort(new Error('Holdfast was closed. What was sent is recorded; Resume goes on from there.'));
    }
    return runs;
  }

  /** Keeps the account's turn while a run is being begun, which may take a moment. */
  async #inTurn<T>(account: Account, begin: () => Promise<T>): Promise<T> {
    this.#beginnings.refuseWhileClosing();
    const release = this.#options.turns.reserve(account.pubkey);
    try {
      return await begin();
    } finally {
      release();
    }
  }

  async #read(runId: number): Promise<{ run: RunSnapshot; account: Account }> {
    const { db } = this.#options;
    const run = await readRun(db, runId);
    if (run.type !== 'sync') throw new Fault('unknown-run', `Run ${runId} is no sync.`, { run: runId });
    return { run, account: await readAccountById(db, run.accountId) };
  }

  async #relayOfRun(runId: number, url: string): Promise<number> {
    const { key } = parseRelayUrl(url);
    const share = (await readShares(this.#options.db, runId)).find((candidate) => candidate.key === key);
    if (share === undefined) {
      throw new Fault('unknown-relay', `Run ${runId} sends nothing to ${url}.`, { run: runId, relay: url });
    }
    return share.relayId;
  }

  async #tasks(
    runId: number,
    isConcerned: (totals: Awaited<ReturnType<typeof readShares>>[number]['totals'], relayId: number) => boolean,
  ): Promise<Task[]> {
    const shares = await readShares(this.#options.db, runId);
    // Counting a large run took a while.
    await setImmediate();
    return shares
      .filter(({ totals, relayId }) => isConcerned(totals, relayId))
      .map(({ relayId, key, url, totals }) => ({ relayId, key, url, totals, reverify: null }));
  }

  /** What a crash broke off is over: what follows is told apart from it. */
  async #reopenDeliveries(runId: number): Promise<void> {
    const { db, clock } = this.#options;
    await endReverification(db, runId, clock.nowMs());
    await reopenDeliveries(db, runId, clock.nowMs());
  }

  async #reopen(run: RunSnapshot, account: Account, tasks: readonly Task[]): Promise<void> {
    this.#beginnings.refuseWhileClosing();
    await reopenRun(this.#options.db, run.id);
    this.#launch({ ...run, startedAt: nowSeconds(this.#options.clock) }, account, tasks);
  }

  #launch(run: { id: number; boundary: number; startedAt: number }, account: Account, tasks: readonly Task[]): void {
    const { clock, onProgress, onChange, relays, turns } = this.#options;
    // A person asked: a relay that is backing off gets its chance now.
    for (const { url } of tasks) relays.connection(url).retryNow();
    const shares = tasks.map((task) => {
      const progress = new RelaySyncProgress(task.url, clock, onProgress);
      progress.setTotals(task.totals);
      return { task, progress };
    });
    const active: ActiveRun = {
      id: run.id,
      account,
      boundary: run.boundary,
      progress: new RunSyncProgress(
        { run: run.id, account: account.pubkey, startedAt: run.startedAt },
        shares.map(({ progress }) => progress),
      ),
      cancel: new AbortController(),
      ended: Promise.resolve(),
    };
    this.#active.set(run.id, active);
    turns.take(account.pubkey, run.id);
    this.#unrecorded.forget(run.id);
    active.ended = this.#work(active, shares)
      .catch((error: unknown) => this.#unrecorded.add(run.id, error, onChange))
      .finally(() => {
        this.#active.delete(run.id);
        turns.giveBack(account.pubkey, run.id);
        onChange();
      });
    this.#cancelWatch.wake();
    onChange();
  }

  async #work(active: ActiveRun, shares: readonly { task: Task; progress: RelaySyncProgress }[]): Promise<void> {
    const { db, clock } = this.#options;
    const settled = await Promise.allSettled(
      shares.map(({ task, progress }) => this.#workOnRelay(active, task, progress)),
    );
    const ends = settled.map((share) => {
      if (share.status === 'rejected') throw share.reason;
      return share.value;
    });
    await recordSyncEnd(db, active.id, {
      ends,
      reverified: shares.reduce((sum, { task }) => sum + (task.reverify?.length ?? 0), 0),
      cancelled: active.cancel.signal.aborted,
      nowMs: clock.nowMs(),
    });
  }

  /** A defect of ours in one relay's share must not take the others down; where nothing can be recorded, all of them end. */
  async #workOnRelay(active: ActiveRun, task: Task, progress: RelaySyncProgress): Promise<ShareEnd> {
    const { log } = this.#options;
    const { signal } = active.cancel;
    try {
      const share = this.#share(active, task, progress);
      const end: ShareEnd = await (task.reverify === null ? share.deliver() : share.reverify(task.reverify));
      progress.finish(signal.aborted && end.status !== 'complete' ? 'cancelled' : end.status, end.reason);
      return end;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`run ${active.id}, ${task.url}: ${error instanceof Error ? (error.stack ?? reason) : reason}`);
      progress.finish('failed', reason);
      if (!(error instanceof Fault)) return { status: 'failed', reason, unlooked: task.reverify?.length ?? 0 };
      active.cancel.abort(error);
      throw error;
    }
  }

  #share(active: ActiveRun, task: Task, progress: RelaySyncProgress): RelayDeliveries {
    const { db, verifier, clock, relays, eligibility, idleTimeoutMs, onChange } = this.#options;
    return new RelayDeliveries({
      db,
      verifier,
      clock,
      connection: relays.connection(task.url),
      signal: active.cancel.signal,
      idleTimeoutMs: idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      progress,
      onRecorded: onChange,
      eligibilityCaughtUp: () => eligibility.caughtUp(),
      share: {
        runId: active.id,
        relayId: task.relayId,
        accountId: active.account.id,
        author: active.account.pubkey,
        relayKey: task.key,
        boundary: active.boundary,
      },
    });
  }
}
