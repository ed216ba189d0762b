import type BetterSqlite3 from 'better-sqlite3';
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readWindowsCheckpoint } from '../../main/coverage/windows-checkpoint.ts';
import { seededRandom } from '../../main/demo/seeded-choice.ts';
import type { Random } from '../../main/platform/random.ts';
import { operationRow } from '../legacy/first-version-rows.ts';
import { writeFirstVersion } from '../legacy/generated-first-version.ts';
import { alice, cachedHistory, saturatedSecond } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { runCommand, type KillPoint } from './killed-process.ts';
import { checkRules, committedPages, foundSet, withCopy, type Holdings } from './recorded-facts.ts';

export interface WindowsTrialOptions {
  events: number;
  kills: number;
  /** Decides all kill points; the same seed chooses the same ones. */
  seed: string;
  /** An empty directory for the archives. */
  directory: string;
  log: (line: string) => void;
}

/** What a trial that kept all rules came to. */
export interface WindowsTrialReport {
  kills: number;
  /** Answers of an uninterrupted run, and REQs of the killed one beyond them. */
  answers: number;
  repeated: number;
  found: number;
}

const FROM = 1_500_000_000;
const TO = 1_649_999_999;
/** Windows of each relay; every fourth is left out, so that there are several spans. */
const WINDOWS = 16;
const LIMIT = 40;
/** More statements than the transaction of an answer has: some draws mean the moment right after the commit. */
const STATEMENTS = 14;
const LONGEST_DELAY_MS = 60;
/** More events in one second than an answer may carry: it stays unfinished, however often the process dies. */
const FULL_SECOND = FROM + 12_345;

/**
 * Goes on with windows of the first version, killing the process again and again, and checks after every kill that no window
 * was lost and none called completed whose events are not all there; at the end everything found is what one uninterrupted
 * run finds, and nothing was concluded from absence.
 *
 * @throws AssertionError that names the rule that is broken.
 */
export async function runWindowsTrial(options: WindowsTrialOptions): Promise<WindowsTrialReport> {
  const history = cachedHistory({ count: options.events, from: FROM, to: TO, perSecond: 2, kinds: [1, 7] });
  const full = saturatedSecond(FULL_SECOND, LIMIT + 5);
  const relays = [
    await ScriptedRelay.start({ events: [...history, ...full], recordSent: false }),
    await ScriptedRelay.start({ events: history.filter((_, index) => index % 3 !== 0), recordSent: false }),
  ];
  try {
    return await new WindowsTrial(options, relays).run();
  } finally {
    for (const relay of relays) await relay.stop();
  }
}

interface OldWindow {
  relay: string;
  since: number;
  until: number;
}

class WindowsTrial {
  readonly #options: WindowsTrialOptions;
  readonly #random: Random;
  readonly #relays: readonly ScriptedRelay[];
  readonly #windows: readonly OldWindow[];
  /** What each relay holds within its windows. */
  readonly #holdings: Holdings;
  #onRequest: () => void = () => undefined;
  /** REQs that each relay had received before the archive that is killed existed. */
  #earlier: readonly number[] = [];
  #repeated = 0;

