import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../main/demo/seeded-choice.ts';
import type { Random } from '../../main/platform/random.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { alice, buildHistory, cachedHistory } from '../relays/event-builder.ts';
import { startRelayProcess, type RelayProcess } from '../relays/start-relay-process.ts';
import type { TrialOptions } from './crash-trial.ts';
import { runCommand, type EndedCommand, type KillPoint } from './killed-process.ts';
import { reconciledFacts, type ReconciledFacts } from './reconciled-facts.ts';
import { withCopy, type Holdings } from './recorded-facts.ts';

/** What a trial that kept all rules came to. */
export interface ReconciliationTrialReport {
  kills: number;
  /** What the kills aimed at. */
  aims: Record<Aim, number>;
  /** Bodies asked for in an uninterrupted run, and those that were asked for again because of a kill. */
  bodies: number;
  askedAgain: number;
  /** The most that one relay was asked for again after one kill. */
  mostAskedAgain: number;
  archived: number;
  present: number;
  absent: number;
}

/** A moment while messages of NEG sessions go to and fro, one while bodies arrive, or a statement of a transaction. */
const AIMS = ['comparing', 'bodies', 'statement'] as const;
type Aim = (typeof AIMS)[number];

/** IDs in a request for bodies. */
const BATCH = 100;
/** Keeps the relay's messages so short that a comparison takes many of them. */
const SHORT_FRAMES = 4096;
/** IDs that a short frame can name. */
const IDS_PER_FRAME = SHORT_FRAMES / 32;
/** Archived before the first comparison and held by no relay. */
const ONLY_HERE = 40;
/** More statements than these transactions have: some draws mean the moment right after the commit. */
const STATEMENTS = 16;
/** About as long as a message of a session, or a batch of bodies, takes from the relay to the archive. */
const LONGEST_DELAY_MS = { comparing: 15, bodies: 40 };

/**
 * Fetches a history, part of which is archived already, by NIP-77 from two relays, which are processes of their own;
 * kills Holdfast again and again while it compares and while bodies arrive, resumes it, and checks after every kill that
 * the archive keeps the rules of evidence; in the end, that nothing was lost and next to nothing downloaded twice.
 *
 * @throws AssertionError that names the rule that was broken.
 */
export async function runReconciliationTrial(options: TrialOptions): Promise<ReconciliationTrialReport> {
  const trial = await ReconciliationTrial.start(options);
  try {
    return await trial.run();
  } finally {
    await trial.stop();
  }
}

/** A relay of the trial, and what it holds. */
interface Source {
  relay: RelayProcess;
  events: readonly SignedEvent[];
}

class ReconciliationTrial {
  readonly #options: TrialOptions;
  readonly #random: Random;
  readonly #sources: readonly Source[];
  readonly #imported: readonly SignedEvent[];
  readonly #holdings: Holdings;
  readonly #dataDirectory: string;
  readonly #tell: MessageTeller;
  readonly #aims: Record<Aim, number> = { comparing: 0, bodies: 0, statement: 0 };
  /** IDs that each relay was asked for since the archive that is killed exists. */
  #askedBefore: readonly ReadonlySet<string>[] = [];
  /** REQs that each relay had answered for the uninterrupted run. */
  #earlierRequests: readonly number[] = [];
  #asked = 0;
  #askedAgain = 0;
  #mostAskedAgain = 0;

