import { sql } from 'kysely';
import * as v from 'valibot';
import type { DeliveryReason, DeliveryState, Narrowing, SyncReport } from '../../preload/contract.ts';
import { unfinishedDeliveries } from '../coverage/delivery-totals.ts';
import { readPassingRefusals } from '../coverage/passing-refusals.ts';
import { readReverifications } from '../coverage/reverified-copies.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { readShares } from './delivery-rows.ts';
import { addTotals } from './sync-progress.ts';

const narrowingSchema = v.object({
  relays: v.exactOptional(v.array(v.string())),
  kinds: v.exactOptional(v.array(v.number())),
  since: v.exactOptional(v.number()),
  until: v.exactOptional(v.number()),
});

/**
 * How a sync stands: by state, by reason, and by relay.
 *
 * @throws Fault `unknown-run`, also for a run that is no sync.
 */
export async function readSyncReport(db: ReadableDatabase, runId: number): Promise<SyncReport> {
  const run = await readSyncRun(db, runId);
  const shares = await readShares(db, runId);
  const totals = addTotals(shares.map((share) => share.totals));
  const passing = totals.rejected === 0 ? 0 : ((await readPassingRefusals(db, [runId])).get(runId) ?? 0);
  const { rows: reasons } = await sql<{ state: DeliveryState; reason: DeliveryReason; count: number }>`
    select state, reason, count(*) as count from deliveries where run_id = ${runId} and reason is not null
    group by state, reason order by state, reason`.execute(db);
  return {
    run: runId,
    account: run.pubkey,
    status: run.status,
    startedAt: run.started_at,
    finishedAt: run.finished_at,
    resumed: run.resumed === 1,
    narrowing: readNarrowing(run.narrowing),
    totals,
    reasons,
    relays: shares.map((share) => ({ url: share.url, totals: share.totals })),
    resumable: run.status !== 'active' && unfinishedDeliveries(totals) + passing > 0,
    refused: await countRefused(db, runId),
    reverification: (await readReverifications(db, [runId])).get(runId) ?? null,
  };
}

/** @throws Fault `unknown-run`, also for a run that is no sync. */
export async function readSyncRun(db: ReadableDatabase, runId: number) {
  const run = await db
    .selectFrom('runs')
    .innerJoin('accounts', 'accounts.id', 'runs.account_id')
    .select([
      'runs.type',
      'runs.status',
      'runs.started_at',
      'runs.finished_at',
      'runs.narrowing',
      'runs.resumed',
      'accounts.pubkey',
    ])
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  if (run === undefined) throw new Fault('unknown-run', `There is no run ${runId}.`, { run: runId });
  if (run.type !== 'sync') throw new Fault('unknown-run', `Run ${runId} is no sync.`, { run: runId });
  return run;
}

async function countRefused(db: ReadableDatabase, runId: number): Promise<number> {
  const row = await db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('run_id', '=', runId)
    .where('state', '=', 'rejected')
    .where('lasting', '=', 1)
    .executeTakeFirstOrThrow();
  return row.count;
}

function readNarrowing(text: string | null): Narrowing {
  if (text === null) return {};
  const parsed = v.safeParse(narrowingSchema, JSON.parse(text));
  return parsed.success ? parsed.output : {};
}
