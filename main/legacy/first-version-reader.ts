import BetterSqlite3 from 'better-sqlite3';
import type { FirstVersionTable } from './first-version-tables.ts';
import { FIRST_VERSION_COLUMNS } from './first-version-tables.ts';
import type { OldRow, OldValue } from './old-row.ts';

/** Rows of one slice: what is written of them at once takes a few milliseconds of the main thread. */
const ROWS_PER_SLICE = 250;
/** A slice of long rows ends earlier, so that memory stays small. */
const CHARACTERS_PER_SLICE = 2 * 1024 * 1024;
const FIRST_ROWID = -(2n ** 63n);
const LAST_ROWID = 2n ** 63n - 1n;

/** Reads the tables of the first version in slices, in the order of their row numbers. */
export class FirstVersionReader {
  readonly #connection: BetterSqlite3.Database;
  readonly #prefix: string;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();

  private constructor(connection: BetterSqlite3.Database, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  /** The tables that this archive kept from its own first version. */
  static ofArchive(path: string): FirstVersionReader {
    return new FirstVersionReader(new BetterSqlite3(path, { timeout: 5000, readonly: true }), 'legacy_');
  }

  /** A file of the first version: a copy that is ours, so that what a journal beside it holds can be brought in. */
  static ofCopy(path: string): FirstVersionReader {
    const connection = new BetterSqlite3(path, { fileMustExist: true });
    // What a schema from elsewhere defines is never run.
    connection.pragma('trusted_schema = OFF');
    return new FirstVersionReader(connection, '');
  }

  count(table: FirstVersionTable): number {
    return Number(
      this.#prepare(`select count(*) from ${this.#name(table)}`)
        .pluck()
        .get(),
    );
  }

  /**
   * The next rows after a row number.
   *
   * @param after null: from the beginning.
   * @returns no rows: the table is at its end.
   */
  slice(table: FirstVersionTable, after: bigint | null): OldRow[] {
    if (after === LAST_ROWID) return [];
    const columns = FIRST_VERSION_COLUMNS[table];
    const statement = this.#prepare(
      `select rowid, ${columns.join(', ')} from ${this.#name(table)} where rowid >= ? order by rowid limit ${ROWS_PER_SLICE}`,
    )
      .safeIntegers(true)
      .raw(true);
    const rows: OldRow[] = [];
    let characters = 0;
    for (const list of statement.iterate(after === null ? FIRST_ROWID : after + 1n) as Iterable<
      [bigint, ...unknown[]]
    >) {
      const [rowid, ...values] = list;
      const row = { rowid, values: Object.fromEntries(columns.map((name, index) => [name, oldValue(values[index])])) };
      rows.push(row);
      characters += sizeOf(row);
      if (characters >= CHARACTERS_PER_SLICE) break;
    }
    return rows;
  }

  /** The public key that stands for an account's number, whatever it is; undefined: there is no such account. */
  publicKeyOf(account: number): unknown {
    return this.#prepare(`select pubkey from ${this.#name('accounts')} where id = ?`)
      .pluck()
      .get(account);
  }

  /** Relay rows of an account that come before a row number, by their URLs; without a row number, all. */
  relaysOf(account: number, before: bigint | null = null): OldRow[] {
    const columns = FIRST_VERSION_COLUMNS.account_relays;
    const rows = this.#prepare(
      `select rowid, ${columns.join(', ')} from ${this.#name('account_relays')}
        where account_id = ? and rowid < ? order by rowid`,
    )
      .safeIntegers(true)
      .raw(true)
      .all(account, before ?? LAST_ROWID) as [bigint, ...unknown[]][];
    return rows.map(([rowid, ...values]) => ({
      rowid,
      values: Object.fromEntries(columns.map((name, index) => [name, oldValue(values[index])])),
    }));
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #name(table: FirstVersionTable): string {
    return `"${this.#prefix}${table}"`;
  }

  #prepare(text: string): BetterSqlite3.Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#connection.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

function oldValue(value: unknown): OldValue {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (Buffer.isBuffer(value)) return value;
  throw new Error(`SQLite gave a value of type ${typeof value}`);
}

function sizeOf(row: OldRow): number {
  let size = 0;
  for (const value of Object.values(row.values)) {
    if (typeof value === 'string' || Buffer.isBuffer(value)) size += value.length;
  }
  return size;
}