  constructor(options: WindowsTrialOptions, relays: readonly ScriptedRelay[]) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#relays = relays;
    this.#windows = relays.flatMap(({ url }) => windowsOf(url));
    this.#holdings = new Map(
      relays.map((relay) => [
        relay.url,
        relay.store
          .all()
          .map(({ event }) => event)
          .filter(({ created_at: at }) =>
            this.#windows.some(({ relay: url, since, until }) => url === relay.url && since <= at && at <= until),
          ),
      ]),
    );
    for (const relay of relays) relay.use(tellOfRequests(() => this.#onRequest()));
  }

  async run(): Promise<WindowsTrialReport> {
    const { kills, log } = this.#options;
    const uninterrupted = await this.#archive('uninterrupted');
    const first = await runCommand(uninterrupted, RESUME);
    // The full second stays.
    assert.equal(first.code, 3, `the uninterrupted resume ended otherwise: ${first.stdout}${first.stderr}`);
    const expected = withCopy(uninterrupted, (database) => {
      this.#check(database);
      return { found: foundSet(database), answers: committedPages(database) };
    });
    log(`uninterrupted: ${expected.answers} answers, ${expected.found.length} found`);

    const killed = await this.#archive('killed');
    this.#earlier = this.#asked().map((asked) => asked.length);
    let done = 0;
    for (let kill = 1; kill <= kills; kill += 1) {
      const committed = withCopy(killed, committedPages);
      if (!(await this.#killOnce(killed, kill, expected.answers - committed))) break;
      done = kill;
    }
    while (withCopy(killed, (database) => pendingWindows(database) > 0 || committedPages(database) === 0)) {
      const last = await this.#command(killed, undefined);
      assert.equal(last.code, 3, `the last resume ended otherwise: ${last.stdout}${last.stderr}`);
    }
    const { found, absent } = withCopy(killed, (database) => {
      this.#check(database);
      return { found: foundSet(database), absent: conclusions(database) };
    });
    assert.ok(isDeepStrictEqual(found, expected.found), 'the found set is not that of an uninterrupted run');
    assert.equal(absent, 0, 'something was concluded from what did not come');
    const asked = this.#asked().reduce((sum, own, index) => sum + own.length - (this.#earlier[index] ?? 0), 0);
    assert.equal(
      asked - this.#repeated,
      expected.answers,
      'besides repeated windows, others were asked than without kills',
    );
    return { kills: done, answers: expected.answers, repeated: this.#repeated, found: found.length };
  }

  /** A data directory of the first version with one unfinished fetch, brought over. */
  async #archive(name: string): Promise<string> {
    const dataDirectory = join(this.#options.directory, name, 'data');
    mkdirSync(dataDirectory, { recursive: true });
    writeFirstVersion(dataDirectory, {
      accounts: [{ id: 1, pubkey: alice.pubkey, label: null, signer_ref: null, created_at: FROM }],
      account_relays: this.#relays.map(({ url }) => ({ account_id: 1, url, read: 1, write: 1, extra: 0 })),
      operations: [
        operationRow('left', 1, {
          status: 'running',
          finished_at: null,
          checkpoint: JSON.stringify({
            version: 1,
            windowLimit: LIMIT,
            completedWindows: 1,
            eventsSeen: 1,
            pendingWindows: this.#windows,
          }),
        }),
      ],
    });
    const listed = await runCommand(dataDirectory, ['legacy', 'list']);
    assert.equal(listed.code, 0, listed.stderr);
    return dataDirectory;
  }

  /** One command that is killed, and what its archive looks like afterwards. False when it came to its end before. */
  async #killOnce(dataDirectory: string, kill: number, answersLeft: number): Promise<boolean> {
    const { kills, log } = this.#options;
    const mean = answersLeft / (kills - kill + 2);
    const chosen = 1 + Math.floor(this.#random() * Math.max(1, 1.5 * mean));
    const point = this.#random() < 0.6 ? this.#atStatement(chosen) : this.#byProgress(chosen);
    const ended = await this.#command(dataDirectory, point.point);
    if (!ended.killed) return false;
    withCopy(dataDirectory, (database) => this.#check(database));
    log(`kill ${kill}: ${point.words}${ended.at === null ? '' : `, at “${ended.at}”`}`);
    return true;
  }

  /** Goes on with the windows, and sees which are asked again: at most the one that was under way at each relay. */
  async #command(dataDirectory: string, point: KillPoint | undefined) {
    const seen = this.#asked();
    const ended = await runCommand(dataDirectory, RESUME, point);
    this.#onRequest = () => undefined;
    this.#asked().forEach((asked, index) => {
      const now = asked.slice(seen[index]?.length ?? 0);
      const known = new Set(seen[index]?.slice(this.#earlier[index]));
      const again = now.filter((scope) => known.has(scope)).length;
      assert.ok(again <= 1, `${again} windows of one relay were asked again after one kill`);
      this.#repeated += again;
    });
    return ended;
  }

  #byProgress(answer: number): { point: KillPoint; words: string } {
    const delayMs = this.#random() * LONGEST_DELAY_MS;
    const arm = (kill: () => void): void => {
      let requests = 0;
      this.#onRequest = () => {
        requests += 1;
        if (requests === answer) setTimeout(kill, delayMs);
      };
    };
    return { point: { by: 'progress', arm }, words: `${delayMs.toFixed(1)} ms after REQ ${answer}` };
  }

  #atStatement(page: number): { point: KillPoint; words: string } {
    const statement = 1 + Math.floor(this.#random() * STATEMENTS);
    return { point: { by: 'statement', page, statement }, words: `statement ${statement} of answer ${page}` };
  }

  #check(database: BetterSqlite3.Database): void {
    checkRules(database, new Map());
    checkWindows(database, this.#holdings);
  }

  #asked(): string[][] {
    return this.#relays.map((relay) => relay.requests().map(({ since, until }) => `${String(since)} ${String(until)}`));
  }
}

