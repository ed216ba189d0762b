import type { ServiceTable } from '../ipc/service-table.ts';
import { readAccount } from '../accounts/account-store.ts';
import { latestAttempt, readRange } from '../coverage/range-history.ts';
import { readRun, requestCancel } from '../coverage/run-history.ts';
import { listRuns, readRunSummary } from '../coverage/run-list.ts';
import { openDatabaseToLeaveWord } from '../database/database-file.ts';
import { nowSeconds } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import { readSettings } from '../settings/settings-store.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';
import type { RunType } from '../../preload/contract.ts';

type FetchMethods = Pick<ServiceTable, 'fetch.start' | 'fetch.resume' | 'fetch.refetch' | 'runs.cancel' | 'runs.list'>;

const RUNS_PER_ANSWER = 100;
const RUNS_LOOKED_THROUGH = 10_000;

/** The contract's methods on runs. */
export function fetchMethods(parts: EngineParts): FetchMethods {
  const { db, fetch, carryOver } = parts;
  return {
    'fetch.start': async (args) => {
      requireOwner(parts);
      carryOver.requireDone();
      const run = await fetch.start({
        account: args.account,
        recheck: args.recheck ?? false,
        relays: args.relays ?? [],
        pageLimit: args.limit ?? (await readSettings(db)).pageLimit,
        strategy: args.strategy ?? 'auto',
      });
      return { run };
    },
    'fetch.resume': async (args) => {
      requireOwner(parts);
      carryOver.requireDone();
      return { runs: await resume(parts, args) };
    },
    'fetch.refetch': async ({ range, limit, strategy }) => {
      requireOwner(parts);
      carryOver.requireDone();
      return { run: await fetch.refetch(range, limit ?? null, strategy ?? 'auto') };
    },
    'runs.cancel': async ({ run }) => ({ cancelled: await cancel(parts, run) }),
    'runs.list': async ({ account, limit, before }) =>
      listRuns(parts.reading, {
        limit: limit ?? RUNS_PER_ANSWER,
        ...(before === undefined ? {} : { before }),
        ...(account === undefined ? {} : { accountId: (await readAccount(db, account)).id }),
      }),
  };
}

/** Resumes a run by the service that it belongs to. */
async function resumeRun(
  { fetch, sync, checkpoints }: EngineParts,
  run: { id: number; type: RunType },
  range: number | null = null,
): Promise<void> {
  if (run.type === 'sync') await sync.resume(run.id);
  else if (run.type === 'legacy-resume') await checkpoints.resumeRun(run.id);
  else await fetch.resume(run.id, range);
}

/**
 * One run, the run that a range stands in, or every unfinished one; of an account's runs the oldest goes first. Windows of
 * the first version are not among the last: whether to go on with them is decided one by one.
 */
async function resume(parts: EngineParts, args: { run?: number; account?: string; range?: number }): Promise<number[]> {
  const { db, turns } = parts;
  if (args.run !== undefined) {
    await resumeRun(parts, await readRun(db, args.run));
    return [args.run];
  }
  if (args.range !== undefined) {
    const range = await readRange(db, args.range);
    const attempt = await latestAttempt(db, range.id);
    if (attempt === null) throw new Fault('nothing-to-do', `Range ${range.id} was never begun.`, { range: range.id });
    await resumeRun(parts, await readRun(db, attempt.runId), range.id);
    return [attempt.runId];
  }
  const accountId = args.account === undefined ? undefined : (await readAccount(db, args.account)).id;
  const runs = await listRuns(db, { limit: RUNS_LOOKED_THROUGH, ...(accountId === undefined ? {} : { accountId }) });
  const unfinished = runs.filter((run) => run.resumable && run.type !== 'legacy-resume').reverse();
  if (unfinished.length === 0) throw new Fault('nothing-to-do', 'There is no unfinished run to resume.');
  const started: number[] = [];
  const busy = new Set<string>();
  for (const run of unfinished) {
    if (busy.has(run.account) || turns.activeRunOf(run.account) !== null) continue;
    busy.add(run.account);
    await resumeRun(parts, run);
    started.push(run.id);
  }
  if (started.length === 0)
    throw new Fault('already-active', 'The unfinished runs belong to accounts that a run is at work for right now.');
  return started;
}

/** Cancels here, or leaves word for the owner of the data directory. */
async function cancel(parts: EngineParts, run: number): Promise<boolean> {
  const { db, fetch, sync, checkpoints, options, clock } = parts;
  const summary = await readRunSummary(db, run);
  if (fetch.cancel(run) || sync.cancel(run) || checkpoints.cancel(run)) return true;
  if (summary.status !== 'active' || options.mode === 'owner') return false;
  await leaveWord(parts, run, nowSeconds(clock));
  return true;
}

async function leaveWord({ options, clock }: EngineParts, run: number, now: number): Promise<void> {
  const database = openDatabaseToLeaveWord({ directory: options.dataDirectory, nowMs: clock.nowMs() });
  try {
    await requestCancel(database.db, run, now);
  } finally {
    await database.close();
  }
}
