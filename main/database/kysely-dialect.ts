import { SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, DialectAdapter, Driver, SqliteDialectConfig } from 'kysely';

/** SQLite does undo schema changes on rollback; saying so makes Kysely run a migration in one transaction. */
class TransactionalSchemaAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely's SQLite driver, which tells of every committed transaction. */
class TellingDriver extends SqliteDriver {
  readonly #onCommit: () => void;

  constructor(config: SqliteDialectConfig, onCommit: () => void) {
    super(config);
    this.#onCommit = onCommit;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#onCommit();
  }
}

/** Kysely's SQLite dialect with migrations that apply whole or not at all. */
export class HoldfastDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #onCommit: () => void;

  /** `onCommit` is called after every committed transaction. */
  constructor(config: SqliteDialectConfig, onCommit: () => void) {
    super(config);
    this.#config = config;
    this.#onCommit = onCommit;
  }

  override createDriver(): Driver {
    return new TellingDriver(this.#config, this.#onCommit);
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalSchemaAdapter();
  }
}
