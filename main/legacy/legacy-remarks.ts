import type { LegacyOperation, LegacyProblem, LegacyRemark } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';

export interface RemarkSelection {
  source: number;
  table?: string | undefined;
  problem?: LegacyProblem | undefined;
  offset: number;
  limit: number;
}

/**
 * Remarks on rows of a first-version database, by table and problem, in the order of the rows.
 *
 * @throws Fault `not-found` when there is no such source.
 */
export async function readRemarks(
  db: ReadableDatabase,
  { source, table, problem, offset, limit }: RemarkSelection,
): Promise<{ total: number; remarks: LegacyRemark[] }> {
  await requireSource(db, source);
  let selected = db.selectFrom('legacy_remarks').where('source_id', '=', source);
  if (table !== undefined) selected = selected.where('table_name', '=', table);
  if (problem !== undefined) selected = selected.where('problem', '=', problem);
  const { total } = await selected.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await selected
    .select(['id', 'table_name', 'row_key', 'problem', 'detail', 'outcome'])
    .orderBy('table_name')
    .orderBy('problem')
    .orderBy('id')
    .offset(offset)
    .limit(limit)
    .execute();
  return { total, remarks: rows.map(({ table_name: name, row_key: row, ...rest }) => ({ ...rest, table: name, row })) };
}

/**
 * The whole row that a remark is about, as JSON.
 *
 * @throws Fault `not-found`.
 */
export async function readRemarkedRow(db: ReadableDatabase, remark: number): Promise<string> {
  const row = await db.selectFrom('legacy_remarks').select('row_json').where('id', '=', remark).executeTakeFirst();
  if (row === undefined) throw new Fault('not-found', `There is no remark ${remark} on the first version.`, { remark });
  return row.row_json;
}

/**
 * What the first version did, as it noted it, newest first; what has no time comes last.
 *
 * @throws Fault `not-found` when there is no such source.
 */
export async function readLegacyOperations(
  db: ReadableDatabase,
  { source, offset, limit }: { source: number; offset: number; limit: number },
): Promise<{ total: number; operations: LegacyOperation[] }> {
  await requireSource(db, source);
  const kept = db.selectFrom('legacy_operations_kept').where('source_id', '=', source);
  const { total } = await kept.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await kept
    .innerJoin('accounts', 'accounts.id', 'legacy_operations_kept.account_id')
    .select(['operation_id', 'accounts.pubkey', 'type', 'status', 'started_at', 'finished_at', 'error'])
    .orderBy('started_at', (order) => order.desc().nullsLast())
    .orderBy('operation_id')
    .offset(offset)
    .limit(limit)
    .execute();
  const operations = rows.map((row) => ({
    id: row.operation_id,
    account: row.pubkey,
    type: row.type,
    status: row.status,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: row.error,
  }));
  return { total, operations };
}

async function requireSource(db: ReadableDatabase, source: number): Promise<void> {
  const row = await db.selectFrom('legacy_sources').select('id').where('id', '=', source).executeTakeFirst();
  if (row === undefined) {
    throw new Fault('not-found', `There is no database ${source} of the first version here.`, { source });
  }
}
