import { cpSync } from 'node:fs';
import { dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import { addAccount, readAccount, readAccountRelays } from '../../main/accounts/account-store.ts';
import type { EventVerifier } from '../../main/archive/event-verifier.ts';
import { beginAttempt, latestAttempt, openRange, type Attempt, type Range } from '../../main/coverage/range-history.ts';
import { beginRun, settleInterrupted } from '../../main/coverage/run-history.ts';
import type { OpenDatabase, WritableDatabase } from '../../main/database/database-file.ts';
import { RelayFetchProgress } from '../../main/coverage/fetch-progress.ts';
import { runPagingAttempt, type AttemptEnd } from '../../main/fetch/paging-attempt.ts';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import { checkRules, withCopy } from '../crash/recorded-facts.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { alice } from '../relays/event-builder.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';

/** Where the rig's clock begins, Unix seconds. */
export const START = 1_700_000_000;

const PAGE_LIMIT = 10;

/** A query as it was recorded. */
export interface RecordedQuery {
  until: number;
  sentAtMs: number;
  completedAtMs: number;
  ending: string;
  received: number;
  unique: number;
  covered: [number | null, number] | null;
}

/** Attempts by paging at alice's whole history on one scripted relay, with a verifier of the test's own. */
export class PagingRig {
  readonly db: WritableDatabase;
  readonly directory: string;
  readonly clock: FakeClock;
  readonly relay: ScriptedRelay;
  readonly stop = new AbortController();
  readonly #relays: RelayDirectory;

  private constructor(database: OpenDatabase, clock: FakeClock, relay: ScriptedRelay) {
    this.db = database.db;
    this.directory = dirname(database.path);
    this.clock = clock;
    this.relay = relay;
    this.#relays = new RelayDirectory({ clock, random: () => 0.5 });
    onTestFinished(() => this.#relays.close());
  }

  static async start(relay: ScriptedRelay): Promise<PagingRig> {
    const database = await openScratchDatabase();
    const role = { url: relay.url, read: false, write: true, extra: false };
    await addAccount(database.db, { pubkey: alice.pubkey, label: null, relays: [role], createdAt: START });
    return new PagingRig(database, new FakeClock(START * 1000), relay);
  }

  /** What a start after a kill at this moment finds: the files as they lie on disk, an hour later. */
  async killed(): Promise<PagingRig> {
    const directory = scratchDirectory();
    cpSync(this.directory, directory, { recursive: true, filter: (path) => !path.endsWith('.lock') });
    const clock = new FakeClock((START + 3600) * 1000);
    const database = await openScratchDatabase(directory);
    await settleInterrupted(database.db, START + 3600);
    return new PagingRig(database, clock, this.relay);
  }

  /** Begins an attempt, continuing the last one unless told, and walks. */
  async walk(options: { verifier?: EventVerifier; anew?: boolean } = {}): Promise<AttemptEnd> {
    const range = await this.#range();
    const prior = await latestAttempt(this.db, range.id);
    const attempt = await beginAttempt(this.db, {
      rangeId: range.id,
      runId: await this.#run(range),
      strategy: 'paging',
      pageLimit: PAGE_LIMIT,
      startedAt: Math.floor(this.clock.nowMs() / 1000),
      prior,
      continued: prior !== null && options.anew !== true,
    });
    const context = {
      db: this.db,
      verifier: options.verifier ?? pureVerifier,
      clock: this.clock,
      connection: this.#relays.connection(this.relay.url),
      relayId: range.relayId,
      progress: new RelayFetchProgress(this.relay.url, this.clock, () => undefined),
      signal: this.stop.signal,
      idleTimeoutMs: 30_000,
    };
    return runPagingAttempt(context, range, attempt);
  }

  /** The latest attempt. */
  async attempt(): Promise<Attempt> {
    const attempt = await latestAttempt(this.db, (await this.#range()).id);
    if (attempt === null) throw new Error('no attempt was made');
    return attempt;
  }

  /** The `until` of everything the relay was asked for, in order. */
  asked(): number[] {
    return this.relay.requests().map((request) => Number(request['until']));
  }

  /** All queries in the order in which they were recorded. */
  async queries(): Promise<RecordedQuery[]> {
    const rows = await this.db.selectFrom('queries').selectAll().orderBy('id').execute();
    return rows.map((row) => ({
      until: Number((JSON.parse(row.request) as Record<string, unknown>)['until']),
      sentAtMs: row.sent_at_ms,
      completedAtMs: row.completed_at_ms,
      ending: row.ending,
      received: row.received,
      unique: row.unique_count,
      covered: row.covered_until === null ? null : [row.covered_from, row.covered_until],
    }));
  }

  /** The `until` of the answers that are kept and not yet committed. */
  async kept(): Promise<number[]> {
    const rows = await this.db.selectFrom('arrived_pages').select('request').execute();
    return rows.map(({ request }) => Number((JSON.parse(request) as Record<string, unknown>)['until']));
  }

  /** Lets input, output and everything that waits on promises go on until a condition holds. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await settle();
  }

  /** Checks the archive, as it lies on disk, against the rules of transactions. */
  checkRules(): void {
    const held = this.relay.store.all().map(({ event }) => event);
    withCopy(this.directory, (database) => checkRules(database, new Map([[this.relay.url, held]])));
  }

  async archivedTimes(): Promise<number[]> {
    const rows = await this.db.selectFrom('events').select('created_at').orderBy('created_at', 'desc').execute();
    return rows.map((row) => row.created_at);
  }

  async #range(): Promise<Range> {
    const account = await readAccount(this.db, alice.pubkey);
    const [relay] = await readAccountRelays(this.db, account.id);
    if (relay === undefined) throw new Error('alice has no relay');
    return openRange(this.db, {
      accountId: account.id,
      relayId: relay.relayId,
      filter: { authors: [alice.pubkey] },
      since: null,
      until: START,
    });
  }

  #run(range: Range): Promise<number> {
    return beginRun(this.db, {
      accountId: range.accountId,
      type: 'fetch',
      strategy: 'paging',
      pageLimit: PAGE_LIMIT,
      boundary: START,
      sources: [this.relay.url],
      warnings: [],
      startedAt: START,
    });
  }
}
