import BetterSqlite3 from 'better-sqlite3';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readAccount, readAccountRelays, setAccountRelays } from '../../main/accounts/account-store.ts';
import { readArchivedEvent } from '../../main/archive/event-reader.ts';
import { readCoverageTree } from '../../main/coverage/coverage-tree.ts';
import { readWhereabouts } from '../../main/coverage/whereabouts.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { FIRST_VERSION_ORDER } from '../../main/legacy/first-version-tables.ts';
import { readLegacyOperations, readRemarkedRow } from '../../main/legacy/legacy-remarks.ts';
import type { LegacySource } from '../../preload/contract.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { accountKey, LAST_USED, OLDEST, presenceRow, relayUrl, type GivenRows } from './first-version-rows.ts';
import { generateRows, writeFirstVersion } from './generated-first-version.ts';
import { LegacyRig, NOW } from './legacy-rig.ts';

/** Opens a data directory that holds a first-version database with these rows, and waits until all is carried over. */
async function carried(rows: GivenRows): Promise<{ rig: LegacyRig; source: LegacySource; directory: string }> {
  const directory = scratchDirectory();
  writeFirstVersion(directory, rows);
  const rig = await LegacyRig.open(directory);
  return { rig, source: await rig.finished(), directory };
}

function expectCountsToAgree(source: LegacySource, rows: GivenRows): void {
  expect(source.state).toBe('done');
  expect(source.done).toBe(source.total);
  expect(source.tables.map(({ table }) => table)).toEqual([...FIRST_VERSION_ORDER]);
  for (const { table, before, carried: over, merged, aside, information } of source.tables) {
    expect([table, before]).toEqual([table, rows[table]?.length ?? 0]);
    expect([table, over + merged + aside + information]).toEqual([table, before]);
  }
}

test.each([
  ['clean', generateRows()],
  ['dirty in every way', generateRows({ dirty: true })],
  ['of one account without anything else', generateRows({ accounts: 1, events: 0, relays: 0, checkpoints: 0 })],
  ['with many windows', generateRows({ accounts: 1, checkpoints: 50, windows: 36 })],
])('a database that is %s is brought over with counts that agree, table by table', async (_name, rows) => {
  const { source } = await carried(rows);
  expectCountsToAgree(source, rows);
});

test('of a clean database nothing stays aside, and nothing is remarked upon', async () => {
  const { rig, source } = await carried(generateRows());
  expect(source.tables.map(({ table, aside, merged }) => [table, aside, merged])).toEqual(
    FIRST_VERSION_ORDER.map((table) => [table, 0, 0]),
  );
  expect(await rig.remarks(source.id)).toEqual([]);
  expect(source.tables.find(({ table }) => table === 'events')?.carried).toBe(80);
});

