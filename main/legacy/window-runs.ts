import type { RunProgress } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import type { AccountTurns } from '../coverage/account-turns.ts';
import { CancelWatch } from '../coverage/cancel-watch.ts';
import { finishRun, settleInterrupted, warnRun } from '../coverage/run-history.ts';
import { UnrecordedEnds } from '../coverage/unrecorded-ends.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { ClockWatch } from '../platform/clock-watch.ts';
import { RelayFetchProgress, RunFetchProgress } from '../coverage/fetch-progress.ts';
import type { RelayEnd } from '../coverage/relay-end.ts';
import { runStatus } from '../coverage/run-status.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import type { RelayDirectory } from '../relays/relay-directory.ts';
import { askForWindows } from './relay-windows.ts';
import type { WindowTask } from './resume-snapshot.ts';

export interface WindowRunsOptions {
  db: WritableDatabase;
  relays: RelayDirectory;
  verifier: EventVerifier;
  clock: Clock;
  turns: AccountTurns;
  /** Called whenever progress or history may have changed. */
  onChange: () => void;
  log: (line: string) => void;
  idleTimeoutMs?: number;
}

/** A run as it was begun or taken up, with what it has to ask. */
export interface WindowRun {
  id: number;
  limit: number;
  tasks: readonly WindowTask[];
  /** Something of its windows stays unfinished though every task ends well. */
  leavesFull: boolean;
}

interface RelayShare {
  relayId: number;
  url: string;
  tasks: WindowTask[];
  progress: RelayFetchProgress;
}

interface ActiveRun {
  id: number;
  limit: number;
  leavesFull: boolean;
  shares: RelayShare[];
  progress: RunFetchProgress;
  cancel: AbortController;
  ended: Promise<void>;
}

const DEFAULT_IDLE_TIMEOUT_MS = 30_000;

/** Runs that go on with old windows: for an account one after another, the relays of each side by side. */
export class WindowRuns {
  readonly #options: WindowRunsOptions;
  readonly #active = new Map<number, ActiveRun>();
  readonly #unrecorded: UnrecordedEnds;
  readonly #cancelWatch: CancelWatch;

  constructor(options: WindowRunsOptions) {
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
   * Begins to work on runs of one account, in the order given. The turn of the account is taken at once and passes from run
   * to run, so that nothing comes in between.
   *
   * @param account 64 hex characters.
   */
  launch(account: string, runs: readonly WindowRun[]): void {
    const { turns, relays } = this.#options;
    const active = runs.map((run) => this.#prepare(account, run));
    // A person asked: a relay that is backing off gets its chance now.
    for (const { shares } of active) for (const { url } of shares) relays.connection(url).retryNow();
    const [first] = active;
    if (first === undefined) return;
    turns.take(account, first.id);
    let before = Promise.resolve();
    active.forEach((run, index) => {
      before = before.then(() => this.#workOn(account, run, active[index + 1] ?? null));
      run.ended = before;
    });
    this.#cancelWatch.wake();
    this.#options.onChange();
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

  /** Stops everything cleanly and waits until the last answer is committed. */
  async close(): Promise<void> {
    this.#cancelWatch.close();
    await Promise.all(this.cancelAll().map((run) => run.ended));
    await this.#unrecorded.close();
  }

  /** Stops every run, because everything closes. */
  cancelAll(): { ended: Promise<void> }[] {
    const runs = [...this.#active.values()];
    for (const { cancel } of runs) {
      cancel.abort(new Error('Holdfast was closed. What had arrived is kept; Resume goes on from there.'));
    }
    return runs;
  }

  #prepare(account: string, run: WindowRun): ActiveRun {
    const { clock, onChange } = this.#options;
    const shares = new Map<number, RelayShare>();
    for (const task of run.tasks) {
      const { relayId, url } = task.range;
      const share = shares.get(relayId) ?? {
        relayId,
        url,
        tasks: [],
        progress: new RelayFetchProgress(url, clock, onChange),
      };
      share.tasks.push(task);
      shares.set(relayId, share);
    }
    const list = [...shares.values()];
    const active: ActiveRun = {
      id: run.id,
      limit: run.limit,
      leavesFull: run.leavesFull,
      shares: list,
      progress: new RunFetchProgress(
        { run: run.id, type: 'legacy-resume', account, startedAt: nowSeconds(clock) },
        list.map(({ progress }) => progress),
      ),
      cancel: new AbortController(),
      ended: Promise.resolve(),
    };
    this.#active.set(run.id, active);
    this.#unrecorded.forget(run.id);
    return active;
  }

  /** Never rejects. */
  async #workOn(account: string, run: ActiveRun, next: ActiveRun | null): Promise<void> {
    const { turns, onChange } = this.#options;
    try {
      await this.#work(run);
    } catch (error) {
      this.#unrecorded.add(run.id, error, onChange);
    } finally {
      this.#active.delete(run.id);
      if (next === null) turns.giveBack(account, run.id);
      else turns.take(account, next.id);
      onChange();
    }
  }

  async #work(run: ActiveRun): Promise<void> {
    const { db, clock } = this.#options;
    const watch = new ClockWatch(clock);
    const settled = await Promise.allSettled(run.shares.map((share) => this.#workOnRelay(run, share)));
    const ends = settled.map((share) => {
      if (share.status === 'rejected') throw share.reason;
      return share.value;
    });
    const warning = watch.warning();
    if (warning !== null) await warnRun(db, run.id, warning);
    const status = runStatus(ends, run.cancel.signal.aborted);
    await finishRun(db, run.id, status === 'complete' && run.leavesFull ? 'partial' : status, nowSeconds(clock));
  }

  /** A defect of ours in one relay's share must not take the others down: it is logged and shown as that share's failure. */
  async #workOnRelay(run: ActiveRun, { relayId, url, tasks, progress }: RelayShare): Promise<RelayEnd> {
    const { db, verifier, clock, relays, log, idleTimeoutMs } = this.#options;
    const { signal } = run.cancel;
    try {
      progress.enter('connecting');
      const end = await askForWindows(
        {
          db,
          verifier,
          clock,
          connection: relays.connection(url),
          relayId,
          progress,
          signal,
          idleTimeoutMs: idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
        },
        { runId: run.id, limit: run.limit, tasks },
      );
      progress.enter(signal.aborted && end.status !== 'complete' ? 'cancelled' : end.status, end.reason);
      return end;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log(`run ${run.id}, ${url}: ${error instanceof Error ? (error.stack ?? reason) : reason}`);
      progress.enter('failed', reason);
      try {
        await this.#endOpenAttempts(run.id, relayId, reason);
      } catch (failure) {
        // Where nothing can be recorded, no relay needs to be asked any further.
        run.cancel.abort(failure);
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
