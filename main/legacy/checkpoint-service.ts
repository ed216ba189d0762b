import type { RunProgress } from '../../preload/contract.ts';
import { isSource, readAccountRelays } from '../accounts/account-store.ts';
import { Beginnings } from '../coverage/beginnings.ts';
import { readRun, warnRun } from '../coverage/run-history.ts';
import { nowSeconds } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import {
  leftOf,
  readWindowRanges,
  requireCheckpoints,
  type CheckpointRelay,
  type StoredCheckpoint,
} from './checkpoint-store.ts';
import { beginResumes, readWindowTasks, windowLimit } from './resume-snapshot.ts';
import { WindowRuns, type WindowRun, type WindowRunsOptions } from './window-runs.ts';

export interface CheckpointServiceOptions extends WindowRunsOptions {
  /** Starts a fetch of an account (64 hex characters) from relays that are its sources; returns the run's number. */
  startFetch: (account: string, relays: readonly string[]) => Promise<number>;
}

/**
 * What a person decides about fetches that the first version left unfinished. Nothing starts by itself, and a choice that
 * cannot be made for one of several checkpoints is made for none.
 */
export class CheckpointService {
  readonly #options: CheckpointServiceOptions;
  readonly #runs: WindowRuns;
  readonly #beginnings = new Beginnings();

  constructor(options: CheckpointServiceOptions) {
    this.#options = options;
    this.#runs = new WindowRuns(options);
  }

  /**
   * Goes on with the windows left, under the old rules. Checkpoints of one account are gone on with one after another.
   *
   * @returns the numbers of the runs, in the order of the checkpoints; they go on in the background.
   * @throws Fault `unknown-checkpoint`, `nothing-to-do`, `already-active`.
   */
  resume(ids: readonly number[]): Promise<number[]> {
    return this.#beginnings.during(() => this.#decideToResume(ids));
  }

