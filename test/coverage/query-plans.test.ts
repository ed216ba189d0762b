import BetterSqlite3 from 'better-sqlite3';
import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readRelayLists } from '../../main/accounts/relay-list-history.ts';
import {
  readArchive,
  readArchivedEvent,
  summarizeArchive,
  type ArchiveSelection,
} from '../../main/archive/event-reader.ts';
import { readAccountSummary } from '../../main/coverage/account-summary.ts';
import { readAttempts, readQueries } from '../../main/coverage/attempt-list.ts';
import { latestAttempt, rangesOfRun } from '../../main/coverage/range-history.ts';
import { listRuns } from '../../main/coverage/run-list.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import type { Tables } from '../../main/database/tables.ts';
import { archive } from '../archive/archive-rig.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { COMPLETE, CoverageRig, PARTIAL } from './coverage-rig.ts';

/** Tables that grow with the archive. */
const LARGE = ['events', 'event_ids', 'event_tags', 'evidence', 'queries', 'presence'];

interface Watched {
  rig: CoverageRig;
  /** What ran so far, with its values. */
  statements: string[];
  /** The plan steps of everything that ran. */
  plan(): string[];
}

/** A database with some history, whose statements are noted. */
async function watch(): Promise<Watched> {
  const directory = scratchDirectory();
  await (await openDatabase({ directory, nowMs: 0 })).close();
  const statements: string[] = [];
  const connection = new BetterSqlite3(join(directory, 'holdfast.db'), {
    verbose: (statement) => statements.push(String(statement)),
  });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
  onTestFinished(() => db.destroy());
  const rig = await CoverageRig.over(db);
  await archive(db, buildHistory({ count: 1200, from: 1, to: 1200 }));
  statements.length = 0;
  return { rig, statements, plan: () => planOf(connection, [...statements]) };
}

function planOf(connection: BetterSqlite3.Database, statements: readonly string[]): string[] {
  const ran = statements.filter((statement) => /^\s*(select|insert|update|delete|with)\b/i.test(statement));
  expect(ran.length).toBeGreaterThan(0);
  // A plan also names the scans by which an insert would mend broken references, which run only when there are such.
  connection.pragma('foreign_keys = OFF');
  return ran.flatMap((statement) =>
    connection
      .prepare<[], { detail: string }>(`explain query plan ${statement}`)
      .all()
      .map(({ detail }) => detail),
  );
}

/** Steps that go through the whole of a large table. */
function slowSteps(plan: readonly string[]): string[] {
  const names = LARGE.join('|');
  return plan.filter((step) => new RegExp(`^SCAN (${names})\\b`).test(step));
}

async function withHistory(rig: CoverageRig): Promise<{ run: number; range: number; attempt: number }> {
  const run = await rig.run();
  const range = await rig.range('write');
  await rig.page(
    range,
    await rig.attempt(range, run),
    { events: buildHistory({ count: 5, from: 2000, to: 2400 }) },
    PARTIAL,
  );
  const prior = await latestAttempt(rig.db, range.id);
  const attempt = await rig.attempt(range, run, { prior, continued: true });
  await rig.page(range, attempt, {}, COMPLETE);
  return { run, range: range.id, attempt: attempt.id };
}

describe('what is read on every change goes through no large table', () => {
  test.each<[string, (rig: CoverageRig) => Promise<unknown>]>([
    ['the summary of an account', (rig) => readAccountSummary(rig.db, rig.account, null)],
    ['the summary of an archive', (rig) => summarizeArchive(rig.db, alice.pubkey)],
    ['the coverage tree', (rig) => rig.tree()],
    ['the list of runs', (rig) => listRuns(rig.db, { limit: 200, accountId: rig.account.id })],
    ['the ranges of a run', (rig) => rangesOfRun(rig.db, 1)],
    ['the relay lists', (rig) => readRelayLists(rig.db, alice.pubkey)],
    ['one event', (rig) => readArchivedEvent(rig.db, 'a'.repeat(64))],
    ['attempts', (rig) => withHistory(rig).then(({ range }) => readAttempts(rig.db, range))],
    [
      'queries',
      (rig) => withHistory(rig).then(({ attempt }) => readQueries(rig.db, attempt, { offset: 0, limit: 10 })),
    ],
    ['recording pages', (rig) => withHistory(rig)],
  ])('%s', async (_, action) => {
    const { rig, plan } = await watch();

    await action(rig);

    expect(slowSteps(plan())).toEqual([]);
  });
});

test('which page of a walk covered an event is found without sorting the pages', async () => {
  const { rig, plan } = await watch();

  await withHistory(rig);

  const covering = plan().filter((step) => /\b(cover|nearest)\b/.test(step));
  expect(covering.length).toBeGreaterThan(0);
  for (const step of covering) expect(step).toContain('USING INDEX queries_by_cover (walk_id=? AND covered_until');
  expect(plan().filter((step) => step.includes('LAST TERM OF ORDER BY'))).toEqual([]);
});

describe('an export is read in the order of an index', () => {
  test.each<[string, ArchiveSelection, RegExp]>([
    ['of an account', { author: alice.pubkey }, /^SEARCH events USING INDEX events_by_author_and_time \(author=\?/],
    [
      'of an account since a time',
      { author: alice.pubkey, since: 100 },
      /^SEARCH events USING INDEX events_by_author_and_time \(author=\? AND created_at>\?/,
    ],
    ['between two times', { since: 100, until: 1150 }, /^SEARCH events USING INDEX events_by_time/],
    ['of everything', {}, /^(SCAN|SEARCH) events USING INDEX events_by_time/],
  ])('%s', async (_, selection, used) => {
    const { rig, plan } = await watch();

    for await (const event of readArchive(rig.db, selection)) if (event.created_at > 1050) break;

    const steps = plan().filter((step) => / events\b/.test(step));
    expect(steps.length).toBeGreaterThan(1);
    for (const step of steps) expect(step).toMatch(used);
    expect(plan().filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
  });
});

test.each<[string, (rig: CoverageRig) => Promise<unknown>]>([
  ['the coverage tree', (rig) => rig.tree()],
  ['the summary of an account', (rig) => readAccountSummary(rig.db, rig.account, null)],
  ['the list of runs', (rig) => listRuns(rig.db, { limit: 200 })],
])('%s takes the same number of statements however many ranges there are', async (_, read) => {
  const { rig, statements } = await watch();
  const run = await rig.run();
  const counts: number[] = [];
  for (let end = 1; end <= 12; end += 1) {
    const range = await rig.range('write', null, end);
    await rig.page(range, await rig.attempt(range, run), {}, COMPLETE);
    statements.length = 0;
    await read(rig);
    counts.push(statements.length);
  }

  expect(new Set(counts).size).toBe(1);
});
