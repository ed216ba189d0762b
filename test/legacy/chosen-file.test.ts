import BetterSqlite3 from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listAccounts, readAccount, readAccountRelays, setAccountRelays } from '../../main/accounts/account-store.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { accountKey, relayUrl } from './first-version-rows.ts';
import { generateRows, insertRows, writeFirstVersion } from './generated-first-version.ts';
import { LegacyRig, NOW } from './legacy-rig.ts';

const ROWS = generateRows({ accounts: 1, events: 30, dirty: true });

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Everything in a directory, by name and contents. */
function contentsOf(directory: string): Record<string, string> {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, hashOf(join(directory, name))]));
}

test('a chosen file is brought over with counts that agree, and stays as it is', async () => {
  const directory = scratchDirectory();
  const file = writeFirstVersion(directory, ROWS, 'old.db');
  const before = contentsOf(directory);
  chmodSync(file, 0o400);
  const rig = await LegacyRig.open(scratchDirectory());

  const number = await rig.carryOver.importFile(file);
  const source = await rig.finished();

  expect(source).toMatchObject({ id: number, file, state: 'done', copy: null });
  for (const { table, before: counted, carried, merged, aside, information } of source.tables) {
    expect([table, counted]).toEqual([table, ROWS[table]?.length]);
    expect([table, carried + merged + aside + information]).toEqual([table, counted]);
  }
  expect(contentsOf(directory)).toEqual(before);
  expect((await listAccounts(rig.database.db)).map(({ pubkey }) => pubkey)).toContain(accountKey(0).pubkey);
  const account = await readAccount(rig.database.db, accountKey(0).pubkey);
  const relays = await readAccountRelays(rig.database.db, account.id);
  expect(relays.map(({ url }) => url)).toEqual([relayUrl(0), relayUrl(1), relayUrl(2), 'wss://roles.example']);
  expect(relays.map(({ read, write, extra }) => [read, write, extra])).toEqual([
    [true, true, false],
    [true, true, false],
    [true, false, true],
    [false, true, false],
  ]);
  expect(readdirSync(join(rig.database.path, '..')).filter((name) => name.startsWith('first-version'))).toEqual([]);
});

test('rows that lie in a journal beside the file come over too, and the journal stays', async () => {
  const directory = scratchDirectory();
  const file = writeFirstVersion(directory, generateRows({ accounts: 1, events: 5 }), 'old.db');
  const writer = new BetterSqlite3(file);
  writer.pragma('journal_mode = WAL');
  writer.pragma('wal_autocheckpoint = 0');
  insertRows(writer, {
    presence: [{ event_id: 'd'.repeat(64), relay_url: relayUrl(0), observed_at: 5, expires_at: 3605 }],
  });
  // The program that wrote it ended without tidying up.
  const left = scratchDirectory();
  for (const suffix of ['', '-wal']) writeFileSync(join(left, `old.db${suffix}`), readFileSync(`${file}${suffix}`));
  writer.close();
  const before = contentsOf(left);
  const rig = await LegacyRig.open(scratchDirectory());

  await rig.carryOver.importFile(join(left, 'old.db'));
  const source = await rig.finished();

  expect(source.tables.find(({ table }) => table === 'presence')?.carried).toBe(11);
  expect(contentsOf(left)).toEqual(before);
});

test('the same contents chosen again add nothing, wherever they lie, and that is said', async () => {
  const file = writeFirstVersion(scratchDirectory(), ROWS, 'old.db');
  const moved = join(scratchDirectory(), 'moved.db');
  writeFileSync(moved, readFileSync(file));
  const rig = await LegacyRig.open(scratchDirectory());
  await rig.carryOver.importFile(file);
  await rig.finished();

  for (const path of [file, moved]) {
    const fault = await thrownFault(() => rig.carryOver.importFile(path));
    expect([fault.code, fault.message]).toEqual([
      'nothing-to-do',
      `${path} was brought over already, on 2023-11-14, and nothing in it has changed since. Nothing was added.`,
    ]);
  }
  expect(await rig.sources()).toHaveLength(1);
  expect(readdirSync(join(rig.database.path, '..')).filter((name) => name.startsWith('first-version'))).toEqual([]);
});

test('the copy made before migrating adds nothing to the archive that was made from it', async () => {
  const directory = scratchDirectory();
  writeFirstVersion(directory, generateRows());
  const rig = await LegacyRig.open(directory);
  const own = await rig.finished();
  const before = await countRows(rig);

  await rig.carryOver.importFile(own.copy ?? '');
  const source = await rig.finished();

  expect(source.tables.map(({ table, carried, aside }) => [table, carried, aside])).toEqual([
    ['accounts', 0, 0],
    ['account_relays', 0, 0],
    ['publication_versions', 0, 0],
    ['events', 0, 0],
    ['presence', 0, 0],
    ['coverage', 0, 0],
    ['operations', 0, 0],
  ]);
  expect(await countRows(rig)).toEqual(before);
});

async function countRows(rig: LegacyRig): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of [
    'accounts',
    'account_relays',
    'events',
    'presence',
    'legacy_sightings',
    'legacy_checkpoints',
    'legacy_operations_kept',
    'legacy_coverage_lines',
    'publication_versions',
  ] as const) {
    const { n } = await rig.database.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    counts[table] = n;
  }
  return counts;
}