test('every row that cannot be right is listed by its problem, and kept whole', async () => {
  const { rig, source } = await carried(generateRows({ dirty: true }));
  const remarks = await rig.remarks(source.id);
  const counted: Record<string, Record<string, number>> = {};
  for (const { table, problem, outcome } of remarks) {
    const counts = (counted[table] ??= {});
    counts[`${problem}, ${outcome}`] = (counts[`${problem}, ${outcome}`] ?? 0) + 1;
  }
  expect(counted).toEqual({
    accounts: {
      'future-time, carried': 1,
      'milliseconds, carried': 1,
      'wrong-shape, aside': 2,
      'wrong-type, aside': 1,
      'wrong-type, carried': 2,
    },
    account_relays: {
      'bad-url, aside': 2,
      'duplicate, merged': 2,
      'unknown-account, aside': 2,
      'wrong-type, aside': 1,
      'wrong-type, carried': 2,
    },
    publication_versions: {
      'bad-signature, aside': 1,
      'bad-url, carried': 1,
      'columns-disagree, carried': 1,
      'future-time, aside': 1,
      'milliseconds, aside': 1,
      'not-json, aside': 1,
      'unknown-account, aside': 1,
      'wrong-id, aside': 1,
      'wrong-shape, aside': 2,
    },
    events: {
      'bad-signature, aside': 1,
      'columns-disagree, carried': 1,
      'columns-disagree, merged': 1,
      'future-time, carried': 2,
      'milliseconds, carried': 2,
      'not-json, aside': 1,
      'wrong-id, aside': 1,
      'wrong-shape, aside': 1,
      'wrong-type, aside': 1,
      'wrong-type, carried': 2,
    },
    presence: {
      'bad-url, aside': 1,
      'contradiction, carried': 1,
      'duplicate, merged': 2,
      'future-time, aside': 1,
      'milliseconds, aside': 1,
      'wrong-shape, aside': 2,
      'wrong-type, aside': 2,
    },
    coverage: {
      'bad-url, aside': 1,
      'contradiction, carried': 1,
      'duplicate, merged': 1,
      'future-time, carried': 1,
      'milliseconds, carried': 2,
      'unknown-account, aside': 1,
      'wrong-shape, aside': 1,
      'wrong-type, aside': 2,
    },
    operations: {
      'bad-url, aside': 1,
      'bad-url, carried': 1,
      'contradiction, carried': 4,
      'duplicate, carried': 1,
      'future-time, carried': 2,
      'milliseconds, carried': 2,
      'not-json, aside': 1,
      'not-json, carried': 1,
      'unknown-account, aside': 1,
      'unknown-version, aside': 1,
      'wrong-shape, aside': 5,
      'wrong-shape, carried': 1,
      'wrong-type, aside': 1,
    },
  });
  const bytes = remarks.find(({ table, problem }) => table === 'account_relays' && problem === 'wrong-type');
  expect(JSON.parse(await readRemarkedRow(rig.database.db, bytes?.id ?? 0))).toEqual({
    account_id: 1,
    url: { blob: '00ff' },
    read: 1,
    write: 1,
    extra: 0,
  });
});

test('signed events are archived as they were signed, with when they were first seen', async () => {
  const rows = generateRows();
  const { rig } = await carried(rows);
  for (const { id, json, first_seen_at: firstSeenAt } of rows['events'] ?? []) {
    const archived = await readArchivedEvent(rig.database.db, String(id));
    expect(archived).toMatchObject({ event: JSON.parse(String(json)) as unknown, firstSeenAt });
  }
});

test('an event that was seen on a relay counts as present there, by word of the first version', async () => {
  const rows = generateRows();
  const { rig } = await carried(rows);
  const [row] = rows['presence'] ?? [];
  const whereabouts = await readWhereabouts(rig.database.db, String(row?.['event_id']));
  expect(whereabouts?.relays.map(({ url, state, observedAt, query }) => ({ url, state, observedAt, query }))).toEqual([
    { url: relayUrl(0), state: 'present', observedAt: row?.['observed_at'], query: null },
    { url: relayUrl(1), state: 'present', observedAt: Number(row?.['observed_at']) + 1, query: null },
    { url: relayUrl(2), state: 'undetermined', observedAt: null, query: null },
  ]);
  expect(whereabouts?.relays[0]?.ground).toBe('The first version saw it there. It did not record by which query.');
});

test('sightings of one event on one relay are one, of the latest time', async () => {
  const id = 'a'.repeat(64);
  const rows = {
    ...generateRows({ events: 0 }),
    presence: [
      presenceRow(id, relayUrl(0), LAST_USED - 20),
      presenceRow(id, `${relayUrl(0)}/`, LAST_USED - 10),
      presenceRow(id, `${relayUrl(0)}:443`, LAST_USED - 30),
    ],
  };
  const { rig, source } = await carried(rows);
  expectCountsToAgree(source, rows);
  expect(await rig.database.db.selectFrom('legacy_sightings').select('observed_at').execute()).toEqual([
    { observed_at: LAST_USED - 10 },
  ]);
  expect((await readWhereabouts(rig.database.db, id))?.relays).toMatchObject([
    { url: relayUrl(0), state: 'present', observedAt: LAST_USED - 10 },
  ]);
});

