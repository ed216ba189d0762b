import { sql } from 'kysely';
import type { RunRelaySummary, RunSummary } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { CLOSED_BY } from './closed-range.ts';
import { readDeliveryTotals, noDeliveries, unfinishedDeliveries } from './delivery-totals.ts';
import { readPassingRefusals } from './passing-refusals.ts';
import { isResumable } from './range-history.ts';
import { readReverifications } from './reverified-copies.ts';
import { readStanding } from './walk-standing.ts';

export interface RunSelection {
  accountId?: number;
  limit: number;
  /** Only runs with a lower number. */
  before?: number;
}

/** Runs, newest first, with how each relay's ranges stood at the end of this run's attempts. */
export async function listRuns(db: ReadableDatabase, selection: RunSelection): Promise<RunSummary[]> {
  let query = db
    .selectFrom('runs')
    .innerJoin('accounts', 'accounts.id', 'runs.account_id')
    .selectAll('runs')
    .select('accounts.pubkey')
    .select(
      sql<0 | 1>`exists (select 1 from ranges where ranges.checkpoint_id = runs.checkpoint_id
        and not exists (select 1 from attempts where attempts.range_id = ranges.id))`.as('windows_untried'),
    )
    .orderBy('runs.id', 'desc')
    .limit(selection.limit);
  if (selection.accountId !== undefined) query = query.where('runs.account_id', '=', selection.accountId);
  if (selection.before !== undefined) query = query.where('runs.id', '<', selection.before);
  const rows = await query.execute();
  const attempts = await attemptsOfRuns(
    db,
    rows.map((row) => row.id),
  );
  const deliveries = await readDeliveryTotals(
    db,
    rows.filter((row) => row.type === 'sync').map((row) => row.id),
  );
  const reverifications = await readReverifications(db, [...deliveries.keys()]);
  const passing = await readPassingRefusals(
    db,
    [...deliveries].filter(([, { rejected }]) => rejected > 0).map(([run]) => run),
  );
  return rows.map((row) => {
    const own = attempts.get(row.id) ?? [];
    const totals = row.type === 'sync' ? (deliveries.get(row.id) ?? noDeliveries()) : null;
    const asked = new Set(own.map(({ key }) => key));
    const untried = row.windows_untried === 1 || (JSON.parse(row.sources) as string[]).some((key) => !asked.has(key));
    return {
      id: row.id,
      type: row.type,
      account: row.pubkey,
      status: row.status,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      resumed: row.resumed === 1 || own.some((attempt) => attempt.resumed),
      boundary: row.boundary,
      limit: row.page_limit,
      strategy: row.strategy,
      found: own.reduce((sum, { summary }) => sum + summary.found, 0),
      newlyArchived: own.reduce((sum, { summary }) => sum + summary.newlyArchived, 0),
      resumable:
        row.status !== 'active' &&
        (totals === null
          ? row.status !== 'complete' && (untried || own.some((attempt) => attempt.resumable))
          : unfinishedDeliveries(totals) + (passing.get(row.id) ?? 0) > 0),
      warnings: JSON.parse(row.warnings) as string[],
      relays: own.map(({ summary }) => summary),
      deliveries: totals,
      reverification: reverifications.get(row.id) ?? null,
    };
  });
}

/** @throws Fault `unknown-run`. */
export async function readRunSummary(db: ReadableDatabase, id: number): Promise<RunSummary> {
  const [run] = await listRuns(db, { limit: 1, before: id + 1 });
  if (run?.id !== id) throw new Fault('unknown-run', `There is no run ${id}.`, { run: id });
  return run;
}

interface RunAttempt {
  key: string;
  resumable: boolean;
  /** A later attempt of the same run took up an earlier one, otherwise than paging that took over from a comparison. */
  resumed: boolean;
  summary: RunRelaySummary;
}

/** Per run and range the last attempt's status, with what all attempts of this run at the range brought. */
async function attemptsOfRuns(db: ReadableDatabase, runs: readonly number[]): Promise<Map<number, RunAttempt[]>> {
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('ranges', 'ranges.id', 'attempts.range_id')
    .innerJoin('relays', 'relays.id', 'ranges.relay_id')
    .select([
      'attempts.id',
      'attempts.run_id',
      'attempts.range_id',
      'attempts.status',
      'attempts.reason',
      'attempts.checkpoint',
      'attempts.found',
      'attempts.fetched',
      'attempts.newly_archived',
      'attempts.pages',
      'ranges.since',
      'ranges.until',
      'relays.key',
      'relays.url',
      CLOSED_BY.as('closed_by'),
      sql<0 | 1>`exists (select 1 from attempts as prior where prior.id = attempts.prior_id
        and prior.run_id = attempts.run_id and (attempts.continued = 1 or prior.strategy = attempts.strategy))`.as(
        'resumed',
      ),
    ])
    .select((eb) =>
      eb
        .selectFrom('attempts as later')
        .select(({ fn }) => fn.max('later.id').as('id'))
        .whereRef('later.range_id', '=', 'attempts.range_id')
        .as('latest_id'),
    )
    .where('attempts.run_id', 'in', runs)
    .where('ranges.purpose', '=', 'history')
    .orderBy('attempts.id')
    .execute();
  const byRun = new Map<number, Map<number, RunAttempt>>();
  for (const row of rows) {
    const ranges = byRun.get(row.run_id) ?? new Map<number, RunAttempt>();
    const earlier = ranges.get(row.range_id);
    ranges.set(row.range_id, {
      key: row.key,
      // Another run may have gone on with the range or covered it meanwhile; then this one has nothing left to do there.
      resumable:
        row.latest_id === row.id &&
        row.closed_by === null &&
        isResumable({ ...row, checkpoint: readStanding(row.checkpoint) }),
      resumed: row.resumed === 1 || earlier?.resumed === true,
      summary: {
        url: row.url,
        range: row.range_id,
        since: row.since,
        until: row.until,
        status: row.status,
        found: row.found,
        fetched: row.fetched,
        newlyArchived: row.newly_archived + (earlier?.summary.newlyArchived ?? 0),
        pages: row.pages,
        reason: row.reason,
      },
    });
    byRun.set(row.run_id, ranges);
  }
  return new Map([...byRun].map(([run, ranges]) => [run, [...ranges.values()]]));
}
