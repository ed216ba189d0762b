import type BetterSqlite3 from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { storageFaultOr } from './storage-fault.ts';

const CAPACITY = 400;

/**
 * Gives Kysely prepared statements that live longer than one query. Kysely compiles the same text for the same query
 * shape, so a page of events costs no preparing; the least recently used statement goes first when there are too many.
 *
 * Every statement of the program passes here, so this is where a failing disk or file becomes a Fault (see
 * {@link storageFaultOr}).
 */
export class StatementCache implements SqliteDatabase {
  readonly #database: BetterSqlite3.Database;
  readonly #beforeCommit: () => void;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();

  /** `beforeCommit` is called before anything is committed, and what it throws keeps that from happening. */
  constructor(database: BetterSqlite3.Database, beforeCommit: () => void = () => undefined) {
    this.#database = database;
    this.#beforeCommit = beforeCommit;
  }

  /** False also after SQLite has rolled back by itself, as it does when the disk is full. */
  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    // A statement that is being iterated cannot serve a second reader.
    if (known !== undefined && !known.busy) {
      this.#statements.delete(sql);
      this.#statements.set(sql, known);
      return this.#asKyselyStatement(known);
    }
    const statement = this.#telling(() => this.#database.prepare(sql));
    if (known === undefined) {
      this.#statements.set(sql, statement);
      if (this.#statements.size > CAPACITY) {
        const oldest = this.#statements.keys().next();
        if (!oldest.done) this.#statements.delete(oldest.value);
      }
    }
    return this.#asKyselyStatement(statement);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  /** Kysely asks for `run`, `all`, `iterate` and `reader`, which better-sqlite3 statements have under the same names. */
  #asKyselyStatement(statement: BetterSqlite3.Statement): SqliteStatement {
    const commits = (): boolean => (statement.readonly ? statement.source === 'commit' : !this.#database.inTransaction);
    const checked = <T>(work: () => T): T => {
      if (commits()) this.#beforeCommit();
      return this.#telling(work);
    };
    return {
      reader: statement.reader,
      all: (parameters) => checked(() => statement.all(...parameters)),
      run: (parameters) => checked(() => statement.run(...parameters)),
      iterate: (parameters) => this.#iterate(() => statement.iterate(...parameters)),
    };
  }

  *#iterate(start: () => IterableIterator<unknown>): IterableIterator<never> {
    try {
      yield* start() as IterableIterator<never>;
    } catch (error) {
      throw storageFaultOr(error, this.#database.name);
    }
  }

  #telling<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw storageFaultOr(error, this.#database.name);
    }
  }
}
