import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { seededRandom } from '../../main/demo/seeded-choice.ts';
import type { Random } from '../../main/platform/random.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { alice, cachedHistory } from '../relays/event-builder.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import type { TrialOptions } from './crash-trial.ts';
import { runCommand, type KillPoint } from './killed-process.ts';
import { withCopy } from './recorded-facts.ts';

/** A moment after an event arrived at a relay, a statement that records a read-back, or one that moves deliveries. */
const AIMS = ['progress', 'statement', 'delivering'] as const;
type Aim = (typeof AIMS)[number];

/** What a trial that kept all rules came to. */
export interface SyncTrialReport {
  kills: number;
  /** What the kills aimed at. */
  aims: Record<Aim, number>;
  /** Copies that were missing, all of them verified in the end. */
  copies: number;
  /** EVENT frames that relays received more than once: sent, and not known to have arrived when the process died. */
  sentAgain: number;
}

/** More statements than the transactions of deliveries have: some draws mean the moment right after the commit. */
const STATEMENTS = 8;
/** How many transactions are let pass at the most: few, so that even the last kills find some. */
const TRANSACTIONS: Record<Aim, number> = { progress: 1, statement: 2, delivering: 4 };
/** About as long as it takes from the relay's OK to the archive. */
const LONGEST_DELAY_MS = 120;

/**
 * Sends what two honest relays lack, killing the process again and again and resuming it. Checked after every kill: no
 * delivery is lost, none was sent without a trace, and nothing that was verified before the kill is sent after it; in the end,
 * that everything is verified, and there.
 *
 * @throws AssertionError that names the rule that was broken.
 */
export async function runSyncTrial(options: TrialOptions): Promise<SyncTrialReport> {
  const history = cachedHistory({
    count: options.events,
    from: 1_500_000_000,
    to: 1_700_000_000,
    perSecond: 3,
    kinds: [1, 1, 7, 6],
    contentLength: 60,
  });
  const relays = [
    await ScriptedRelay.start({ events: history.filter((_, index) => index % 3 !== 0), recordSent: false }),
    await ScriptedRelay.start({ events: history.filter((_, index) => index % 3 !== 1), recordSent: false }),
  ];
  try {
    return await new SyncTrial(options, relays, history).run();
  } finally {
    for (const relay of relays) await relay.stop();
  }
}

interface DeliveryRow {
  key: string;
  event: string;
  state: string;
  attempts: number;
}

class SyncTrial {
  readonly #options: TrialOptions;
  readonly #random: Random;
  readonly #relays: readonly ScriptedRelay[];
  readonly #history: readonly SignedEvent[];
  readonly #dataDirectory: string;
  #onEvent: () => void = () => undefined;
  readonly #aims: Record<Aim, number> = { progress: 0, statement: 0, delivering: 0 };

  constructor(options: TrialOptions, relays: readonly ScriptedRelay[], history: readonly SignedEvent[]) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#relays = relays;
    this.#history = history;
    this.#dataDirectory = join(options.directory, 'data');
    mkdirSync(this.#dataDirectory, { recursive: true });
    for (const relay of relays) {
      relay.use({
        name: 'tells of events',
        takeMessage: (message) => {
          if (message.type === 'EVENT') this.#onEvent();
          return false;
        },
      });
    }
  }