test('what the first version said of a relay is shown as that, and every history is open', async () => {
  const { rig } = await carried(generateRows());
  const { db } = rig.database;
  const account = await readAccount(db, accountKey(0).pubkey);
  const tree = await readCoverageTree(db, {
    id: account.id,
    pubkey: account.pubkey,
    archive: { events: 0, oldest: null, newest: null },
    relays: await readAccountRelays(db, account.id),
  });
  expect(tree.relays.map(({ url, legacy }) => [url, legacy?.status])).toEqual([
    [relayUrl(0), 'complete'],
    [relayUrl(1), 'partial'],
    [relayUrl(2), 'failed'],
  ]);
  expect(tree.relays[0]?.legacy).toEqual({
    status: 'complete',
    oldest: OLDEST,
    newest: LAST_USED - 1000,
    events: 40,
    updatedAt: LAST_USED - 200,
  });
  for (const relay of tree.relays) {
    expect(relay).toMatchObject({ historyComplete: false, forwardBoundary: null, ranges: [] });
  }
});

test('what it did is kept as its history, and unfinished fetches wait for a decision', async () => {
  const { rig, source } = await carried(generateRows({ accounts: 1, checkpoints: 2, windows: 3 }));
  const { db } = rig.database;
  const { total, operations } = await readLegacyOperations(db, { source: source.id, offset: 0, limit: 10 });
  expect(total).toBe(4);
  expect(operations.map(({ type, status, finishedAt }) => ({ type, status, finishedAt }))).toEqual([
    { type: 'fetch', status: 'completed', finishedAt: LAST_USED - 1000 },
    { type: 'fetch', status: 'partial', finishedAt: LAST_USED - 100 },
    { type: 'fetch', status: 'running', finishedAt: null },
    { type: 'publish', status: 'completed', finishedAt: LAST_USED - 1000 },
  ]);
  const checkpoints = await db.selectFrom('legacy_checkpoints').selectAll().orderBy('id').execute();
  expect(checkpoints.map(({ status, stopped_at: stoppedAt, windows }) => ({ status, stoppedAt, windows }))).toEqual([
    { status: 'waiting', stoppedAt: LAST_USED - 100, windows: expect.stringContaining(relayUrl(2)) as string },
    { status: 'waiting', stoppedAt: null, windows: expect.stringContaining(relayUrl(2)) as string },
  ]);
});

test('a fresh archive, and a first version without a row, leave nothing to bring over', async () => {
  const fresh = await LegacyRig.open(scratchDirectory());
  expect(await fresh.sources()).toEqual([]);
  const directory = scratchDirectory();
  writeFirstVersion(directory, {});
  const empty = await LegacyRig.open(directory);
  expect(await empty.sources()).toEqual([]);
  expect(empty.carryOver.progress()).toBeNull();
});

test('the copy made before migrating is named, and is the first version as it was', async () => {
  const rows = generateRows({ dirty: true });
  const { source, directory } = await carried(rows);
  expect(source.copy).toBe(`${directory}/holdfast.db.before-migration-0002-range-history`);
  const copy = new BetterSqlite3(source.copy ?? '', { readonly: true });
  expect(copy.prepare('select count(*) from events').pluck().get()).toBe(rows['events']?.length);
  expect(copy.prepare("select name from sqlite_schema where name like 'legacy%' or name like 'kysely%'").all()).toEqual(
    [],
  );
  copy.close();
});

test('the copy is named where it lies by now, and not when it is gone', async () => {
  const { rig, source, directory } = await carried(generateRows({ accounts: 1, events: 1 }));
  await rig.close();
  const moved = join(scratchDirectory(), 'moved');
  renameSync(directory, moved);
  const again = await LegacyRig.open(moved);
  const copy = join(moved, basename(source.copy ?? ''));
  expect((await again.finished()).copy).toBe(copy);
  rmSync(copy);
  expect((await again.finished()).copy).toBeNull();
});

