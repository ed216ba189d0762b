import assert from 'node:assert/strict';
import type BetterSqlite3 from 'better-sqlite3';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../main/demo/seeded-choice.ts';
import type { Random } from '../../main/platform/random.ts';
import { FIRST_VERSION_ORDER } from '../../main/legacy/first-version-tables.ts';
import type { GivenRows } from '../legacy/first-version-rows.ts';
import { generateRows, writeFirstVersion } from '../legacy/generated-first-version.ts';
import type { TrialOptions } from './crash-trial.ts';
import { runCommand, type KillPoint } from './killed-process.ts';
import { withCopy } from './recorded-facts.ts';

/** Where the first version's database lies: in the data directory itself, or somewhere else, to be imported. */
const PLACES = ['own', 'chosen'] as const;
type Place = (typeof PLACES)[number];

/** What a trial that kept all rules came to. */
export interface LegacyTrialReport {
  kills: number;
  /** Kills before the first row was carried over: while the file is copied, migrated or counted. */
  early: number;
  /** Rows that were carried over in the end, for each place. */
  rows: number;
}

/** About as many as a slice's transaction has: some draws mean the moment right after the commit. */
const STATEMENTS = 14;
/** How many slices are let pass at the most, so that one round has room for several kills. */
const SLICES = 4;
/** A round ends when a command comes to its end alive; so many, for each kill that is wanted, are enough. */
const ROUNDS_PER_KILL = 3;

/**
 * Brings a first-version database over, dirty in every way, killing the process again and again at any point. Checked
 * after every kill: what the report says adds up, and every row up to the place that was reached has its fate once. In the
 * end everything is there as in an archive that was never killed.
 *
 * @throws AssertionError that names the rule that was broken.
 */
export async function runLegacyTrial(options: TrialOptions): Promise<LegacyTrialReport> {
  const rows = generateRows({ accounts: 2, events: Math.ceil(options.events / 2), dirty: true, checkpoints: 10 });
  const random = seededRandom(options.seed);
  const report: LegacyTrialReport = { kills: 0, early: 0, rows: 0 };
  for (const place of PLACES) {
    const trial = new LegacyTrial(options, place, rows, random);
    const { kills, early } = await trial.run(Math.ceil(options.kills / PLACES.length));
    report.kills += kills;
    report.early += early;
    report.rows += Object.values(rows).reduce((sum, list) => sum + list.length, 0);
  }
  return report;
}

class LegacyTrial {
  readonly #options: TrialOptions;
  readonly #place: Place;
  readonly #rows: GivenRows;
  readonly #random: Random;
  readonly #original: string;
  readonly #argv: string[];

  constructor(options: TrialOptions, place: Place, rows: GivenRows, random: Random) {
    this.#options = options;
    this.#place = place;
    this.#rows = rows;
    this.#random = random;
    const old = join(options.directory, `old-${place}`);
    mkdirSync(old);
    this.#original = writeFirstVersion(old, rows, 'holdfast.db');
    this.#argv = place === 'own' ? ['account', 'list'] : ['import', this.#original];
  }

  /** Rounds of kills, each from the untouched database to the end. */
  async run(kills: number): Promise<{ kills: number; early: number }> {
    const startedMs = performance.now();
    const unharmed = await this.#bringOver(this.#makeDirectory('unharmed'));
    const durationMs = performance.now() - startedMs;
    let [killed, early] = [0, 0];
    for (let round = 1; killed < kills && round <= kills * ROUNDS_PER_KILL; round += 1) {
      const directory = this.#makeDirectory(`round-${round}`);
      for (;;) {
        const reached = killed < kills ? await this.#killOnce(directory, `kill ${killed + 1}`, durationMs) : null;
        if (reached === null) break;
        killed += 1;
        if (reached === 0) early += 1;
      }
      const harmed = await this.#bringOver(directory);
      assert.deepEqual(harmed, unharmed, 'what was killed differs from what was not');
      rmSync(directory, { recursive: true });
    }
    return { kills: killed, early };
  }