  async #decideToResume(ids: readonly number[]): Promise<number[]> {
    const { db } = this.#options;
    const checkpoints = await requireCheckpoints(db, ids);
    for (const checkpoint of checkpoints) {
      if (checkpoint.status === 'replaced') throw replaced(checkpoint);
      if (checkpoint.status === 'resumed') await this.#refuseFinished(checkpoint);
    }
    return this.#resume(checkpoints);
  }

  /**
   * Goes on with the windows that an earlier run left, whatever was decided about their checkpoint since.
   *
   * @throws Fault `unknown-run`, `nothing-to-do`, `already-active`.
   */
  resumeRun(runId: number): Promise<void> {
    return this.#beginnings.during(() => this.#takeUpRun(runId));
  }

  async #takeUpRun(runId: number): Promise<void> {
    const { db } = this.#options;
    const { checkpointId } = await readRun(db, runId);
    if (checkpointId === null) {
      throw new Fault('unknown-run', `Run ${runId} goes on with no checkpoint of the first version.`, { run: runId });
    }
    const checkpoints = await requireCheckpoints(db, [checkpointId]);
    for (const checkpoint of checkpoints) await this.#refuseFinished(checkpoint, runId);
    await this.#resume(checkpoints);
  }

  /**
   * Starts the initial history on the checkpoints' relays instead, one fetch for each account. Relays that are no source of
   * the account are not asked; the run says so.
   *
   * @throws Fault `unknown-checkpoint`, `nothing-to-do`, `already-active`.
   */
  rescan(ids: readonly number[]): Promise<number[]> {
    return this.#beginnings.during(() => this.#decideToRescan(ids));
  }

  async #decideToRescan(ids: readonly number[]): Promise<number[]> {
    const { db, startFetch } = this.#options;
    const checkpoints = await requireCheckpoints(db, ids);
    const scans: { account: string; checkpoints: StoredCheckpoint[]; sources: string[]; others: CheckpointRelay[] }[] =
      [];
    for (const [account, own] of byAccount(checkpoints)) {
      for (const checkpoint of own) {
        if (checkpoint.status === 'replaced') throw replaced(checkpoint);
        if (checkpoint.status === 'resumed') await this.#refuseFinished(checkpoint);
      }
      scans.push({ account, checkpoints: own, ...(await this.#chooseSources(own)) });
    }
    this.#refuseWhileActive(scans.map(({ account }) => account));
    const runs: number[] = [];
    for (const { account, checkpoints: own, sources, others } of scans) {
      const run = await startFetch(account, sources);
      for (const { url } of others) await warnRun(db, run, notAsked(url));
      await this.#decide(own, 'replaced', run);
      runs.push(run);
    }
    this.#options.onChange();
    return runs;
  }

  /**
   * Keeps checkpoints for later; they can be decided about at any time.
   *
   * @returns how many are kept by this.
   * @throws Fault `unknown-checkpoint`, `nothing-to-do`.
   */
  async keep(ids: readonly number[]): Promise<number> {
    const checkpoints = await requireCheckpoints(this.#options.db, ids);
    for (const checkpoint of checkpoints) {
      if (checkpoint.status === 'replaced') throw replaced(checkpoint);
      if (checkpoint.status === 'resumed') {
        throw new Fault(
          'nothing-to-do',
          `Checkpoint ${checkpoint.id} is being gone on with already, by run ${checkpoint.runId}.`,
          { checkpoint: checkpoint.id, run: checkpoint.runId },
        );
      }
    }
    await this.#decide(checkpoints, 'kept', null);
    this.#options.onChange();
    return checkpoints.length;
  }

  /** Stops a run cleanly; it stays resumable. False when it is not running here. */
  cancel(runId: number): boolean {
    return this.#runs.cancel(runId);
  }

  /** Resolves when a run that is active here has ended. @throws what kept its end from being recorded. */
  ended(runId: number): Promise<void> {
    return this.#runs.ended(runId);
  }

  progress(): RunProgress[] {
    return this.#runs.progress();
  }

  /** Stops everything cleanly and waits until the last answer is committed. */
  async close(): Promise<void> {
    const begun = this.#beginnings.close();
    this.#runs.cancelAll();
    await begun;
    await this.#runs.close();
  }

  async #resume(checkpoints: readonly StoredCheckpoint[]): Promise<number[]> {
    const { db, clock, turns } = this.#options;
    const accounts = byAccount(checkpoints);
    this.#refuseWhileActive([...accounts.keys()]);
    const release = [...accounts.keys()].map((account) => turns.reserve(account));
    try {
      const runs = await beginResumes(db, checkpoints, nowSeconds(clock));
      const begun = new Map<number, WindowRun>();
      for (const [index, id] of runs.entries()) {
        const checkpoint = checkpoints[index];
        if (checkpoint === undefined) continue;
        const tasks = await readWindowTasks(db, checkpoint);
        begun.set(checkpoint.id, { id, limit: windowLimit(checkpoint), ...tasks });
      }
      for (const [account, own] of accounts) {
        this.#runs.launch(
          account,
          own.flatMap(({ id }) => begun.get(id) ?? []),
        );
      }
      return runs;
    } finally {
      for (const giveBack of release) giveBack();
    }
  }

  #refuseWhileActive(accounts: readonly string[]): void {
    this.#beginnings.refuseWhileClosing();
    for (const account of accounts) this.#options.turns.refuseWhileActive(account);
  }

  /** Nothing is done twice: a checkpoint whose every window was completed has nothing left. */
  async #refuseFinished(checkpoint: StoredCheckpoint, run = checkpoint.runId): Promise<void> {
    const ranges = (await readWindowRanges(this.#options.db, [checkpoint.id])).get(checkpoint.id) ?? [];
    if (leftOf(checkpoint, ranges).length > 0) return;
    throw new Fault(
      'nothing-to-do',
      `Checkpoint ${checkpoint.id} has no windows left: run ${run} went on with all of them.`,
      { checkpoint: checkpoint.id, run },
    );
  }

  /** @throws Fault `nothing-to-do` when none of the relays is a source. */
  async #chooseSources(
    checkpoints: readonly StoredCheckpoint[],
  ): Promise<{ sources: string[]; others: CheckpointRelay[] }> {
    const relays = new Map(checkpoints.flatMap((checkpoint) => checkpoint.relays.map((relay) => [relay.key, relay])));
    const [first] = checkpoints;
    const listed = first === undefined ? [] : await readAccountRelays(this.#options.db, first.accountId);
    const sources = listed.filter((relay) => isSource(relay) && relays.has(relay.key));
    if (sources.length === 0) {
      const urls = [...relays.values()].map(({ url }) => url).join(', ');
      throw new Fault(
        'nothing-to-do',
        `No relay of ${nameOf(checkpoints)} is a source of its account: ${urls}. Add one as a write relay or as an extra source first.`,
        { checkpoints: checkpoints.map(({ id }) => id) },
      );
    }
    const asked = new Set(sources.map(({ key }) => key));
    return {
      sources: sources.map(({ url }) => url),
      others: [...relays.values()].filter(({ key }) => !asked.has(key)),
    };
  }

  async #decide(
    checkpoints: readonly StoredCheckpoint[],
    status: 'replaced' | 'kept',
    run: number | null,
  ): Promise<void> {
    const { db, clock } = this.#options;
    await db
      .updateTable('legacy_checkpoints')
      .set({ status, run_id: run, decided_at: nowSeconds(clock) })
      .where(
        'id',
        'in',
        checkpoints.map(({ id }) => id),
      )
      .execute();
  }
}

function byAccount(checkpoints: readonly StoredCheckpoint[]): Map<string, StoredCheckpoint[]> {
  const accounts = new Map<string, StoredCheckpoint[]>();
  for (const checkpoint of checkpoints) {
    accounts.set(checkpoint.account, [...(accounts.get(checkpoint.account) ?? []), checkpoint]);
  }
  return accounts;
}

function replaced({ id, runId }: StoredCheckpoint): Fault {
  return new Fault('nothing-to-do', `Checkpoint ${id} was replaced by a new scan already, run ${runId}.`, {
    checkpoint: id,
    run: runId,
  });
}

function notAsked(url: string): string {
  return `${url} is no source of this account, so the new scan does not ask it. The first version had still to ask it.`;
}

function nameOf(checkpoints: readonly StoredCheckpoint[]): string {
  const ids = checkpoints.map(({ id }) => id);
  return ids.length === 1 ? `checkpoint ${ids.join()}` : `checkpoints ${ids.join(', ')}`;
}