  private constructor(
    options: TrialOptions,
    sources: readonly Source[],
    imported: readonly SignedEvent[],
    tell: MessageTeller,
  ) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#sources = sources;
    this.#imported = imported;
    this.#holdings = new Map(sources.map(({ relay, events }) => [relay.url, events]));
    this.#dataDirectory = join(options.directory, 'killed', 'data');
    this.#tell = tell;
  }

  static async start(options: TrialOptions): Promise<ReconciliationTrial> {
    const history = cachedHistory({
      count: options.events,
      from: 1_500_000_000,
      to: 1_700_000_000,
      perSecond: 3,
      kinds: [1, 1, 7, 6],
      contentLength: 60,
    });
    const onlyHere = buildHistory({ count: ONLY_HERE, from: 1_510_000_000, to: 1_690_000_000, kinds: [30_023] });
    const imported = [...history.filter((_, index) => index % 5 === 0), ...onlyHere];
    const tell: MessageTeller = { onMessage: () => undefined };
    const sources: Source[] = [];
    for (const [index, events] of [history, history.filter((_, at) => at % 3 !== 0)].entries()) {
      const file = join(options.directory, `held-${index}.jsonl`);
      writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      const relay = await startRelayProcess({
        events: file,
        negentropy: SHORT_FRAMES,
        onMessage: (type) => tell.onMessage(type),
      });
      sources.push({ relay, events });
    }
    return new ReconciliationTrial(options, sources, imported, tell);
  }

  async stop(): Promise<void> {
    for (const { relay } of this.#sources) await relay.close();
  }

  async run(): Promise<ReconciliationTrialReport> {
    const { kills, directory, log } = this.#options;
    const uninterruptedDirectory = join(directory, 'uninterrupted', 'data');
    await this.#prepareArchive(uninterruptedDirectory);
    cpSync(uninterruptedDirectory, this.#dataDirectory, { recursive: true });
    const ended = await runCommand(uninterruptedDirectory, FETCH);
    assert.equal(ended.code, 0, `the uninterrupted fetch failed: ${ended.stdout}${ended.stderr}`);
    const uninterrupted = await this.#facts(uninterruptedDirectory);
    const asked = await this.#bodiesAsked();
    const bodies = asked.reduce((sum, ids) => sum + ids.length, 0);
    for (const ids of asked) assert.equal(new Set(ids).size, ids.length, 'a body was asked for twice without any kill');
    log(`uninterrupted: ${bodies} bodies asked for, ${uninterrupted.archived.size} archived`);

    this.#earlierRequests = await this.#requestCounts();
    this.#askedBefore = this.#sources.map(() => new Set());
    let known = await this.#facts(this.#dataDirectory);
    for (let kill = 1; kill <= kills; kill++) known = await this.#killOnce(kill, known);
    const last = await this.#command(undefined, known);
    assert.equal(last.code, 0, `the last resume did not complete: ${last.stdout}${last.stderr}`);

    const facts = await this.#facts(this.#dataDirectory);
    assert.equal(
      facts.completeRelays.size,
      this.#sources.length,
      'not every relay was compared and fetched to the end',
    );
    assert.deepEqual(facts.present, uninterrupted.present, 'the found set is not that of an uninterrupted run');
    assert.deepEqual(facts.absent, uninterrupted.absent, 'what relays lack is not what an uninterrupted run says');
    assert.deepEqual(
      [...facts.archived].sort(),
      [...uninterrupted.archived].sort(),
      'the archive is not that of an uninterrupted run',
    );
    await this.#compareArchive();
    assert.ok(this.#asked - this.#askedAgain <= bodies, 'more bodies were asked for than without kills');
    return {
      kills,
      aims: this.#aims,
      bodies,
      askedAgain: this.#askedAgain,
      mostAskedAgain: this.#mostAskedAgain,
      archived: facts.archived.size,
      present: facts.present.length,
      absent: facts.absent.length,
    };
  }

  /** An archive with the account, its relays, and what was archived before. */
  async #prepareArchive(dataDirectory: string): Promise<void> {
    mkdirSync(dataDirectory, { recursive: true });
    mkdirSync(join(this.#dataDirectory, '..'), { recursive: true });
    const file = join(this.#options.directory, 'imported.jsonl');
    writeFileSync(file, this.#imported.map((event) => `${JSON.stringify(event)}\n`).join(''));
    const write = this.#sources.flatMap(({ relay }) => ['--write', relay.url]);
    for (const argv of [
      ['import', file],
      ['account', 'add', alice.npub, ...write],
    ]) {
      const ended = await runCommand(dataDirectory, argv);
      assert.equal(ended.code, 0, ended.stderr);
    }
  }

  /** One command that is killed, and what its archive looks like afterwards. */
  async #killOnce(kill: number, before: ReconciledFacts): Promise<ReconciledFacts> {
    const { log } = this.#options;
    const { aim, point, words } = this.#choosePoint(kill, before);

    const ended = await this.#command(point, before);

    assert.ok(ended.killed, `the process ended before kill ${kill} (${words}): ${ended.stdout}${ended.stderr}`);
    this.#aims[aim] += 1;
    const after = await this.#facts(this.#dataDirectory);
    log(
      `kill ${kill}: ${words}${ended.at === null ? '' : `, at “${ended.at}”`}; ${after.archived.size} archived, ` +
        `${after.completeRelays.size} relays done`,
    );
    return after;
  }

  #choosePoint(kill: number, facts: ReconciledFacts): { aim: Aim; point: KillPoint; words: string } {
    const unfinished = this.#sources.filter(({ relay }) => !facts.completeRelays.has(relay.url));
    const missing = unfinished.map(({ events }) => events.filter(({ id }) => !facts.archived.has(id)).length);
    // Every unfinished relay is asked for everything that is missing, each for itself.
    const batches = missing.reduce((sum, count) => sum + Math.ceil(count / BATCH), 0);
    const mean = batches / (this.#options.kills - kill + 3);
    const batch = 1 + Math.floor((0.5 + this.#random()) * mean);
    const aim = AIMS[(kill - 1) % AIMS.length] ?? 'bodies';
    if (aim === 'statement') {
      const statement = 1 + Math.floor(this.#random() * STATEMENTS);
      const words = `statement ${statement} of transaction ${batch}`;
      return { aim, point: { by: 'statement', page: batch, statement }, words };
    }
    if (aim === 'bodies') return { aim, ...this.#afterMessage('REQ', batch, LONGEST_DELAY_MS.bodies) };
    const rounds = Math.max(1, ...missing.map((count) => Math.floor(count / IDS_PER_FRAME)));
    const message = 1 + Math.floor(this.#random() * rounds);
    return { aim, ...this.#afterMessage('NEG message', message, LONGEST_DELAY_MS.comparing) };
  }

  /** Kills from outside, a moment after the relays have received so many messages of a kind. */
  #afterMessage(
    what: 'NEG message' | 'REQ',
    number: number,
    longestDelayMs: number,
  ): { point: KillPoint; words: string } {
    const delayMs = this.#random() * longestDelayMs;
    const arm = (kill: () => void): void => {
      let received = 0;
      this.#tell.onMessage = (type) => {
        if (what === 'REQ' ? type !== 'REQ' : type !== 'NEG-OPEN' && type !== 'NEG-MSG') return;
        received += 1;
        if (received === number) setTimeout(kill, delayMs);
      };
    };
    return { point: { by: 'progress', arm }, words: `${delayMs.toFixed(1)} ms after ${what} ${number}` };
  }

  /** Fetches, or goes on where there is something to go on with, and sees which bodies are asked for again. */
  async #command(point: KillPoint | undefined, before: ReconciledFacts): Promise<EndedCommand> {
    const begun = withCopy(this.#dataDirectory, (database) =>
      Number(database.prepare('select count(*) from runs').pluck().get()),
    );
    const ended = await runCommand(this.#dataDirectory, begun > 0 ? ['resume'] : FETCH, point);
    this.#tell.onMessage = () => undefined;
    const asked = await this.#bodiesAsked();
    this.#earlierRequests = await this.#requestCounts();
    asked.forEach((ids, index) => {
      const known = this.#askedBefore[index] ?? new Set();
      assert.ok(!ids.some((id) => before.archived.has(id)), 'a body was asked for that was archived before');
      const again = ids.filter((id) => known.has(id)).length + ids.length - new Set(ids).size;
      assert.ok(again <= BATCH, `${again} bodies were asked for again from one relay after one kill`);
      this.#asked += ids.length;
      this.#askedAgain += again;
      this.#mostAskedAgain = Math.max(this.#mostAskedAgain, again);
    });
    this.#askedBefore = this.#askedBefore.map((known, index) => new Set([...known, ...(asked[index] ?? [])]));
    return ended;
  }

  async #compareArchive(): Promise<void> {
    const exported = await runCommand(this.#dataDirectory, ['export', alice.npub]);
    assert.equal(exported.code, 0, exported.stderr);
    const archived = JSON.parse(exported.stdout) as SignedEvent[];
    const held = new Map([...[...this.#holdings.values()].flat(), ...this.#imported].map((event) => [event.id, event]));
    assert.equal(archived.length, held.size, 'the archive is not complete');
    for (const event of archived)
      assert.deepEqual(event, held.get(event.id), 'an archived event is not the signed one');
  }

  #facts(dataDirectory: string): Promise<ReconciledFacts> {
    return reconciledFacts(dataDirectory, this.#holdings, this.#imported);
  }

  /** The IDs that each relay was asked for after its earlier requests, in order. */
  async #bodiesAsked(): Promise<string[][]> {
    return Promise.all(
      this.#sources.map(async ({ relay }, index) => {
        const requests = (await relay.requests()).slice(this.#earlierRequests[index] ?? 0);
        return requests.flatMap(({ filters }) =>
          filters.flatMap((filter) => (Array.isArray(filter['ids']) ? filter['ids'].map(String) : [])),
        );
      }),
    );
  }

  async #requestCounts(): Promise<number[]> {
    return Promise.all(this.#sources.map(async ({ relay }) => (await relay.requests()).length));
  }
}

const FETCH = ['fetch', alice.npub, '--strategy', 'negentropy'];

/** Called with the type of every message that a relay receives. */
interface MessageTeller {
  onMessage: (type: string) => void;
}