  /** A data directory with the first version's database in it, or without anything. */
  #makeDirectory(name: string): string {
    const directory = join(this.#options.directory, `${this.#place}-${name}`);
    mkdirSync(directory);
    if (this.#place === 'own') cpSync(this.#original, join(directory, 'holdfast.db'));
    return directory;
  }

  /** Starts again and lets it come to its end; resolves to all that is there then. */
  async #bringOver(directory: string): Promise<Facts> {
    const ended = await runCommand(directory, this.#argv);
    assert.equal(ended.code, 0, `it ended with ${ended.code}: ${ended.stdout}${ended.stderr}`);
    return withCopy(directory, (database) => {
      this.#check(database, true);
      return factsOf(database);
    });
  }

  /** One command that is killed; resolves to the rows done by then, or null when it came to its end before. */
  async #killOnce(directory: string, name: string, durationMs: number): Promise<number | null> {
    const { point, words } = this.#random() < 0.5 ? this.#byTime(durationMs) : this.#byStatement();
    const ended = await runCommand(directory, this.#argv, point);
    if (!existsSync(join(directory, 'holdfast.db'))) {
      assert.ok(ended.killed && this.#place === 'chosen', 'the database is gone');
      return 0;
    }
    const reached = withCopy(directory, (database) => this.#check(database, false));
    if (!ended.killed) {
      assert.equal(ended.code, 0, `${ended.stdout}${ended.stderr}`);
      return null;
    }
    const at = ended.at === null ? '' : `, at “${ended.at}”`;
    this.#options.log(`${this.#place}, ${name}: ${words}${at}; ${reached} rows done`);
    return reached;
  }

  #byTime(durationMs: number): { point: KillPoint; words: string } {
    const delayMs = this.#random() * durationMs;
    const arm = (kill: () => void): void => void setTimeout(kill, delayMs);
    return { point: { by: 'progress', arm }, words: `${delayMs.toFixed(0)} ms after the start` };
  }

  #byStatement(): { point: KillPoint; words: string } {
    const slice = 1 + Math.floor(this.#random() * SLICES);
    const statement = 1 + Math.floor(this.#random() * STATEMENTS);
    return { point: { by: 'carrying', slice, statement }, words: `statement ${statement} of slice ${slice}` };
  }

  /** What has to hold at any time; returns how many rows are done. */
  #check(database: BetterSqlite3.Database, isEnd: boolean): number {
    assert.deepEqual(database.pragma('integrity_check', { simple: true }), 'ok', 'the database is damaged');
    const hasTable = (name: string): boolean =>
      database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined;
    if (!hasTable('legacy_sources')) {
      assert.ok(!isEnd, 'it was never migrated');
      // Before it is migrated, the first version's rows are all there under their own names.
      if (this.#place === 'own') {
        for (const table of FIRST_VERSION_ORDER) assert.equal(countOf(database, table), this.#rows[table]?.length ?? 0);
      }
      return 0;
    }
    const source = database.prepare<[], SourceRow>('select * from legacy_sources').get();
    if (source === undefined) {
      assert.ok(!isEnd, 'no source was noted');
      return 0;
    }
    assert.equal(source.state, isEnd ? 'done' : source.state);
    const counts = database.prepare<[], CountRow>('select * from legacy_counts').all();
    let done = 0;
    for (const table of FIRST_VERSION_ORDER) {
      const row = counts.find(({ table_name: name }) => name === table);
      assert.ok(row !== undefined, `${table} was not counted`);
      const fates = row.carried + row.merged + row.aside + row.information;
      assert.equal(row.before, this.#rows[table]?.length ?? 0, `${table} is not as large as it was`);
      assert.ok(fates <= row.before, `rows of ${table} were taken twice`);
      if (isEnd) assert.equal(fates, row.before, `rows of ${table} were lost`);
      done += fates;
    }
    assert.equal(source.done, done, 'the place reached and what became of the rows do not agree');
    return done;
  }
}

interface SourceRow {
  state: string;
  done: number;
}

interface CountRow {
  table_name: string;
  before: number;
  carried: number;
  merged: number;
  aside: number;
  information: number;
}

function countOf(database: BetterSqlite3.Database, table: string): number {
  return Number(database.prepare(`select count(*) from "${table}"`).pluck().get());
}

type Facts = Record<string, unknown[]>;

/** Everything that was made of the first version, without numbers and times of the carrying over itself. */
function factsOf(database: BetterSqlite3.Database): Facts {
  const all = (sql: string): unknown[] => database.prepare(sql).raw().all();
  return {
    events:
      all(`select lower(hex(id)), created_at, kind, tags, content, iif(first_seen_at < 1700000000, first_seen_at, 0)
      from events join event_ids on event_ids.ref = events.ref order by id`),
    authors: all('select hex(pubkey), events, oldest, newest from authors order by 1'),
    sightings: all(`select key, hex(event_ids.id), observed_at from legacy_sightings
      join relays on relays.id = relay_id join event_ids on event_ids.ref = event_ref order by 1, 2, 3`),
    presence: all(`select key, hex(event_ids.id), present, observed_at_ms, query_id, kind from presence
      join relays on relays.id = relay_id join event_ids on event_ids.ref = event_ref order by 1, 2`),
    counts: all('select table_name, before, carried, merged, aside, information from legacy_counts order by 1'),
    remarks: all(
      `select table_name, row_key, problem, detail, outcome, row_json from legacy_remarks order by 1, 2, 3, 4`,
    ),
    lines: all(
      'select account_id, key, status, oldest, newest, event_count, updated_at from legacy_coverage_lines join relays on id = relay_id order by 1, 2',
    ),
    checkpoints: all(
      'select operation_id, account_id, windows, started_at, stopped_at, status from legacy_checkpoints order by 1',
    ),
    operations: all(
      'select operation_id, account_id, type, status, started_at, finished_at from legacy_operations_kept order by 1',
    ),
    publications: all(
      'select account_id, event_id, published_at, accepted_by from publication_versions order by 1, 2, 3',
    ),
    accounts: all('select pubkey, label, created_at from accounts order by 1'),
    relays: all('select account_id, url, read, write, extra, position from account_relays order by 1, 6'),
  };
}
