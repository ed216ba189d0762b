import BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { beginRun, cancelRequests, requestCancel } from '../../main/coverage/run-history.ts';
import { openDatabaseForReading, openDatabaseToLeaveWord } from '../../main/database/database-file.ts';
import { makeFirstVersionFile } from '../fixtures/first-version-file.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';

const nowMs = 1_700_000_000_000;

test('without an archive a reader says so and creates nothing', async () => {
  const directory = scratchDirectory();

  const fault = await thrownFault(() => openDatabaseForReading({ directory, nowMs }));

  expect(fault.code).toBe('not-found');
  expect(fault.message).toContain(directory);
});

test('a reader sees what the owner commits, and cannot write', async () => {
  const directory = scratchDirectory();
  const { db } = await openScratchDatabase(directory);
  const reader = openDatabaseForReading({ directory, nowMs });
  onTestFinished(() => reader.close());

  await db.insertInto('settings').values({ name: 'theme', value: '"dark"' }).execute();

  expect(await reader.db.selectFrom('settings').selectAll().execute()).toEqual([{ name: 'theme', value: '"dark"' }]);
  await expect(sql`insert into settings values ('x', 'y')`.execute(reader.db)).rejects.toThrow(/readonly/);
});

test('a reader waits for nobody while the owner writes', async () => {
  const directory = scratchDirectory();
  const { db } = await openScratchDatabase(directory);
  const reader = openDatabaseForReading({ directory, nowMs });
  onTestFinished(() => reader.close());

  await db.transaction().execute(async (trx) => {
    await trx.insertInto('settings').values({ name: 'theme', value: '"dark"' }).execute();
    expect(await reader.db.selectFrom('settings').selectAll().execute()).toEqual([]);
  });

  expect(await reader.db.selectFrom('settings').selectAll().execute()).toHaveLength(1);
});

test('an archive that was not yet brought forward cannot be read beside', async () => {
  const directory = scratchDirectory();
  makeFirstVersionFile(directory);

  expect((await thrownFault(() => openDatabaseForReading({ directory, nowMs }))).code).toBe('data-directory-in-use');
});

test('an archive whose owner holds it for itself, as while migrating, is in use', async () => {
  const directory = scratchDirectory();
  const { path } = makeFirstVersionFile(directory);
  const migrating = new BetterSqlite3(path);
  onTestFinished(() => void migrating.close());
  migrating.exec('begin exclusive');

  expect((await thrownFault(() => openDatabaseForReading({ directory, nowMs }))).code).toBe('data-directory-in-use');
});

test('word can be left for the owner to cancel a run', async () => {
  const directory = scratchDirectory();
  const { db } = await openScratchDatabase(directory);
  await db
    .insertInto('accounts')
    .values({ pubkey: 'a'.repeat(64), label: null, signer_ref: null, created_at: 0 })
    .execute();
  const run = await beginRun(db, {
    accountId: 1,
    type: 'fetch',
    strategy: 'auto',
    pageLimit: 100,
    boundary: 1_700_000_000,
    sources: [],
    warnings: [],
    startedAt: 1_700_000_000,
  });

  const beside = openDatabaseToLeaveWord({ directory, nowMs });
  await requestCancel(beside.db, run, 1_700_000_001);
  await beside.close();

  expect(await cancelRequests(db)).toEqual([run]);
});