test('a relay list that was changed meanwhile is left as it is', async () => {
  const directory = scratchDirectory();
  const rows = generateRows({ accounts: 1, events: 10 });
  writeFirstVersion(directory, rows);
  const opened = await openDatabase({ directory, nowMs: NOW * 1000 });
  const account = await readAccount(opened.db, accountKey(0).pubkey);
  await setAccountRelays(opened.db, account.id, [{ url: 'wss://mine.example', read: true, write: true, extra: false }]);
  await opened.close();

  const rig = await LegacyRig.open(directory);
  const source = await rig.finished();

  expect((await readAccountRelays(rig.database.db, account.id)).map(({ url }) => url)).toEqual(['wss://mine.example']);
  expect(source.tables.find(({ table }) => table === 'account_relays')).toMatchObject({ before: 3, information: 3 });
});

test('whatever type the values have, everything is looked at and nothing fails', async () => {
  const odd: unknown[] = ['text', 'a\0b', Buffer.from([0, 255]), -1, 2.5, 9_007_199_254_740_993n, -(2n ** 63n), 1e300];
  const rows = generateRows({ accounts: 1, events: 2 });
  const directory = scratchDirectory();
  const connection = new BetterSqlite3(writeFirstVersion(directory, rows));
  connection.pragma('foreign_keys = OFF');
  const before: Record<string, number> = {};
  for (const value of odd) {
    for (const table of FIRST_VERSION_ORDER) {
      const columns = connection.prepare('select name, pk, type from pragma_table_info(?)').all(table) as {
        name: string;
        pk: number;
        type: string;
      }[];
      const isRowid = (column: { name: string; pk: number; type: string }): boolean =>
        column.pk === 1 && column.type === 'INTEGER';
      const values = columns.map((column) => (isRowid(column) && column.name === 'id' ? null : value));
      connection.prepare(`insert or ignore into ${table} values (${columns.map(() => '?').join()})`).run(...values);
    }
  }
  // Rows at both ends of what SQLite can number.
  connection.prepare('insert into accounts values (?, ?, null, null, 1)').run(2n ** 63n - 1n, 'x');
  connection.prepare('insert into accounts values (?, ?, null, null, 1)').run(-(2n ** 63n), 'y');
  for (const table of FIRST_VERSION_ORDER)
    before[table] = Number(connection.prepare(`select count(*) from ${table}`).pluck().get());
  connection.close();

  const rig = await LegacyRig.open(directory);
  const source = await rig.finished();

  expect(source.stoppedBecause).toBeNull();
  expect(source.state).toBe('done');
  for (const { table, before: counted, carried: over, merged, aside, information } of source.tables) {
    expect([table, counted, over + merged + aside + information]).toEqual([table, before[table], before[table]]);
  }
});

test('while it is being brought over, that is said, with how far it is', async () => {
  const directory = scratchDirectory();
  writeFirstVersion(directory, generateRows({ accounts: 1, events: 60 }));
  const rig = await LegacyRig.open(directory);
  expect(() => rig.carryOver.requireDone()).toThrow(/still being brought over \(0 %\)/);
  expect(rig.carryOver.progress()).toMatchObject({ done: 0 });
  await rig.finished();
  expect(() => rig.carryOver.requireDone()).not.toThrow();
  expect(rig.carryOver.progress()).toBeNull();
});

test('closed between two slices, it goes on where it was', async () => {
  const rows = generateRows({ accounts: 1, events: 300, dirty: true });
  const directory = scratchDirectory();
  writeFirstVersion(directory, rows);
  let rounds = 0;
  for (;;) {
    const rig = await LegacyRig.open(directory);
    rounds += 1;
    const before = (await rig.sources())[0];
    const changed = new Promise<void>((resolve) => {
      const watch = (): void => {
        if (rig.carryOver.progress()?.done !== before?.done) resolve();
        else setImmediate(watch);
      };
      watch();
    });
    await changed;
    await rig.carryOver.close();
    const [source] = await rig.sources();
    await rig.close();
    if (source?.state === 'done') {
      expectCountsToAgree(source, rows);
      break;
    }
  }
  expect(rounds).toBeGreaterThan(3);
  expect(existsSync(`${directory}/holdfast.db.before-migration-0002-range-history`)).toBe(true);
});
