import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { relayKeyOrNull } from '../../main/relays/relay-key.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { type GivenRow, type GivenRows } from './first-version-rows.ts';
import { generateRows, writeFirstVersion } from './generated-first-version.ts';
import { LegacyRig, NOW } from './legacy-rig.ts';

/** What a query, a range, an inventory or a run would stand in. Nothing of the first version may. */
const CLAIMS = [
  'runs',
  'ranges',
  'attempts',
  'queries',
  'evidence',
  'walk_kinds',
  'inventories',
  'fetch_state',
  'kind_probes',
  'arrived_pages',
  'deliveries',
];

const ROWS = generateRows({ dirty: true, checkpoints: 3 });

async function ownDatabase(): Promise<LegacyRig> {
  const directory = scratchDirectory();
  writeFirstVersion(directory, ROWS);
  const rig = await LegacyRig.open(directory);
  await rig.carryOver.ended();
  return rig;
}

async function chosenFile(): Promise<LegacyRig> {
  const rig = await LegacyRig.open(scratchDirectory());
  await rig.carryOver.importFile(writeFirstVersion(scratchDirectory(), ROWS, 'old.db'));
  await rig.carryOver.ended();
  return rig;
}

test.each([
  ['this archive was made from', ownDatabase],
  ['was chosen as a file', chosenFile],
])('no bound and no time is made up for a first version that %s', async (_name, open) => {
  const rig = await open();
  const { db } = rig.database;
  expect((await rig.finished()).state).toBe('done');
  for (const table of CLAIMS) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(db);
    expect([table, rows]).toEqual([table, []]);
  }
  expect(await checkSightings(db)).toBeGreaterThan(100);
  expect(await checkEvents(db)).toBeGreaterThan(80);
  expect(await checkCoverageLines(db)).toBeGreaterThan(5);
  expect(await checkCheckpoints(db)).toBeGreaterThan(10);
  expect(await checkOperations(db)).toBeGreaterThan(10);
  expect(await checkPublications(db)).toBeGreaterThan(2);
  expect(await checkAccounts(db)).toBeGreaterThan(3);
});

/** Rows of the old table that pass `matches`. */
function old(table: keyof GivenRows, matches: (row: GivenRow) => boolean): GivenRow[] {
  return (ROWS[table] ?? []).filter(matches);
}

/** The old data's values of a column. */
function values(rows: readonly GivenRow[], column: string): unknown[] {
  return rows.map((row) => row[column]);
}

function keyOf(url: unknown): string | null {
  return typeof url === 'string' ? relayKeyOrNull(url.trim()) : null;
}

/** Every sighting, and every row of the projection, has a time that the old data has for this event on this relay. */
async function checkSightings(db: WritableDatabase): Promise<number> {
  interface Sighting {
    id: string;
    key: string;
    at: number;
  }
  const sightings = await sql<Sighting>`select lower(hex(event_ids.id)) as id, relays.key, observed_at as at
    from legacy_sightings join event_ids on event_ids.ref = event_ref join relays on relays.id = relay_id`.execute(db);
  const presence = await sql<Sighting & { present: number; query: number | null; whole: number }>`
    select lower(hex(event_ids.id)) as id, relays.key, observed_at_ms / 1000 as at, present, query_id as query,
      observed_at_ms % 1000 = 0 as whole
    from presence join event_ids on event_ids.ref = event_ref join relays on relays.id = relay_id`.execute(db);
  for (const { id, key, at } of [...sightings.rows, ...presence.rows]) {
    const given = old('presence', (row) => row['event_id'] === id && keyOf(row['relay_url']) === key);
    expect(values(given, 'observed_at')).toContain(at);
    expect(at).toBeLessThanOrEqual(NOW);
  }
  expect(presence.rows.every(({ present, query, whole }) => present === 1 && query === null && whole === 1)).toBe(true);
  expect(presence.rows).toHaveLength(sightings.rows.length);
  return sightings.rows.length;
}

/** An event was first seen when the old data says, or now. Its own time is what was signed. */
async function checkEvents(db: WritableDatabase): Promise<number> {
  const { rows } = await sql<{ id: string; seen: number; created: number }>`
    select lower(hex(event_ids.id)) as id, first_seen_at as seen, created_at as created
    from events join event_ids on event_ids.ref = events.ref`.execute(db);
  for (const { id, seen, created } of rows) {
    const events = old('events', (row) => String(row['json']).includes(`"id":"${id}"`));
    const publications = old('publication_versions', (row) => String(row['event_json']).includes(`"id":"${id}"`));
    const times = [...values(events, 'first_seen_at'), ...values(publications, 'published_at')];
    if (!times.includes(seen)) {
      expect(seen).toBe(NOW);
      expect(times.every((time) => typeof time !== 'number' || time > NOW)).toBe(true);
    }
    const json = String(events[0]?.['json'] ?? publications[0]?.['event_json']);
    expect(json).toContain(`"created_at":${created},`);
  }
  return rows.length;
}

