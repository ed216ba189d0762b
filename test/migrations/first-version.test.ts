import BetterSqlite3 from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { firstVersion } from '../../migrations/0001-first-version.ts';
import { describeSchema } from './describe-schema.ts';

/** `name TYPE`, `!` for not null, `=default`, `#n` for the place in the primary key. */
const FIRST_VERSION: Record<string, string[]> = {
  accounts: ['id INTEGER #1', 'pubkey TEXT !', 'label TEXT', 'signer_ref TEXT', 'created_at INTEGER !'],
  account_relays: [
    'account_id INTEGER ! #1 -> accounts.id',
    'url TEXT ! #2',
    'read INTEGER ! =0',
    'write INTEGER ! =0',
    'extra INTEGER ! =0',
  ],
  events: [
    'id TEXT #1',
    'pubkey TEXT !',
    'kind INTEGER !',
    'created_at INTEGER !',
    'json TEXT !',
    'first_seen_at INTEGER !',
  ],
  publication_versions: [
    'id INTEGER #1',
    'account_id INTEGER ! -> accounts.id',
    'kind INTEGER !',
    'event_id TEXT !',
    'event_json TEXT !',
    'published_at INTEGER !',
    "accepted_by TEXT ! ='[]'",
  ],
  operations: [
    'id TEXT #1',
    'account_id INTEGER ! -> accounts.id',
    'type TEXT !',
    'status TEXT !',
    "settings TEXT ! ='{}'",
    'checkpoint TEXT',
    'started_at INTEGER !',
    'finished_at INTEGER',
    'error TEXT',
  ],
  presence: ['event_id TEXT ! #1', 'relay_url TEXT ! #2', 'observed_at INTEGER !', 'expires_at INTEGER !'],
  coverage: [
    'account_id INTEGER ! #1 -> accounts.id',
    'relay_url TEXT ! #2',
    'status TEXT !',
    'oldest INTEGER',
    'newest INTEGER',
    'event_count INTEGER ! =0',
    'updated_at INTEGER !',
  ],
};

test('migration 1 makes exactly the tables of the first version, column by column', async () => {
  const connection = new BetterSqlite3(':memory:');
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: connection }) });
  onTestFinished(() => db.destroy());

  await firstVersion.up(db);

  const { columns, uniques, indexes } = describeSchema(connection);
  expect(columns).toEqual(FIRST_VERSION);
  expect(uniques).toEqual({
    accounts: ['pubkey'],
    account_relays: ['account_id,url'],
    events: ['id'],
    operations: ['id'],
    presence: ['event_id,relay_url'],
    coverage: ['account_id,relay_url'],
  });
  expect(indexes).toEqual([]);
});
