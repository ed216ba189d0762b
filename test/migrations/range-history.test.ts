import BetterSqlite3 from 'better-sqlite3';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listAccounts, readAccountRelays } from '../../main/accounts/account-store.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { parseRelayUrl, relayKeyOrNull } from '../../main/relays/relay-key.ts';
import { rangeHistory } from '../../migrations/0002-range-history.ts';
import { FIRST_VERSION_RELAYS, makeFirstVersionFile } from '../fixtures/first-version-file.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, bob } from '../relays/event-builder.ts';
import { describeSchema } from './describe-schema.ts';

const NOW_MS = Date.UTC(2026, 10, 30, 12, 34, 56, 789);

/** All rows of a table, in an order of their own. */
function rowsOf(path: string, table: string): Record<string, unknown>[] {
  const connection = new BetterSqlite3(path, { readonly: true });
  try {
    return connection.prepare<[], Record<string, unknown>>(`select * from ${table} order by rowid`).all();
  } finally {
    connection.close();
  }
}

describe('a file of the first version', () => {
  test('keeps every row under a legacy name, and carries accounts and published lists over', async () => {
    const directory = scratchDirectory();
    const { path, rows } = makeFirstVersionFile(directory);

    await openScratchDatabase(directory);

    expect(rowsOf(path, 'accounts')).toEqual(rows['accounts']);
    expect(rowsOf(path, 'publication_versions')).toEqual(rows['publication_versions']);
    for (const [table, list] of Object.entries(rows)) expect(rowsOf(path, `legacy_${table}`)).toEqual(list);
  });

  test('is copied beside itself before it is migrated, and the copy is the database as it was', async () => {
    const directory = scratchDirectory();
    const { rows } = makeFirstVersionFile(directory);

    const opened = await openDatabase({ directory, nowMs: NOW_MS });
    onTestFinished(() => opened.close());

    expect(opened.copyBeforeMigration).toBe(join(directory, 'holdfast.db.before-migration-0002-range-history'));
    for (const [table, list] of Object.entries(rows)) {
      expect(rowsOf(opened.copyBeforeMigration ?? '', table)).toEqual(list);
    }
    expect(readdirSync(directory).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('replaces what is left of a copy that was cut off', async () => {
    const directory = scratchDirectory();
    const { path } = makeFirstVersionFile(directory);
    const partial = `${path}.before-migration-0002-range-history.partial`;
    writeFileSync(partial, 'half of a copy');
    writeFileSync(`${partial}-journal`, 'and its journal');

    const opened = await openDatabase({ directory, nowMs: NOW_MS });
    onTestFinished(() => opened.close());

    expect(readdirSync(directory).filter((name) => name.includes('partial'))).toEqual([]);
    expect(rowsOf(opened.copyBeforeMigration ?? '', 'accounts')).toHaveLength(2);
  });

  test('that cannot be copied stays as it was, and the directory is free again', async () => {
    const directory = scratchDirectory();
    const { path, rows } = makeFirstVersionFile(directory);
    mkdirSync(`${path}.before-migration-0002-range-history.partial`);

    const fault = await thrownFault(() => openDatabase({ directory, nowMs: NOW_MS }));

    expect(fault.code).toBe('storage');
    expect(fault.message).toContain('Nothing was changed');
    expect(rowsOf(path, 'accounts')).toEqual(rows['accounts']);
    rmSync(`${path}.before-migration-0002-range-history.partial`, { recursive: true });
    await openScratchDatabase(directory);
  });

  test('without rows needs no copy', async () => {
    const directory = scratchDirectory();
    makeFirstVersionFile(directory, { empty: true });

    const { copyBeforeMigration } = await openScratchDatabase(directory);

    expect(copyBeforeMigration).toBeNull();
  });

  test('brings accounts with their relays along, roles of one relay added up', async () => {
    const directory = scratchDirectory();
    makeFirstVersionFile(directory);

    const { db } = await openScratchDatabase(directory);

    expect(await listAccounts(db)).toEqual([
      { id: 1, pubkey: alice.pubkey, label: 'Alice' },
      { id: 2, pubkey: bob.pubkey, label: null },
    ]);
    expect((await readAccountRelays(db, 1)).map(({ relayId: _, ...relay }) => relay)).toEqual([
      { key: 'wss://relay.example', url: 'wss://relay.example', read: true, write: true, extra: false },
      {
        key: 'wss://paths.example/a/../B/?x=1',
        url: 'wss://paths.example/a/../B/?x=1',
        read: false,
        write: false,
        extra: true,
      },
    ]);
    const ofBob = await readAccountRelays(db, 2);
    expect(ofBob.map(({ key, read, write, extra }) => ({ key, read, write, extra }))).toEqual([
      { key: 'wss://relay.example', read: true, write: true, extra: false },
      { key: 'ws://127.0.0.1:7000', read: false, write: true, extra: true },
    ]);
    expect(ofBob[0]?.relayId).toBe((await readAccountRelays(db, 1))[0]?.relayId);
  });

  test('leaves URLs that are no relay in the legacy table, and nowhere else', async () => {
    const directory = scratchDirectory();
    const { path } = makeFirstVersionFile(directory);

    const { db } = await openScratchDatabase(directory);

    const carried = (await db.selectFrom('relays').select('url').execute()).map(({ url }) => url);
    const refused = FIRST_VERSION_RELAYS.map(({ url }) => url).filter((url) => relayKeyOrNull(url.trim()) === null);
    expect(refused).toHaveLength(3);
    for (const url of refused) {
      expect(carried).not.toContain(url);
      expect(rowsOf(path, 'legacy_account_relays').map((row) => row['url'])).toContain(url);
    }
  });

  test('gives relays the key that they have everywhere else', async () => {
    const urls = [
      'wss://r.example?',
      'wss://r.example/?a=b',
      'wss://r.example//',
      'ws://r.example:80/x',
      'wss://R.example:8443/%7Ealice/',
      'wss://bücher.example',
      'wss://[::1]:7000/',
      'wss://user@r.example',
      'wss://r.example\\x',
      'wss://r.exa mple',
      'wss://:7000',
      'wss://',
      'WsS://r.example/./a',
    ];
    const directory = scratchDirectory();
    const { path } = makeFirstVersionFile(directory);
    const connection = new BetterSqlite3(path);
    connection.exec('delete from account_relays');
    for (const url of urls)
      connection.prepare('insert into account_relays (account_id, url, read) values (1, ?, 1)').run(url);
    connection.close();

    const { db } = await openScratchDatabase(directory);

    const carried = await db.selectFrom('relays').select(['key', 'url']).execute();
    const expected = urls.filter((url) => relayKeyOrNull(url) !== null).map((url) => parseRelayUrl(url));
    expect(carried).toEqual(expected);
  });

  test('claims nothing of its old coverage as range history', async () => {
    const directory = scratchDirectory();
    makeFirstVersionFile(directory);

    const { db } = await openScratchDatabase(directory);

    for (const table of ['runs', 'ranges', 'attempts', 'queries', 'evidence', 'fetch_state'] as const) {
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
  });
});

test('a fresh install has the same schema as an upgraded one', async () => {
  const upgraded = scratchDirectory();
  const { path } = makeFirstVersionFile(upgraded);
  await openScratchDatabase(upgraded);
  const fresh = await openScratchDatabase();

  const [ofUpgraded, ofFresh] = [path, fresh.path].map((file) => {
    const connection = new BetterSqlite3(file, { readonly: true });
    onTestFinished(() => void connection.close());
    return {
      ...describeSchema(connection),
      triggers: connection.prepare("select sql from sqlite_schema where type in ('trigger', 'view')").all(),
    };
  });

  expect(ofUpgraded).toEqual(ofFresh);
  expect(Object.keys(ofFresh?.columns ?? {})).toContain('evidence');
});

test('every table but those of the first version is strict', async () => {
  const { db } = await openScratchDatabase();

  const { rows } = await sql<{ name: string; strict: number }>`
    select name, strict from pragma_table_list where schema = 'main' and type = 'table'`.execute(db);

  const loose = rows.filter(({ strict }) => strict === 0).map(({ name }) => name);
  expect(loose.filter((name) => !/^(sqlite_|kysely_|legacy_)/.test(name))).toEqual([]);
});

describe('a migration that fails', () => {
  test('leaves the first version as it was, and the next start brings it forward', async () => {
    const directory = scratchDirectory();
    const { path, rows } = makeFirstVersionFile(directory);
    const whole = rangeHistory.up.bind(rangeHistory);
    const failing = vi.spyOn(rangeHistory, 'up').mockImplementation(async (db) => {
      await whole(db);
      await sql`insert into no_such_table values (1)`.execute(db);
    });

    await expect(openDatabase({ directory, nowMs: NOW_MS })).rejects.toMatchObject({ code: 'storage' });

    for (const [table, list] of Object.entries(rows)) expect(rowsOf(path, table)).toEqual(list);
    const connection = new BetterSqlite3(path, { readonly: true });
    expect(Object.keys(describeSchema(connection).columns)).toEqual(Object.keys(rows).sort());
    connection.close();

    failing.mockRestore();
    const { db } = await openScratchDatabase(directory);
    expect(await listAccounts(db)).toHaveLength(2);
    expect(rowsOf(path, 'legacy_events')).toEqual(rows['events']);
  });

  test('leaves one copy, however often it is tried', async () => {
    const directory = scratchDirectory();
    makeFirstVersionFile(directory);
    vi.spyOn(rangeHistory, 'up').mockRejectedValue(new Error('out of order'));

    for (const later of [0, 60_000, 120_000]) {
      await expect(openDatabase({ directory, nowMs: NOW_MS + later })).rejects.toThrow('out of order');
    }

    expect(readdirSync(directory).filter((name) => name.includes('before-migration'))).toHaveLength(1);
  });

  test('on a first start leaves a file that the next start can use', async () => {
    const directory = scratchDirectory();
    const failing = vi.spyOn(rangeHistory, 'up').mockRejectedValue(new Error('out of order'));
    await expect(openDatabase({ directory, nowMs: NOW_MS })).rejects.toThrow('out of order');
    failing.mockRestore();

    const { db } = await openScratchDatabase(directory);

    expect(await listAccounts(db)).toEqual([]);
  });

  test('a first start that was cut off after the bookkeeping was made is gone on with', async () => {
    const directory = scratchDirectory();
    const connection = new BetterSqlite3(join(directory, 'holdfast.db'));
    connection.exec(
      'create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)',
    );
    connection.close();

    const { db } = await openScratchDatabase(directory);

    expect(await listAccounts(db)).toEqual([]);
  });
});