async function checkCoverageLines(db: WritableDatabase): Promise<number> {
  const lines = await db
    .selectFrom('legacy_coverage_lines')
    .innerJoin('relays', 'relays.id', 'legacy_coverage_lines.relay_id')
    .innerJoin('accounts', 'accounts.id', 'legacy_coverage_lines.account_id')
    .selectAll('legacy_coverage_lines')
    .select(['relays.key', 'accounts.pubkey'])
    .execute();
  for (const line of lines) {
    const given = old(
      'coverage',
      (row) => keyOf(row['relay_url']) === line.key && pubkeyOf(row['account_id']) === line.pubkey,
    );
    expect(values(given, 'status')).toContain(line.status);
    expect(values(given, 'event_count')).toContain(line.event_count);
    expectNullOrGiven(line.oldest, given, 'oldest');
    expectNullOrGiven(line.newest, given, 'newest');
    expectNullOrGiven(line.updated_at, given, 'updated_at');
  }
  return lines.length;
}

async function checkCheckpoints(db: WritableDatabase): Promise<number> {
  const checkpoints = await db.selectFrom('legacy_checkpoints').selectAll().execute();
  for (const checkpoint of checkpoints) {
    const given = old('operations', (row) => row['id'] === checkpoint.operation_id);
    expect(given).toHaveLength(1);
    expectNullOrGiven(checkpoint.started_at, given, 'started_at');
    expectNullOrGiven(checkpoint.stopped_at, given, 'finished_at');
    expect([checkpoint.status, checkpoint.decided_at, checkpoint.run_id]).toEqual(['waiting', null, null]);
    const before = JSON.parse(String(given[0]?.['checkpoint'])) as Record<string, unknown> & {
      pendingWindows: GivenRow[];
    };
    expect(checkpoint.window_limit).toBe(before['windowLimit']);
    expect(checkpoint.completed_windows).toBe(before['completedWindows']);
    expect(checkpoint.events_seen).toBe(before['eventsSeen']);
    const pending = before.pendingWindows.map(({ relay, since, until }) => ({ relay, since, until }));
    for (const window of JSON.parse(checkpoint.windows) as GivenRow[]) expect(pending).toContainEqual(window);
  }
  return checkpoints.length;
}

async function checkOperations(db: WritableDatabase): Promise<number> {
  const operations = await db.selectFrom('legacy_operations_kept').selectAll().execute();
  for (const operation of operations) {
    const given = old('operations', (row) => row['id'] === operation.operation_id);
    expectNullOrGiven(operation.started_at, given, 'started_at');
    expectNullOrGiven(operation.finished_at, given, 'finished_at');
    expect(given).toMatchObject([{ type: operation.type, status: operation.status, settings: operation.settings }]);
  }
  return operations.length;
}

async function checkPublications(db: WritableDatabase): Promise<number> {
  const publications = await db.selectFrom('publication_versions').selectAll().execute();
  for (const { event_id: eventId, published_at: publishedAt, accepted_by: acceptedBy } of publications) {
    const given = old('publication_versions', (row) => String(row['event_json']).includes(`"id":"${eventId}"`));
    expect(values(given, 'published_at')).toContain(publishedAt);
    expect(values(given, 'accepted_by')).toContain(acceptedBy);
    expect(publishedAt).toBeLessThanOrEqual(NOW);
  }
  return publications.length;
}

async function checkAccounts(db: WritableDatabase): Promise<number> {
  const accounts = await db.selectFrom('accounts').selectAll().execute();
  for (const account of accounts) {
    const [given] = old('accounts', (row) => row['pubkey'] === account.pubkey);
    expect([0, given?.['created_at']]).toContain(account.created_at);
    expect(account.created_at).toBeLessThanOrEqual(NOW);
  }
  return accounts.length;
}

function pubkeyOf(accountId: unknown): unknown {
  return old('accounts', (row) => row['id'] === accountId)[0]?.['pubkey'];
}

function expectNullOrGiven(time: number | null, given: readonly GivenRow[], column: string): void {
  if (time === null) return;
  expect(values(given, column)).toContain(time);
  expect(time).toBeLessThanOrEqual(NOW);
}