test('an account that is here already keeps its relay list', async () => {
  const directory = scratchDirectory();
  const rig = await LegacyRig.open(directory);
  await rig.carryOver.importFile(
    writeFirstVersion(scratchDirectory(), generateRows({ accounts: 1, events: 2 }), 'a.db'),
  );
  await rig.finished();
  const account = await readAccount(rig.database.db, accountKey(0).pubkey);
  await setAccountRelays(rig.database.db, account.id, [
    { url: relayUrl(1), read: true, write: true, extra: false },
    { url: 'wss://mine.example', read: true, write: true, extra: false },
  ]);

  await rig.carryOver.importFile(
    writeFirstVersion(scratchDirectory(), generateRows({ accounts: 1, events: 3 }), 'b.db'),
  );
  const source = await rig.finished();

  expect((await readAccountRelays(rig.database.db, account.id)).map(({ url }) => url)).toEqual([
    relayUrl(1),
    'wss://mine.example',
  ]);
  expect(source.tables[1]).toMatchObject({ table: 'account_relays', before: 3, merged: 1, information: 2 });
});

test('what is no first-version database is refused with one sentence, and changes nothing', async () => {
  const data = scratchDirectory();
  const rig = await LegacyRig.open(data);
  const directory = scratchDirectory();
  const text = join(directory, 'events.jsonl');
  writeFileSync(text, '{}\n');
  const foreign = join(directory, 'foreign.db');
  new BetterSqlite3(foreign).exec('create table bookmarks (url text)').close();
  const torn = join(directory, 'torn.db');
  writeFileSync(torn, readFileSync(writeFirstVersion(directory, ROWS, 'whole.db')).subarray(0, 5000));
  const partly = join(directory, 'partly.db');
  new BetterSqlite3(writeFirstVersion(directory, {}, 'partly.db'))
    .exec('alter table events drop column first_seen_at')
    .close();
  const newer = join(directory, 'newer.db');
  new BetterSqlite3(newer)
    .exec(
      `create table kysely_migration (name varchar(255), timestamp varchar(255));
      insert into kysely_migration values ('0001-first-version', ''), ('9999-later', '')`,
    )
    .close();
  const other = await openDatabase({ directory: join(directory, 'other'), nowMs: NOW * 1000 });
  await other.close();
  mkdirSync(join(directory, 'folder.db'));
  const before = [contentsOfFiles(directory), readdirSync(data).sort()];

  const cases: [string, string, RegExp][] = [
    ['old.db', 'invalid-argument', /^Give the whole path of the file/],
    [join(directory, 'gone.db'), 'invalid-argument', /^There is no file .*gone\.db\.$/],
    [join(directory, 'folder.db'), 'invalid-argument', /is no file\.$/],
    [rig.database.path, 'invalid-argument', /is this archive itself\.$/],
    [text, 'invalid-argument', /is not a database of the first version of Holdfast\.$/],
    [foreign, 'invalid-argument', /is not a database of the first version of Holdfast, or it is damaged\.$/],
    [torn, 'invalid-argument', /is not a database of the first version of Holdfast, or it is damaged\.$/],
    [partly, 'invalid-argument', /is no database of the first version/],
    [newer, 'database-newer', /newer\.db was written by a newer version of Holdfast/],
    [other.path, 'invalid-argument', /is no database of the first version of Holdfast\. An archive of this version/],
  ];
  for (const [path, code, message] of cases) {
    const fault = await thrownFault(() => rig.carryOver.importFile(path));
    expect([path, fault.code]).toEqual([path, code]);
    expect(fault.message).toMatch(message);
  }

  expect([contentsOfFiles(directory), readdirSync(data).sort()]).toEqual(before);
  expect(await rig.sources()).toEqual([]);
  expect(rig.carryOver.progress()).toBeNull();
});

function contentsOfFiles(directory: string): Record<string, string> {
  const files = readdirSync(directory).filter((name) => statSync(join(directory, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, hashOf(join(directory, name))]));
}

test('what a person keeps beside the archive is left alone', async () => {
  const data = scratchDirectory();
  for (const name of ['first-version-old.db', 'first-version-2020.db-wal', 'first-version-.db'])
    writeFileSync(join(data, name), 'mine');
  await (await LegacyRig.open(data)).close();
  expect(readdirSync(data)).toEqual(
    expect.arrayContaining(['first-version-old.db', 'first-version-2020.db-wal', 'first-version-.db']),
  );
});

test('once it was begun, the chosen file is not needed any more', async () => {
  const data = scratchDirectory();
  const file = writeFirstVersion(scratchDirectory(), ROWS, 'old.db');
  const rig = await LegacyRig.open(data);
  await rig.carryOver.importFile(file);
  await rig.close();
  rmSync(file);

  const again = await LegacyRig.open(data);
  const source = await again.finished();

  expect(source).toMatchObject({ file, state: 'done', stoppedBecause: null });
  expect(source.done).toBe(source.total);
});

test('a copy that is gone is said, keeps nobody from working, and is made again when the file is chosen again', async () => {
  const data = scratchDirectory();
  const file = writeFirstVersion(scratchDirectory(), ROWS, 'old.db');
  const rig = await LegacyRig.open(data);
  await rig.carryOver.importFile(file);
  await rig.close();
  for (const name of readdirSync(data)) if (name.startsWith('first-version-')) rmSync(join(data, name));

  const again = await LegacyRig.open(data);
  const stopped = await again.finished();
  expect(stopped).toMatchObject({ state: 'carrying', stoppedBecause: expect.stringContaining('is gone') as string });
  expect(() => again.carryOver.requireDone()).not.toThrow();
  expect(await again.carryOver.ended()).toBe(stopped.stoppedBecause);

  await again.carryOver.importFile(file);
  expect(await again.finished()).toMatchObject({ id: stopped.id, state: 'done', stoppedBecause: null });
  expect(existsSync(file)).toBe(true);
});
