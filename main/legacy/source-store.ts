import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { FIRST_VERSION_ORDER, ROW_KEYS, type FirstVersionTable, type RowCounts } from './first-version-tables.ts';
import { rowAsJson, shown, valueOf, type OldRow } from './old-row.ts';
import type { RowFate } from './row-fate.ts';

/** A source whose rows are not all looked at yet. */
export interface OpenSource {
  id: number;
  file: string | null;
  fingerprint: string | null;
  done: number;
  total: number;
  /** The highest number of an account when it was noted. */
  accountsBefore: number;
  /** The row that was looked at last; null: none yet. */
  cursor: { table: FirstVersionTable; rowid: bigint } | null;
}

/** Sources whose rows are not all looked at yet, in their order. */
export async function readOpenSources(db: ReadableDatabase): Promise<OpenSource[]> {
  const rows = await db
    .selectFrom('legacy_sources')
    .select(['id', 'file', 'fingerprint', 'done', 'total', 'accounts_before as accountsBefore', 'cursor_table'])
    // Row numbers may be larger than a JavaScript number holds.
    .select(sql<string | null>`cast(cursor_row as text)`.as('cursor'))
    .where('state', '=', 'carrying')
    .orderBy('id')
    .execute();
  return rows.map(({ cursor_table: name, cursor, ...source }) => {
    const table = FIRST_VERSION_ORDER.find((known) => known === name);
    return { ...source, cursor: table === undefined || cursor === null ? null : { table, rowid: BigInt(cursor) } };
  });
}

/** Notes a source with the number of its tables' rows, which is what its report has to add up to. */
export async function addSource(
  db: WritableDatabase,
  counts: RowCounts,
  source: { file: string | null; fingerprint: string | null; copy: string | null; startedAt: number },
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { highest } = await trx
      .selectFrom('accounts')
      .select(({ fn }) => fn.max<number | null>('id').as('highest'))
      .executeTakeFirstOrThrow();
    const { id } = await trx
      .insertInto('legacy_sources')
      .values({
        file: source.file,
        fingerprint: source.fingerprint,
        state: 'carrying',
        total: counts.reduce((sum, { before }) => sum + before, 0),
        cursor_table: null,
        cursor_row: null,
        copy: source.copy,
        stopped_because: null,
        accounts_before: highest ?? 0,
        started_at: source.startedAt,
        finished_at: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await trx
      .insertInto('legacy_counts')
      .values(counts.map(({ table, before }) => ({ source_id: id, table_name: table, before })))
      .execute();
    return id;
  });
}

/** Notes the row that a slice ends with, in the transaction that writes the slice. */
export async function moveCursor(
  trx: Transaction<Tables>,
  source: OpenSource,
  table: FirstVersionTable,
  rows: readonly OldRow[],
): Promise<void> {
  const last = rows.at(-1);
  if (last === undefined) throw new Error(`a slice of ${table} has no rows`);
  await trx
    .updateTable('legacy_sources')
    .set((eb) => ({
      done: eb('done', '+', rows.length),
      cursor_table: table,
      cursor_row: sql<number>`cast(${String(last.rowid)} as integer)`,
      stopped_because: null,
    }))
    .where('id', '=', source.id)
    .execute();
}

/** Notes what became of a slice, in the transaction that wrote it: counts and remarks. */
export async function noteFates(
  trx: Transaction<Tables>,
  source: OpenSource,
  table: FirstVersionTable,
  rows: readonly OldRow[],
  fates: readonly RowFate[],
): Promise<void> {
  if (rows.length !== fates.length) throw new Error(`what became of rows of ${table} is not known`);
  const counted = (outcome: RowFate['outcome']): number => fates.filter((fate) => fate.outcome === outcome).length;
  await trx
    .updateTable('legacy_counts')
    .set((eb) => ({
      carried: eb('carried', '+', counted('carried')),
      merged: eb('merged', '+', counted('merged')),
      aside: eb('aside', '+', counted('aside')),
      information: eb('information', '+', counted('information')),
    }))
    .where('source_id', '=', source.id)
    .where('table_name', '=', table)
    .execute();
  for (const [index, { outcome, remarks }] of fates.entries()) {
    const row = rows[index];
    if (row === undefined) continue;
    for (const { problem, detail } of remarks) {
      await trx
        .insertInto('legacy_remarks')
        .values({
          source_id: source.id,
          table_name: table,
          row_key: keyOf(table, row),
          problem,
          detail,
          outcome: outcome === 'information' ? 'carried' : outcome,
          row_json: rowAsJson(row),
        })
        .execute();
    }
  }
}

/** Notes that every row of a source was looked at. */
export async function endSource(db: WritableDatabase, id: number, finishedAt: number): Promise<void> {
  await db
    .updateTable('legacy_sources')
    .set({ state: 'done', finished_at: finishedAt, stopped_because: null })
    .where('id', '=', id)
    .execute();
}

/** Notes why carrying a source over stopped. */
export async function noteStop(db: WritableDatabase, id: number, because: string): Promise<void> {
  await db.updateTable('legacy_sources').set({ stopped_because: because }).where('id', '=', id).execute();
}

/** What names a row: the values of its key, or its number where they are no text and no number. */
function keyOf(table: FirstVersionTable, row: OldRow): string {
  const values = ROW_KEYS[table].map((column) => valueOf(row, column));
  if (values.some((value) => value === null || Buffer.isBuffer(value))) return `row ${row.rowid}`;
  return values.map((value) => (typeof value === 'string' ? shorten(value) : shown(value))).join(' ');
}

function shorten(text: string): string {
  return text.length > LONGEST_KEY ? `${text.slice(0, LONGEST_KEY)}…` : text;
}

const LONGEST_KEY = 300;
