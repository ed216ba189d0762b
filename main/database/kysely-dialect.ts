import { SqliteAdapter, SqliteDialect, type DialectAdapter } from 'kysely';

/** SQLite does undo schema changes on rollback; saying so makes Kysely run a migration in one transaction. */
class TransactionalSchemaAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Kysely's SQLite dialect with migrations that apply whole or not at all. */
export class HoldfastDialect extends SqliteDialect {
  override createAdapter(): DialectAdapter {
    return new TransactionalSchemaAdapter();
  }
}