const RESUME = ['legacy', 'resume', '1'];

/** No window is lost: of what lies in a range of windows and in none that is left, every event was found. */
function checkWindows(database: BetterSqlite3.Database, holdings: Holdings): void {
  const ranges = database
    .prepare<[], { key: string; since: number; until: number; walk_id: number; checkpoint: string }>(
      `select relays.key, since, until, walk_id, checkpoint from attempts
       join ranges on ranges.id = range_id and checkpoint_id is not null join relays on relays.id = relay_id
       where attempts.id in (select max(id) from attempts group by range_id)`,
    )
    .all();
  for (const { key, since, until, walk_id: walk, checkpoint: text } of ranges) {
    const checkpoint = readWindowsCheckpoint(text);
    assert.ok(checkpoint !== null, `the windows left of ${key} cannot be read`);
    const isLeft = (at: number): boolean =>
      checkpoint.full.includes(at) || checkpoint.pending.some((left) => left.since <= at && at <= left.until);
    const found = new Set(
      database
        .prepare<[number], string>(
          'select lower(hex(id)) from evidence join event_ids on event_ids.ref = event_ref where walk_id = ?',
        )
        .pluck()
        .all(walk),
    );
    const lost = (holdings.get(key) ?? []).filter(
      ({ id, created_at: at }) => since <= at && at <= until && !isLeft(at) && !found.has(id),
    );
    assert.equal(lost.length, 0, `${lost.length} events of ${key} lie in completed windows and were not found`);
  }
}

/** Windows that an attempt has still to ask for, and ranges that none has begun. */
function pendingWindows(database: BetterSqlite3.Database): number {
  const texts = database
    .prepare<[], string | null>(
      `select (select checkpoint from attempts where range_id = ranges.id order by id desc limit 1) from ranges
       where checkpoint_id is not null`,
    )
    .pluck()
    .all();
  return texts.reduce((sum, text) => sum + (text === null ? 1 : (readWindowsCheckpoint(text)?.pending.length ?? 1)), 0);
}

/** Whatever would rest on absence: missing copies, inventories, finished histories. */
function conclusions(database: BetterSqlite3.Database): number {
  return Number(
    database
      .prepare(
        `select (select count(*) from presence where present = 0) + (select count(*) from inventories)
         + (select count(*) from fetch_state)`,
      )
      .pluck()
      .get(),
  );
}

function windowsOf(relay: string): OldWindow[] {
  const length = Math.floor((TO + 1 - FROM) / WINDOWS);
  return Array.from({ length: WINDOWS }, (_, index) => ({
    relay,
    since: FROM + index * length,
    until: FROM + (index + 1) * length - 1,
  })).filter((_, index) => index % 4 !== 3);
}

function tellOfRequests(tell: () => void): Behaviour {
  return {
    name: 'tells of requests',
    takeRequest() {
      tell();
      return false;
    },
  };
}
