import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '../../main/demo/seeded-choice.ts';
import type { Random } from '../../main/platform/random.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { capPages } from '../relays/behaviours/paging.ts';
import { alice, cachedHistory } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { runCommand, type EndedCommand, type KillPoint } from './killed-process.ts';
import { checkRules, committedPages, foundSet, withCopy, type Holdings } from './recorded-facts.ts';

export interface TrialOptions {
  events: number;
  kills: number;
  /** Decides all kill points; the same seed chooses the same ones. */
  seed: string;
  /** An empty directory for the archives. */
  directory: string;
  log: (line: string) => void;
}

/** What a trial that kept all rules came to. */
export interface TrialReport {
  kills: number;
  /** Where the processes died: what they had asked and not committed at that moment. */
  uncommitted: Record<string, number>;
  /** REQs of an uninterrupted run, and those of the killed one beyond them. */
  pages: number;
  repeated: number;
  found: number;
  archived: number;
}

const PAGE_LIMIT = 100;
const CAP = 60;
/** More statements than the transaction of a page has: some draws mean the moment right after the commit. */
const STATEMENTS = 16;
/** Long enough for a page to arrive, be checked and be committed. */
const LONGEST_DELAY_MS = 60;

/**
 * Fetches a history from two relays, killing the process again and again and resuming it, and checks after every kill that
 * the archive keeps the rules of transactions; in the end, that nothing was lost and next to nothing asked twice.
 *
 * @throws AssertionError that names the rule that was broken.
 */
export async function runCrashTrial(options: TrialOptions): Promise<TrialReport> {
  const trial = await Trial.start(options);
  try {
    return await trial.run();
  } finally {
    await trial.stop();
  }
}

class Trial {
  readonly #options: TrialOptions;
  readonly #random: Random;
  readonly #relays: readonly ScriptedRelay[];
  readonly #holdings: Holdings;
  readonly #dataDirectory: string;
  /** Called with every REQ that any relay receives. */
  #onRequest: () => void = () => undefined;
  #repeated = 0;
  /** REQs that each relay had received before the archive that is killed existed. */
  #earlierRequests: readonly number[] = [];
  readonly #uncommitted: Record<string, number> = {};

