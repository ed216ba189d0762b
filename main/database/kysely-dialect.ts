import { SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, DialectAdapter, Driver } from 'kysely';
import type { StatementCache } from './statement-cache.ts';

/** SQLite does undo schema changes on rollback; saying so makes Kysely run a migration in one transaction. */
class TransactionalSchemaAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely's SQLite driver, which tells of every committed transaction. */
class TellingDriver extends SqliteDriver {
  readonly #database: StatementCache;
  readonly #onCommit: () => void;

  constructor(database: StatementCache, onCommit: () => void) {
    super({ database });
    this.#database = database;
    this.#onCommit = onCommit;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#onCommit();
  }

  /** Some failures, a full disk among them, have undone the transaction already; the failure is what is to be told. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** Kysely's SQLite dialect with migrations that apply whole or not at all. */
export class HoldfastDialect extends SqliteDialect {
  readonly #database: StatementCache;
  readonly #onCommit: () => void;

  /** `onCommit` is called after every committed transaction. */
  constructor(database: StatementCache, onCommit: () => void) {
    super({ database });
    this.#database = database;
    this.#onCommit = onCommit;
  }

  override createDriver(): Driver {
    return new TellingDriver(this.#database, this.#onCommit);
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSchemaAdapter();
  }
}
