import BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import { mkdirSync, openSync, closeSync, readdirSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../main/database/database-file.ts';
import { storageFaultOr } from '../../main/database/storage-fault.ts';
import { Fault, toContractError } from '../../main/platform/fault.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';

const nowMs = 1_700_000_000_000;

describe('a disk that is full', () => {
  test('is named in a transaction, which SQLite has undone by then, and the database goes on', async () => {
    const { db, path } = await openScratchDatabase();
    await db.insertInto('settings').values({ name: 'before', value: 'kept' }).execute();
    // SQLite takes its own limit for the end of the disk.
    await sql`pragma max_page_count = 1`.execute(db);

    const fault = await thrownFault(() =>
      db.transaction().execute(async (trx) => {
        await trx.insertInto('settings').values({ name: 'small', value: 'x' }).execute();
        await trx
          .insertInto('settings')
          .values({ name: 'large', value: 'x'.repeat(1_000_000) })
          .execute();
      }),
    );

    expect(fault.code).toBe('storage');
    expect(fault.message).toContain('is full');
    expect(fault.details).toEqual({ path });
    expect(toContractError(fault).code).toBe('storage');
    await sql`pragma max_page_count = 1000000`.execute(db);
    expect(await db.selectFrom('settings').select('name').execute()).toEqual([{ name: 'before' }]);
    await db.transaction().execute((trx) => trx.insertInto('settings').values({ name: 'after', value: 'x' }).execute());
  });

  test('is named outside of one', async () => {
    const { db } = await openScratchDatabase();
    await sql`pragma max_page_count = 1`.execute(db);

    const fault = await thrownFault(() =>
      db
        .insertInto('settings')
        .values({ name: 'large', value: 'x'.repeat(1_000_000) })
        .execute(),
    );

    expect(fault.code).toBe('storage');
  });
});

test('a failure of the one who asked undoes the transaction and is passed on as it is', async () => {
  const { db } = await openScratchDatabase();

  const asked = db.transaction().execute(async (trx) => {
    await trx.insertInto('settings').values({ name: 'once', value: '1' }).execute();
    await trx.insertInto('settings').values({ name: 'once', value: '2' }).execute();
  });

  await expect(asked).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  expect(await db.selectFrom('settings').selectAll().execute()).toEqual([]);
});

test('pages that turn out to be broken after opening are damage, also while rows are streamed', async () => {
  const directory = scratchDirectory();
  const first = await openDatabase({ directory, nowMs });
  for (let index = 0; index < 40; index += 1) {
    await first.db
      .insertInto('settings')
      .values({ name: `s${index}`, value: 'x'.repeat(500) })
      .execute();
  }
  await first.close();
  const connection = new BetterSqlite3(first.path, { readonly: true });
  const root = Number(connection.prepare("select rootpage from sqlite_schema where name = 'settings'").pluck().get());
  const size = Number(connection.pragma('page_size', { simple: true }));
  connection.close();
  const file = openSync(first.path, 'r+');
  writeSync(file, Buffer.alloc(size, 0xff), 0, size, (root - 1) * size);
  closeSync(file);

  const { db, path } = await openScratchDatabase(directory);
  const whole = await thrownFault(() => db.selectFrom('settings').selectAll().execute());
  const streamed = await thrownFault(async () => {
    for await (const row of db.selectFrom('settings').selectAll().stream()) expect(row).toBeDefined();
  });

  expect([whole.code, streamed.code]).toEqual(['database-damaged', 'database-damaged']);
  expect(whole.message).toContain(path);
});

test.each([
  ['SQLITE_FULL', 'storage'],
  ['SQLITE_IOERR_WRITE', 'storage'],
  ['SQLITE_IOERR', 'storage'],
  ['SQLITE_CANTOPEN', 'storage'],
  ['SQLITE_READONLY_DBMOVED', 'storage'],
  ['SQLITE_BUSY', 'storage'],
  ['SQLITE_CORRUPT_VTAB', 'database-damaged'],
  ['SQLITE_NOTADB', 'database-damaged'],
])('%s is told as %s', (code, expected) => {
  const fault = storageFaultOr(new BetterSqlite3.SqliteError('words', code), '/data/holdfast.db');

  expect(fault instanceof Fault && fault.code).toBe(expected);
});

describe('a data directory that disappears while it is used', () => {
  test.each<[string, (directory: string) => void]>([
    ['deleted', (directory) => rmSync(directory, { recursive: true })],
    ['moved away', (directory) => renameSync(directory, `${directory}-moved`)],
    [
      'replaced',
      (directory) => {
        rmSync(directory, { recursive: true });
        mkdirSync(directory);
        writeFileSync(join(directory, 'holdfast.db'), '');
      },
    ],
  ])('%s: nothing more is committed', async (_how, disappear) => {
    const directory = join(scratchDirectory(), 'data');
    const { db } = await openScratchDatabase(directory);
    await db.insertInto('settings').values({ name: 'before', value: 'x' }).execute();

    disappear(directory);

    const insertion = (name: string) => db.insertInto('settings').values({ name, value: 'x' });
    const faults = [
      await thrownFault(() => insertion('alone').execute()),
      await thrownFault(() => insertion('returning').returning('name').execute()),
      await thrownFault(() => db.transaction().execute((trx) => trx.deleteFrom('settings').execute())),
    ];
    expect(faults.map(({ code }) => code)).toEqual(['storage', 'storage', 'storage']);
    expect(faults[0]?.message).toContain(directory);
    // What is open can still be read, and none of it took place.
    expect(await db.selectFrom('settings').select('name').execute()).toEqual([{ name: 'before' }]);
  });
});

test('what is left of copies that were cut off goes at the next opening', async () => {
  const directory = scratchDirectory();
  await (await openDatabase({ directory, nowMs })).close();
  const left = ['0002-range-history.partial', '0002-range-history.partial-journal', '20260101T000000Z.partial'];
  for (const name of left) writeFileSync(join(directory, `holdfast.db.before-migration-${name}`), 'half');
  writeFileSync(join(directory, 'holdfast.db.before-migration-0001-whole'), 'a whole copy');
  writeFileSync(join(directory, 'someone.partial'), 'not ours');

  await openScratchDatabase(directory);

  const names = readdirSync(directory).filter((name) => /partial|before/.test(name));
  expect(names.sort()).toEqual(['holdfast.db.before-migration-0001-whole', 'someone.partial']);
});