  private constructor(options: TrialOptions, relays: readonly ScriptedRelay[]) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#relays = relays;
    this.#holdings = new Map(relays.map((relay) => [relay.url, relay.store.all().map(({ event }) => event)]));
    this.#dataDirectory = join(options.directory, 'killed', 'data');
    mkdirSync(this.#dataDirectory, { recursive: true });
    for (const relay of relays) relay.use(tellOfRequests(() => this.#onRequest()));
  }

  static async start(options: TrialOptions): Promise<Trial> {
    const history = cachedHistory({
      count: options.events,
      from: 1_500_000_000,
      to: 1_700_000_000,
      perSecond: 3,
      kinds: [1, 1, 7, 6],
      contentLength: 60,
    });
    const some = history.filter((_, index) => index % 3 !== 0);
    const relays = [
      await ScriptedRelay.start({ events: history, recordSent: false }),
      await ScriptedRelay.start({ events: some, recordSent: false, behaviours: [capPages(CAP)] }),
    ];
    return new Trial(options, relays);
  }

  async stop(): Promise<void> {
    for (const relay of this.#relays) await relay.stop();
  }

  async run(): Promise<TrialReport> {
    const { kills, log } = this.#options;
    const uninterrupted = await this.#runUninterrupted();
    const pages = uninterrupted.requests.reduce((sum, count) => sum + count, 0);
    log(`uninterrupted: ${pages} pages, ${uninterrupted.found.length} found`);

    this.#earlierRequests = this.#requestCounts();
    await this.#addAccount(this.#dataDirectory);
    for (let kill = 1; kill <= kills; kill++) await this.#killOnce(kill, pages);
    const last = await this.#command(undefined);
    assert.equal(last.code, 0, `the last resume did not complete: ${last.stdout}${last.stderr}`);

    const found = withCopy(this.#dataDirectory, (database) => {
      checkRules(database, this.#holdings);
      return foundSet(database);
    });
    assert.ok(isDeepStrictEqual(found, uninterrupted.found), 'the found set is not that of an uninterrupted run');
    const archived = await this.#compareArchive();
    const asked = this.#requestCounts().map((count, index) => count - (this.#earlierRequests[index] ?? 0));
    assert.equal(
      asked.reduce((sum, count) => sum + count, 0) - this.#repeated,
      pages,
      'besides the repeated pages, other pages were asked than without kills',
    );
    return { kills, uncommitted: this.#uncommitted, pages, repeated: this.#repeated, found: found.length, archived };
  }

  /** A run that nobody kills, in an archive of its own: what it asks and finds is what the others are compared with. */
  async #runUninterrupted(): Promise<{ requests: number[]; found: string[] }> {
    const dataDirectory = join(this.#options.directory, 'uninterrupted', 'data');
    mkdirSync(dataDirectory, { recursive: true });
    await this.#addAccount(dataDirectory);
    const ended = await runCommand(dataDirectory, [
      'fetch',
      alice.npub,
      '--limit',
      String(PAGE_LIMIT),
      '--strategy',
      'paging',
    ]);
    assert.equal(ended.code, 0, `the uninterrupted fetch failed: ${ended.stdout}${ended.stderr}`);
    for (const relay of this.#relays) {
      const asked = pagesAsked(relay).map(scopeOf);
      assert.equal(new Set(asked).size, asked.length, 'a page was asked twice without any kill');
    }
    const found = withCopy(dataDirectory, (database) => {
      checkRules(database, this.#holdings);
      return foundSet(database);
    });
    return { requests: this.#requestCounts(), found };
  }

  async #addAccount(dataDirectory: string): Promise<void> {
    const write = this.#relays.flatMap((relay) => ['--write', relay.url]);
    const added = await runCommand(dataDirectory, ['account', 'add', alice.npub, ...write]);
    assert.equal(added.code, 0, added.stderr);
  }

  /** One command that is killed, and what its archive looks like afterwards. */
  async #killOnce(kill: number, pages: number): Promise<void> {
    const { kills, log } = this.#options;
    const committedBefore = this.#committed();
    const mean = (pages - committedBefore) / (kills - kill + 2);
    const chosen = 1 + Math.floor(this.#random() * Math.max(1, 1.5 * mean));
    const kind = this.#random();
    const point =
      kind < 0.4 ? this.#atStatement(chosen) : kind < 0.6 ? this.#atKeeping(chosen) : this.#byProgress(chosen);
    const counts = this.#requestCounts();

    const ended = await this.#command(point.point);

    assert.ok(ended.killed, `the process ended before kill ${kill} (${point.words}): ${ended.stdout}${ended.stderr}`);
    const committed = withCopy(this.#dataDirectory, (database) => {
      checkRules(database, this.#holdings);
      return committedPages(database);
    });
    const asked = this.#requestCounts().reduce((sum, count, index) => sum + count - (counts[index] ?? 0), 0);
    const uncommitted = asked - (committed - committedBefore);
    const label = `${uncommitted} asked, not committed`;
    this.#uncommitted[label] = (this.#uncommitted[label] ?? 0) + 1;
    log(
      `kill ${kill}: ${point.words}${ended.at === null ? '' : `, at “${ended.at}”`}; ${committed} pages committed, ${label}`,
    );
  }

  /** Fetches, or goes on where there is something to go on with, and sees which pages are asked again. */
  async #command(point: KillPoint | undefined): Promise<EndedCommand> {
    const seen = this.#relays.map(
      (relay, index) => new Set(pagesAsked(relay).slice(this.#earlierRequests[index]).map(scopeOf)),
    );
    const counts = this.#requestCounts();
    const begun = withCopy(this.#dataDirectory, (database) =>
      Number(database.prepare('select count(*) from runs').pluck().get()),
    );
    const argv = begun > 0 ? ['resume'] : ['fetch', alice.npub, '--limit', String(PAGE_LIMIT), '--strategy', 'paging'];
    const ended = await runCommand(this.#dataDirectory, argv, point);
    this.#onRequest = () => undefined;
    this.#relays.forEach((relay, index) => {
      const asked = pagesAsked(relay).slice(counts[index]).map(scopeOf);
      const again =
        asked.filter((scope) => seen[index]?.has(scope) === true).length + asked.length - new Set(asked).size;
      assert.ok(again <= 1, `${again} pages of one relay were asked again after one kill`);
      this.#repeated += again;
    });
    return ended;
  }

  /** Kills from outside, a moment after one of the relays has received its share of REQs. */
  #byProgress(page: number): { point: KillPoint; words: string } {
    const delayMs = this.#random() * LONGEST_DELAY_MS;
    const arm = (kill: () => void): void => {
      let requests = 0;
      this.#onRequest = () => {
        requests += 1;
        if (requests === page) setTimeout(kill, delayMs);
      };
    };
    return { point: { by: 'progress', arm }, words: `${delayMs.toFixed(1)} ms after REQ ${page}` };
  }

  #atStatement(page: number): { point: KillPoint; words: string } {
    const statement = 1 + Math.floor(this.#random() * STATEMENTS);
    return { point: { by: 'statement', page, statement }, words: `statement ${statement} of page ${page}` };
  }

  /** Before the only statement that keeps an answer, before it is committed, or right after that. */
  #atKeeping(answer: number): { point: KillPoint; words: string } {
    const statement = 1 + Math.floor(this.#random() * 3);
    return { point: { by: 'keeping', answer, statement }, words: `statement ${statement} of keeping answer ${answer}` };
  }

  async #compareArchive(): Promise<number> {
    const exported = await runCommand(this.#dataDirectory, ['export', alice.npub]);
    assert.equal(exported.code, 0, exported.stderr);
    const archived = JSON.parse(exported.stdout) as SignedEvent[];
    const held = new Map([...this.#holdings.values()].flat().map((event) => [event.id, event]));
    const differing = archived.filter((event) => !isDeepStrictEqual(event, held.get(event.id)));
    assert.equal(differing.length, 0, 'archived events are not those of the relays');
    assert.equal(archived.length, held.size, 'the archive is not complete');
    return archived.length;
  }

  #committed(): number {
    return withCopy(this.#dataDirectory, committedPages);
  }

  #requestCounts(): number[] {
    return this.#relays.map((relay) => pagesAsked(relay).length);
  }
}

function scopeOf(filter: Record<string, unknown>): string {
  return `${String(filter['since'])} ${String(filter['until'])}`;
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

/** The REQs for pages; a probe for one kind is none. */
function pagesAsked(relay: { requests(): Record<string, unknown>[] }): Record<string, unknown>[] {
  return relay.requests().filter((filter) => 'until' in filter);
}
