import BetterSqlite3 from 'better-sqlite3';
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SignedEvent } from '../../preload/contract.ts';

/** What a relay of the trial holds for the account, by relay key. */
export type Holdings = ReadonlyMap<string, readonly SignedEvent[]>;

/** Copies an archive as it lies on disk, so that looking at it does not repair what a crash left. Returns where it is. */
export function copyArchive(dataDirectory: string): string {
  const copy = `${dataDirectory}-copy`;
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  for (const name of ['holdfast.db', 'holdfast.db-wal']) {
    if (existsSync(join(dataDirectory, name))) cpSync(join(dataDirectory, name), join(copy, name));
  }
  return copy;
}

/** Hands a copy of an archive to `look`. */
export function withCopy<T>(dataDirectory: string, look: (database: BetterSqlite3.Database) => T): T {
  const copy = copyArchive(dataDirectory);
  const database = new BetterSqlite3(join(copy, 'holdfast.db'));
  try {
    return look(database);
  } finally {
    database.close();
    rmSync(copy, { recursive: true, force: true });
  }
}

interface LatestAttempt {
  id: number;
  walk_id: number;
  key: string;
  since: number | null;
  until: number;
  status: string;
  cursor: number | null;
  found: number;
  fetched: number;
  pages: number;
}

/**
 * Checks an archive, crashed or not, against the rules of transactions: the database is whole, the cursor of no walk is
 * ahead of the archive, and every counter says what counting says.
 *
 * @throws AssertionError that names the rule that is broken.
 */
export function checkRules(database: BetterSqlite3.Database, holdings: Holdings): void {
  assert.deepEqual(database.pragma('integrity_check', { simple: true }), 'ok', 'the database is damaged');
  assert.deepEqual(database.pragma('foreign_key_check'), [], 'a row refers to one that does not exist');
  checkThatBodiesComeWithEvidence(database);
  for (const attempt of latestAttempts(database)) {
    checkThatCursorIsNotAhead(database, attempt, holdings.get(attempt.key) ?? []);
  }
  checkCounters(database);
}

/** The latest attempt at every range. */
function latestAttempts(database: BetterSqlite3.Database): LatestAttempt[] {
  const rows = database
    .prepare<[], LatestAttempt>(
      `select attempts.id, walk_id, relays.key, since, until, status, cursor, found, fetched, pages
       from attempts join ranges on ranges.id = range_id join relays on relays.id = relay_id
       where attempts.id in (select max(id) from attempts group by range_id)`,
    )
    .all();
  return rows;
}

function checkThatBodiesComeWithEvidence(database: BetterSqlite3.Database): void {
  const count = (sql: string): unknown => database.prepare(sql).pluck().get();
  assert.equal(
    count('select count(*) from events where ref not in (select event_ref from evidence)'),
    0,
    'a body was archived without its evidence',
  );
  assert.equal(
    count('select count(*) from evidence where event_ref not in (select ref from events)'),
    0,
    'evidence was recorded without the body it speaks of',
  );
}

function checkThatCursorIsNotAhead(
  database: BetterSqlite3.Database,
  attempt: LatestAttempt,
  held: readonly SignedEvent[],
): void {
  // A completed walk vouches for its whole scope; one that has not committed a page yet vouches for nothing.
  const cursor = attempt.status === 'complete' ? (attempt.since ?? -1) - 1 : (attempt.cursor ?? attempt.until);
  const passed = held.filter(
    ({ created_at: at }) => at > cursor && at <= attempt.until && (attempt.since === null || at >= attempt.since),
  );
  const found = new Set(
    database
      .prepare<[number], string>(
        `select lower(hex(event_ids.id)) from evidence join event_ids on event_ids.ref = event_ref
         join events on events.ref = event_ref where walk_id = ?`,
      )
      .pluck()
      .all(attempt.walk_id),
  );
  const lost = passed.filter(({ id }) => !found.has(id));
  assert.equal(lost.length, 0, `the cursor ${cursor} of ${attempt.key} is ahead of ${lost.length} events`);
}

function checkCounters(database: BetterSqlite3.Database): void {
  const differing = database
    .prepare(
      `with recount as (
        select attempts.id,
          (select count(*) from evidence where evidence.walk_id = attempts.walk_id) as found,
          (select coalesce(sum(walk_kinds.found), 0) from walk_kinds where walk_kinds.walk_id = attempts.walk_id) as by_kind,
          (select count(*) from queries join attempts as own on own.id = attempt_id
            where own.walk_id = attempts.walk_id) as pages,
          (select coalesce(sum(unique_count), 0) from queries join attempts as own on own.id = attempt_id
            where own.walk_id = attempts.walk_id) as unique_events,
          (select coalesce(sum(queries.received), 0) from queries where attempt_id = attempts.id) as received,
          (select coalesce(sum(new_count), 0) from queries where attempt_id = attempts.id) as newly_archived
        from attempts where id in (select max(id) from attempts group by walk_id)
      )
      select attempts.id from attempts join recount using (id)
      where attempts.found <> recount.found or attempts.fetched <> recount.found or recount.by_kind <> recount.found
        or recount.unique_events <> recount.found or attempts.pages <> recount.pages
        or attempts.received <> recount.received or attempts.newly_archived <> recount.newly_archived`,
    )
    .pluck()
    .all();
  assert.deepEqual(differing, [], 'counters of these attempts differ from what counting says');
  const kinds = database
    .prepare(
      `select walk_id, kind from walk_kinds where found <> (
        select count(*) from evidence join events on events.ref = event_ref
        where evidence.walk_id = walk_kinds.walk_id and events.kind = walk_kinds.kind)`,
    )
    .all();
  assert.deepEqual(kinds, [], 'found events by kind differ from what counting says');
  const archived: unknown = database.prepare('select count(*) from events').pluck().get();
  const counted: unknown = database.prepare('select coalesce(sum(newly_archived), 0) from attempts').pluck().get();
  assert.equal(archived, counted, 'newly archived events of all attempts are not the archive');
}

/** Everything found, as sorted `relay key, event ID`. */
export function foundSet(database: BetterSqlite3.Database): string[] {
  return database
    .prepare<[], string>(
      `select distinct relays.key || ' ' || lower(hex(event_ids.id)) as found from evidence
       join event_ids on event_ids.ref = event_ref join attempts on attempts.id = evidence.walk_id
       join ranges on ranges.id = range_id join relays on relays.id = relay_id order by found`,
    )
    .pluck()
    .all();
}

/** How many answers were committed so far. */
export function committedPages(database: BetterSqlite3.Database): number {
  return Number(database.prepare('select count(*) from queries').pluck().get());
}
