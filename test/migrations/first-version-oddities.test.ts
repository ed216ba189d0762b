import BetterSqlite3 from 'better-sqlite3';
import { expect, test } from 'vitest';
import { addAccount, listAccounts, readAccountRelays } from '../../main/accounts/account-store.ts';
import { makeFirstVersionFile } from '../fixtures/first-version-file.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { alice, bob } from '../relays/event-builder.ts';

/** A file of the first version, which took values of any type and never looked where a reference leads, changed by `change`. */
function makeOddFile(change: (connection: BetterSqlite3.Database) => void): { directory: string; path: string } {
  const directory = scratchDirectory();
  const { path } = makeFirstVersionFile(directory);
  const connection = new BetterSqlite3(path);
  connection.pragma('foreign_keys = OFF');
  change(connection);
  connection.close();
  return { directory, path };
}

function query(path: string, statement: string): unknown[] {
  const connection = new BetterSqlite3(path, { readonly: true });
  try {
    return connection.prepare(statement).raw().all();
  } finally {
    connection.close();
  }
}

const TABLES = ['accounts', 'account_relays', 'events', 'publication_versions', 'operations', 'presence', 'coverage'];

test.each([
  'NOTHEX',
  alice.pubkey.toUpperCase(),
  `${'a'.repeat(63)}é`,
  `${'a'.repeat(64)}\0`,
  'a'.repeat(65),
  '',
  Buffer.from('a'.repeat(64)),
  Buffer.from([0, 255]),
  12,
])('an account whose public key is %j stays aside, with what refers to it, and hides no other', async (pubkey) => {
  const { directory, path } = makeOddFile((connection) => {
    connection.prepare('insert into accounts values (3, ?, null, null, 1)').run(pubkey);
    connection.exec(`insert into account_relays values (3, 'wss://aside.example', 1, 1, 0);
      insert into publication_versions select 8, 3, kind, event_id, event_json, 1, '[]' from publication_versions;
      insert into operations values ('aside', 3, 'fetch', 'partial', '{}', null, 1, null, null);
      insert into coverage values (3, 'wss://aside.example', 'complete', 1, 2, 3, 4)`);
  });

  const { db } = await openScratchDatabase(directory);

  expect((await listAccounts(db)).map((account) => account.pubkey)).toEqual([alice.pubkey, bob.pubkey]);
  expect(query(path, 'select id from legacy_accounts order by id')).toEqual([[1], [2], [3]]);
  expect(query(path, "select url from relays where url like '%aside%'")).toEqual([]);
  expect(query(path, "select account_id from legacy_account_relays where url like '%aside%'")).toEqual([[3]]);
  expect(query(path, 'select id from publication_versions')).toEqual([[7]]);
  expect(query(path, 'select id from legacy_publication_versions order by id')).toEqual([[7], [8]]);
});

test('rows whose account is gone stay aside, and no new account comes into them', async () => {
  const { directory, path } = makeOddFile((connection) => {
    connection.exec(`insert into account_relays values (77, 'wss://orphan.example', 1, 1, 0);
      insert into operations values ('orphan', 88, 'fetch', 'running', '{}', null, 1, null, null);
      insert into coverage values (99, 'wss://orphan.example', 'complete', 1, 2, 3, 4)`);
  });

  const { db } = await openScratchDatabase(directory);

  expect(await listAccounts(db)).toHaveLength(2);
  expect(query(path, 'select account_id from legacy_account_relays where account_id > 2')).toEqual([[77]]);
  const added = await addAccount(db, { pubkey: 'c'.repeat(64), label: null, relays: [], createdAt: 1 });
  expect(added.id).toBe(100);
});

test('a URL that is no text stays aside', async () => {
  const { directory, path } = makeOddFile((connection) => {
    connection.exec("insert into account_relays values (1, x'00ff', 1, 1, 0), (1, x'7773733a2f2f62', 1, 1, 0)");
  });

  const { db } = await openScratchDatabase(directory);

  const sound = await readAccountRelays(db, 1);
  expect(sound.map(({ key }) => key)).toEqual(['wss://relay.example', 'wss://paths.example/a/../B/?x=1']);
  expect(query(path, "select count(*) from legacy_account_relays where typeof(url) = 'blob'")).toEqual([[2]]);
});

test('a role is a number other than 0, and nothing else', async () => {
  const { directory } = makeOddFile((connection) => {
    connection.exec(`delete from account_relays;
      insert into account_relays values (1, 'wss://r.example', 'yes', -1, 2.5), (1, 'wss://s.example', x'01', 0, '1')`);
  });

  const { db } = await openScratchDatabase(directory);

  expect((await readAccountRelays(db, 1)).map(({ url, read, write, extra }) => [url, read, write, extra])).toEqual([
    ['wss://r.example', false, true, true],
    ['wss://s.example', false, false, true],
  ]);
});

test('an account keeps what it holds of the right type', async () => {
  const { directory } = makeOddFile((connection) => {
    connection.exec("update accounts set label = x'00ff', signer_ref = x'01', created_at = 'later' where id = 1");
    connection.exec('update accounts set created_at = 1.5 where id = 2');
  });

  const { db } = await openScratchDatabase(directory);

  expect(await db.selectFrom('accounts').selectAll().orderBy('id').execute()).toEqual([
    { id: 1, pubkey: alice.pubkey, label: null, signer_ref: null, created_at: 0 },
    { id: 2, pubkey: bob.pubkey, label: null, signer_ref: null, created_at: 0 },
  ]);
});

test('whatever type the values have, the file is brought forward, and every row of the first version is there as it was', async () => {
  const odd: unknown[] = [
    'text',
    'a\0b',
    Buffer.from([0, 255]),
    -1,
    2.5,
    9_007_199_254_740_993n,
    -9_223_372_036_854_775_808n,
  ];
  const { directory, path } = makeOddFile((connection) => {
    connection.exec('delete from account_relays');
    for (const value of odd) {
      const insert = (table: string, values: unknown[]): void => {
        const places = values.map(() => '?').join();
        connection.prepare(`insert into ${table} values (${places})`).run(...values);
      };
      insert('accounts', [null, value, value, value, value]);
      insert('account_relays', [value, value, value, value, value]);
      insert('account_relays', [1, value, value, value, value]);
      insert('events', [value, value, value, value, value, value]);
      insert('publication_versions', [null, 1, value, value, value, value, value]);
      insert('publication_versions', [null, value, value, value, value, value, value]);
      insert('operations', [value, value, value, value, value, value, value, value, value]);
      insert('presence', [value, value, value, value]);
      insert('coverage', [value, value, value, value, value, value, value]);
    }
    connection.exec(`insert into accounts values (9007199254740993, '${'d'.repeat(64)}', null, null, 1)`);
  });
  const before = TABLES.map((table) => query(path, `select count(*), group_concat(quote(rowid)) from ${table}`));

  const { db } = await openScratchDatabase(directory);

  expect(
    TABLES.map((table) => query(path, `select count(*), group_concat(quote(rowid)) from legacy_${table}`)),
  ).toEqual(before);
  expect((await listAccounts(db)).map(({ pubkey }) => pubkey)).toEqual([alice.pubkey, bob.pubkey]);
  expect(query(path, 'select id from publication_versions')).toEqual([[7]]);
  expect(query(path, 'pragma integrity_check')).toEqual([['ok']]);
});
