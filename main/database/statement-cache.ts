import type BetterSqlite3 from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

const CAPACITY = 400;

/**
 * Gives Kysely prepared statements that live longer than one query. Kysely compiles the same text for the same query
 * shape, so a page of events costs no preparing; the least recently used statement goes first when there are too many.
 */
export class StatementCache implements SqliteDatabase {
  readonly #database: BetterSqlite3.Database;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();

  constructor(database: BetterSqlite3.Database) {
    this.#database = database;
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    // A statement that is being iterated cannot serve a second reader.
    if (known !== undefined && !known.busy) {
      this.#statements.delete(sql);
      this.#statements.set(sql, known);
      return asKyselyStatement(known);
    }
    const statement = this.#database.prepare(sql);
    if (known === undefined) {
      this.#statements.set(sql, statement);
      if (this.#statements.size > CAPACITY) {
        const oldest = this.#statements.keys().next();
        if (!oldest.done) this.#statements.delete(oldest.value);
      }
    }
    return asKyselyStatement(statement);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

/** Kysely asks for `run`, `all`, `iterate` and `reader`, which better-sqlite3 statements have under the same names. */
function asKyselyStatement(statement: BetterSqlite3.Statement): SqliteStatement {
  return {
    reader: statement.reader,
    all: (parameters) => statement.all(...parameters),
    run: (parameters) => statement.run(...parameters),
    iterate: (parameters) => statement.iterate(...parameters) as IterableIterator<never>,
  };
}
