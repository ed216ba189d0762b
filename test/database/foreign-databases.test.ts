import BetterSqlite3 from 'better-sqlite3';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase, openDatabaseForReading, openDatabaseToLeaveWord } from '../../main/database/database-file.ts';
import { lockDataDirectory } from '../../main/database/data-directory-lock.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';

const nowMs = 1_700_000_000_000;

/** A database in Holdfast's place. */
function makeDatabase(statements: string): { directory: string; path: string } {
  const directory = scratchDirectory();
  const path = join(directory, 'holdfast.db');
  const connection = new BetterSqlite3(path);
  connection.exec(statements);
  connection.close();
  return { directory, path };
}

/** A database that a later version brought forward. */
async function makeNewerDatabase(): Promise<{ directory: string; path: string }> {
  const directory = scratchDirectory();
  const { path, close } = await openDatabase({ directory, nowMs });
  await close();
  const connection = new BetterSqlite3(path);
  connection.exec("insert into kysely_migration values ('9999-from-the-future', '2099-01-01T00:00:00.000Z')");
  connection.exec('create table from_the_future (id integer)');
  connection.close();
  return { directory, path };
}

const OTHER_PROGRAMS: Record<string, string> = {
  'with tables of its own': 'create table bookmarks (url text); insert into bookmarks values (1)',
  'with some of the same table names': 'create table accounts (id); create table events (id)',
  'with migrations of its own by the same library':
    "create table kysely_migration (name text, timestamp text); insert into kysely_migration values ('2020-init', 'x'); create table t (id)",
  'with an empty migration table and other tables':
    'create table kysely_migration (name text, timestamp text); create table t (id)',
};

const WAYS_TO_OPEN = {
  'as its owner': (directory: string) => openDatabase({ directory, nowMs }),
  'beside its owner': (directory: string) => openDatabaseForReading({ directory, nowMs }),
  'to leave word': (directory: string) => openDatabaseToLeaveWord({ directory, nowMs }),
};

describe.each(Object.entries(WAYS_TO_OPEN))('opened %s', (_, open) => {
  test('a database of a newer version is named as such and stays byte for byte', async () => {
    const { directory, path } = await makeNewerDatabase();
    const before = readFileSync(path);

    const fault = await thrownFault(() => open(directory));

    expect(fault.code).toBe('database-newer');
    expect(fault.message).toContain(path);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(directory).filter((name) => name.includes('before-migration'))).toEqual([]);
  });

  test.each(Object.entries(OTHER_PROGRAMS))(
    'a database of some other program, %s, is refused and stays byte for byte',
    async (_name, statements) => {
      const { directory, path } = makeDatabase(statements);
      const before = readFileSync(path);

      const fault = await thrownFault(() => open(directory));

      expect(fault.code).toBe('database-damaged');
      expect(fault.message).toContain(path);
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(readdirSync(directory).filter((name) => !name.startsWith('holdfast.lock'))).toEqual(['holdfast.db']);
    },
  );

  test('a file that is no database is refused and stays byte for byte', async () => {
    const directory = scratchDirectory();
    const path = join(directory, 'holdfast.db');
    const text = 'this is a text, and long enough to be taken for a database page. '.repeat(100);
    writeFileSync(path, text);

    const fault = await thrownFault(() => open(directory));

    expect(fault.code).toBe('database-damaged');
    expect(fault.message).toContain(path);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

test('a refused database leaves the data directory free', async () => {
  const { directory } = makeDatabase('create table bookmarks (url text)');

  await thrownFault(() => openDatabase({ directory, nowMs }));

  lockDataDirectory(directory).release();
});

test('an empty file is a fresh start', async () => {
  const directory = scratchDirectory();
  writeFileSync(join(directory, 'holdfast.db'), '');

  const opened = await openDatabase({ directory, nowMs });

  expect(opened.copyBeforeMigration).toBeNull();
  await opened.close();
});
