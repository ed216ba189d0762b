import { sql, type Transaction } from 'kysely';
import type { RunStatus, RunType, StrategyChoice } from '../../preload/contract.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { Fault } from '../platform/fault.ts';

/** A run as it was begun: the settings that Resume goes by, whatever the settings are by then. */
export interface RunSnapshot {
  id: number;
  accountId: number;
  type: RunType;
  status: RunStatus;
  strategy: StrategyChoice;
  pageLimit: number;
  /** T, the fixed upper bound, Unix seconds. */
  boundary: number;
  /** Relay keys of the sources. */
  sources: string[];
  warnings: string[];
  /** Of a resume of old windows: their checkpoint. Null for every other run. */
  checkpointId: number | null;
}

export interface NewRun {
  accountId: number;
  type: RunType;
  strategy: StrategyChoice;
  pageLimit: number;
  boundary: number;
  sources: string[];
  warnings: string[];
  startedAt: number;
  /** The checkpoint of the first version whose windows it goes on with. */
  checkpointId?: number;
}

/** Records the start of a run and gives it its number. */
export async function beginRun(db: WritableDatabase | Transaction<Tables>, run: NewRun): Promise<number> {
  const { id } = await db
    .insertInto('runs')
    .values({
      account_id: run.accountId,
      type: run.type,
      status: 'active',
      strategy: run.strategy,
      page_limit: run.pageLimit,
      boundary: run.boundary,
      sources: JSON.stringify(run.sources),
      warnings: JSON.stringify(run.warnings),
      started_at: run.startedAt,
      finished_at: null,
      cancel_requested_at: null,
      checkpoint_id: run.checkpointId ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** @throws Fault `unknown-run`. */
export async function readRun(db: ReadableDatabase, id: number): Promise<RunSnapshot> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new Fault('unknown-run', `There is no run ${id}.`, { run: id });
  return {
    id: row.id,
    accountId: row.account_id,
    type: row.type,
    status: row.status,
    strategy: row.strategy,
    pageLimit: row.page_limit,
    boundary: row.boundary,
    sources: JSON.parse(row.sources) as string[],
    warnings: JSON.parse(row.warnings) as string[],
    checkpointId: row.checkpoint_id,
  };
}

/** Marks a run as active again: Resume goes on with it, under its own settings. */
export async function reopenRun(db: WritableDatabase | Transaction<Tables>, id: number): Promise<void> {
  await db
    .updateTable('runs')
    .set({ status: 'active', finished_at: null, cancel_requested_at: null, resumed: 1 })
    .where('id', '=', id)
    .execute();
}

export async function finishRun(
  db: WritableDatabase,
  id: number,
  status: RunStatus,
  finishedAt: number,
): Promise<void> {
  await db.updateTable('runs').set({ status, finished_at: finishedAt }).where('id', '=', id).execute();
}

/** Adds a sentence that a person should read with this run; each is kept once. */
export async function warnRun(db: WritableDatabase, id: number, warning: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await trx.selectFrom('runs').select('warnings').where('id', '=', id).executeTakeFirst();
    const warnings = row === undefined ? [] : (JSON.parse(row.warnings) as string[]);
    if (warnings.includes(warning)) return;
    await trx
      .updateTable('runs')
      .set({ warnings: JSON.stringify([...warnings, warning]) })
      .where('id', '=', id)
      .execute();
  });
}

/** Leaves word for the process that owns the data directory; it looks every second and after every page. */
export async function requestCancel(db: WritableDatabase, id: number, now: number): Promise<void> {
  await db
    .updateTable('runs')
    .set({ cancel_requested_at: now })
    .where('id', '=', id)
    .where('status', '=', 'active')
    .execute();
}

/** Active runs that somebody asked to cancel. */
export async function cancelRequests(db: ReadableDatabase): Promise<number[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('status', '=', 'active')
    .where('cancel_requested_at', 'is not', null)
    .execute();
  return rows.map((row) => row.id);
}

const STOPPED = 'Holdfast stopped while this was running. What had arrived is kept; Resume goes on from there.';

/**
 * What is marked as active while nobody is at work, as a crash leaves it, becomes partial, with its cursor where the last
 * committed page put it.
 *
 * @param only one run; without it every run, which is for an owner that starts.
 */
export async function settleInterrupted(db: WritableDatabase, now: number, only?: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    let attempts = trx
      .updateTable('attempts')
      .set({
        status: sql`case when pages > 0 or found > 0 then 'partial' else 'failed' end`,
        reason: STOPPED,
        completed_at: now,
      })
      .where('status', '=', 'active');
    let runs = trx.updateTable('runs').set({ status: 'partial', finished_at: now }).where('status', '=', 'active');
    if (only !== undefined) {
      attempts = attempts.where('run_id', '=', only);
      runs = runs.where('id', '=', only);
    }
    await attempts.execute();
    await runs.execute();
  });
}