  async run(): Promise<SyncTrialReport> {
    const { kills, log } = this.#options;
    await this.#command(['account', 'add', alice.npub, ...this.#relays.flatMap(({ url }) => ['--write', url])]);
    await this.#command(['fetch', alice.npub, '--strategy', 'paging']);
    const copies = this.#history.length * 2 - this.#relays.reduce((sum, { store }) => sum + store.size, 0);
    log(`${copies} copies are missing`);

    let killed = 0;
    while (killed < kills && this.#missing() > 0) {
      if (!(await this.#killOnce(killed, copies))) break;
      killed += 1;
    }
    if (this.#mayResume()) await this.#command(['resume']);

    const deliveries = this.#deliveries();
    assert.equal(deliveries.length, copies, 'a delivery was lost');
    assert.deepEqual(
      deliveries.filter(({ state }) => state !== 'verified'),
      [],
      'a copy is not verified although the relay is honest',
    );
    assert.equal(this.#missing(), 0, 'a copy is called verified and is not there');
    const sent = this.#relays.reduce((sum, relay) => sum + relay.log.received('EVENT').length, 0);
    return { kills: killed, aims: this.#aims, copies, sentAgain: sent - copies };
  }

  /** One command that is killed, and what its archive looks like afterwards. False when it came to its end before. */
  async #killOnce(kill: number, copies: number): Promise<boolean> {
    const { kills, log } = this.#options;
    const mean = this.#missing() / (kills - kill + 2);
    const aim = AIMS[Math.floor(this.#random() * AIMS.length)] ?? 'progress';
    const point = this.#pointFor(aim, 1 + Math.floor(this.#random() * 1.5 * mean));
    const verifiedBefore = this.#verified();
    const framesBefore = this.#relays.map(({ log: frames }) => frames.entries.length);

    const ended = await runCommand(
      this.#dataDirectory,
      this.#deliveries().length > 0 ? ['resume'] : ['sync', alice.npub],
      point.point,
    );
    this.#onEvent = () => undefined;

    withCopy(this.#dataDirectory, checkDatabase);
    this.#checkNothingVerifiedWasSent(verifiedBefore, framesBefore);
    const deliveries = this.#deliveries();
    assert.ok(
      deliveries.length === copies || deliveries.length === 0,
      `${deliveries.length} of ${copies} deliveries are there`,
    );
    this.#checkEverySendingIsRecorded(deliveries);
    if (!ended.killed) {
      assert.equal(ended.code, 0, `${ended.stdout}${ended.stderr}`);
      return false;
    }
    this.#aims[aim] += 1;
    log(
      `kill ${kill + 1}: ${point.words}${ended.at === null ? '' : `, at “${ended.at}”`}; ${this.#missing()} missing, ${this.#verified().size} verified`,
    );
    return true;
  }

  /** Kills from outside, a moment after the relays have received their share of events. */
  #byProgress(events: number): { point: KillPoint; words: string } {
    const delayMs = this.#random() * LONGEST_DELAY_MS;
    const arm = (kill: () => void): void => {
      let received = 0;
      this.#onEvent = () => {
        received += 1;
        if (received === events) setTimeout(kill, delayMs);
      };
    };
    return { point: { by: 'progress', arm }, words: `${delayMs.toFixed(1)} ms after EVENT ${events}` };
  }

  #pointFor(aim: Aim, events: number): { point: KillPoint; words: string } {
    const statement = 1 + Math.floor(this.#random() * STATEMENTS);
    const number = 1 + Math.floor(this.#random() * TRANSACTIONS[aim]);
    switch (aim) {
      case 'progress':
        return this.#byProgress(events);
      case 'statement':
        return { point: { by: aim, page: number, statement }, words: `statement ${statement} of read-back ${number}` };
      case 'delivering':
        return {
          point: { by: aim, transaction: number, statement },
          words: `statement ${statement} of transaction ${number} of deliveries`,
        };
    }
  }

  #checkNothingVerifiedWasSent(verified: ReadonlySet<string>, framesBefore: readonly number[]): void {
    this.#relays.forEach((relay, index) => {
      const sent = relay.log.entries.slice(framesBefore[index]).filter(isEvent).map(eventIdOf);
      const again = sent.filter((id) => verified.has(`${relay.url} ${id}`));
      assert.deepEqual(again, [], 'a verified copy was sent again');
    });
  }

  #checkEverySendingIsRecorded(deliveries: readonly DeliveryRow[]): void {
    const attempts = new Map(deliveries.map(({ key, event, attempts: count }) => [`${key} ${event}`, count]));
    for (const relay of this.#relays) {
      const frames = new Map<string, number>();
      for (const id of relay.log.received('EVENT').map(eventIdOf)) frames.set(id, (frames.get(id) ?? 0) + 1);
      for (const [id, count] of frames) {
        assert.ok(count <= (attempts.get(`${relay.url} ${id}`) ?? 0), 'an event was sent without a trace');
      }
    }
  }

  #missing(): number {
    return this.#history.length * 2 - this.#relays.reduce((sum, { store }) => sum + store.size, 0);
  }

  #mayResume(): boolean {
    return this.#deliveries().some(({ state }) => state !== 'verified') || this.#deliveries().length === 0;
  }

  #verified(): Set<string> {
    return new Set(
      this.#deliveries()
        .filter(({ state }) => state === 'verified')
        .map(({ key, event }) => `${key} ${event}`),
    );
  }

  #deliveries(): DeliveryRow[] {
    return withCopy(this.#dataDirectory, (database) =>
      database
        .prepare<[], DeliveryRow>(
          `select relays.key, lower(hex(event_ids.id)) as event, state, attempts from deliveries
           join relays on relays.id = relay_id join event_ids on event_ids.ref = event_ref`,
        )
        .all(),
    );
  }

  async #command(argv: readonly string[]): Promise<void> {
    const ended = await runCommand(this.#dataDirectory, argv);
    assert.equal(ended.code, 0, `${argv.join(' ')} ended with ${ended.code}: ${ended.stdout}${ended.stderr}`);
  }
}

function isEvent({ direction, type }: { direction: string; type: string }): boolean {
  return direction === 'received' && type === 'EVENT';
}

function eventIdOf({ text }: { text: string }): string {
  return (JSON.parse(text) as ['EVENT', SignedEvent])[1].id;
}

function checkDatabase(database: BetterSqlite3.Database): void {
  assert.deepEqual(database.pragma('integrity_check', { simple: true }), 'ok', 'the database is damaged');
  assert.deepEqual(database.pragma('foreign_key_check'), [], 'a row refers to one that does not exist');
  const count = (sql: string): unknown => database.prepare(sql).pluck().get();
  assert.equal(
    count(`select count(*) from deliveries where state = 'verified' and not exists (select 1 from presence
      where presence.relay_id = deliveries.relay_id and presence.event_ref = deliveries.event_ref and present = 1)`),
    0,
    'a copy is called verified without evidence',
  );
  assert.equal(
    count(`select count(*) from deliveries where attempts <> (select count(*) from delivery_steps
      where delivery_id = deliveries.id and type = 'send')`),
    0,
    'the steps of a delivery are not its attempts',
  );
}
