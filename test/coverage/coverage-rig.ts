import { addAccount, readAccountRelays, type Account } from '../../main/accounts/account-store.ts';
import { summarizeArchive } from '../../main/archive/event-reader.ts';
import { readCoverageTree } from '../../main/coverage/coverage-tree.ts';
import {
  beginAttempt,
  openRange,
  type Attempt,
  type NewAttempt,
  type Range,
} from '../../main/coverage/range-history.ts';
import { recordPage, type PageOutcome, type PageRecord } from '../../main/coverage/record-page.ts';
import { beginRun, type NewRun } from '../../main/coverage/run-history.ts';
import type { WalkCheckpoint } from '../../main/coverage/walk-checkpoint.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import type { CoverageTree } from '../../preload/contract.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice } from '../relays/event-builder.ts';

/** When everything in these tests begins, Unix seconds. */
export const START = 1_700_000_000;

export const CHECKPOINT: WalkCheckpoint = {
  version: 'paging-1',
  largestPage: 0,
  pages: 0,
  boundaryKnown: false,
  saturatedSeconds: [],
  probing: null,
  rechecking: null,
  exclusiveUntil: false,
  verifying: null,
  reachedEnd: false,
  unpageable: false,
};

export const ONGOING: PageOutcome = { cursor: START - 50, checkpoint: CHECKPOINT, covered: null, end: null };
export const COMPLETE: PageOutcome = { ...ONGOING, end: { status: 'complete', reason: 'The end was reached.' } };
export const PARTIAL: PageOutcome = { ...ONGOING, end: { status: 'partial', reason: 'The relay went away.' } };

const ROLES = [
  { url: 'wss://write.example', read: true, write: true, extra: false },
  { url: 'wss://extra.example', read: false, write: false, extra: true },
  { url: 'wss://both.example', read: false, write: true, extra: true },
  { url: 'wss://read.example', read: true, write: false, extra: false },
];

/** Alice with a relay of every role, and range history written as a fetch writes it. */
export class CoverageRig {
  readonly db: WritableDatabase;
  readonly account: Account;
  /** Relay numbers by the first label of their host. */
  readonly relays: ReadonlyMap<string, number>;

  private constructor(db: WritableDatabase, account: Account, relays: ReadonlyMap<string, number>) {
    this.db = db;
    this.account = account;
    this.relays = relays;
  }

  static async open(): Promise<CoverageRig> {
    return CoverageRig.over((await openScratchDatabase()).db);
  }

  /** On a database of the test's own, which has no account yet. */
  static async over(db: WritableDatabase): Promise<CoverageRig> {
    const account = await addAccount(db, { pubkey: alice.pubkey, label: null, relays: ROLES, createdAt: START });
    const relays = await readAccountRelays(db, account.id);
    return new CoverageRig(
      db,
      account,
      new Map(relays.map(({ url, relayId }) => [url.replace(/^wss:..|\.example$/g, ''), relayId])),
    );
  }

  relay(name: string): number {
    const id = this.relays.get(name);
    if (id === undefined) throw new Error(`no relay ${name}`);
    return id;
  }

  run(fields: Partial<NewRun> = {}): Promise<number> {
    return beginRun(this.db, {
      accountId: this.account.id,
      type: 'fetch',
      strategy: 'auto',
      pageLimit: 100,
      boundary: START,
      sources: ['wss://write.example'],
      warnings: [],
      startedAt: START,
      ...fields,
    });
  }

  range(relay: string, since: number | null = null, until = START): Promise<Range> {
    return openRange(this.db, {
      accountId: this.account.id,
      relayId: this.relay(relay),
      filter: { authors: [alice.pubkey] },
      since,
      until,
    });
  }

  attempt(range: Range, runId: number, fields: Partial<NewAttempt> = {}): Promise<Attempt> {
    return beginAttempt(this.db, {
      rangeId: range.id,
      runId,
      strategy: 'paging',
      pageLimit: 100,
      startedAt: START,
      prior: null,
      continued: false,
      ...fields,
    });
  }

  page(range: Range, attempt: Attempt, fields: Partial<PageRecord> = {}, outcome: PageOutcome = ONGOING) {
    const events = fields.events ?? [];
    const page: PageRecord = {
      range,
      attempt,
      request: { ...range.filter, until: range.until, limit: attempt.pageLimit },
      setBackMs: 0,
      sentAtMs: START * 1000,
      completedAtMs: START * 1000 + 1500,
      ending: 'eose',
      message: null,
      received: events.length,
      invalid: 0,
      events,
      ...fields,
    };
    // A walk is complete only when its queries leave no second of the range out.
    const covered = outcome.end?.status === 'complete' ? { from: range.since, until: range.until } : outcome.covered;
    return recordPage(this.db, page, () => ({ ...outcome, covered }));
  }

  async tree(): Promise<CoverageTree> {
    const { id, pubkey } = this.account;
    return readCoverageTree(this.db, {
      id,
      pubkey,
      archive: await summarizeArchive(this.db, pubkey),
      relays: await readAccountRelays(this.db, id),
    });
  }
}
