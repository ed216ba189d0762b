import { sql } from 'kysely';
import { addAccount } from '../../main/accounts/account-store.ts';
import { internEventIds } from '../../main/archive/event-store.ts';
import { archiveEvents } from '../../main/coverage/archive-events.ts';
import { finishWalk, namedWithoutBody } from '../../main/coverage/finish-walk.ts';
import { recordKindProbe } from '../../main/coverage/hidden-kinds.ts';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import {
  beginAttempt,
  endAttempt,
  latestAttempt,
  openRange,
  type Attempt,
  type Range,
} from '../../main/coverage/range-history.ts';
import { recordSightings } from '../../main/coverage/record-sightings.ts';
import { recordPage, type PageOutcome } from '../../main/coverage/record-page.ts';
import { recordReconciliation } from '../../main/coverage/record-reconciliation.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import type { QueryEnding, SignedEvent, Strategy } from '../../preload/contract.ts';
import { bob, type TestKey } from '../relays/event-builder.ts';
import type { QueryTimes } from '../../main/coverage/recorded-times.ts';
import { CHECKPOINT, CoverageRig, START } from './coverage-rig.ts';
import { PresenceModel, type Scope } from './presence-model.ts';

/** A scope to ask a relay about an account; `since: null` is Beginning. */
export interface Asked {
  relay: 'write' | 'extra' | 'both';
  author: TestKey;
  since: number | null;
  until: number;
}

/** Milliseconds after the beginning, when a query was sent and when it ended. */
export interface Moment {
  sent: number;
  done: number;
  /** How far the clock had been set back when it ended. */
  setBack?: number;
  /** Its place in the order in which queries ended; when left out, the times tell it. */
  turn?: number;
}

/** One NEG session that was opened; what is on our side is fixed from then on. */
export interface OpenSession {
  scope: { since: number | null; until: number };
  comparedUpTo: number;
  ours: string[];
}

/** A row of the projection with the event's ID. */
export interface PresenceRow {
  relay: number;
  id: string;
  present: number;
  atMs: number;
  query: number | null;
  kind: number | null;
}

/**
 * Writes range history by the functions that a fetch uses, and tells a {@link PresenceModel} the same, so that the
 * projection can be compared with what the rules say.
 */
export class PresenceRig {
  readonly coverage: CoverageRig;
  readonly db: WritableDatabase;
  model = new PresenceModel();
  readonly #accounts: ReadonlyMap<string, number>;
  readonly #run: number;
  readonly #source: number;

  private constructor(coverage: CoverageRig, accounts: ReadonlyMap<string, number>, run: number, source: number) {
    this.#source = source;
    this.coverage = coverage;
    this.db = coverage.db;
    this.#accounts = accounts;
    this.#run = run;
  }

  static async over(db: WritableDatabase): Promise<PresenceRig> {
    const coverage = await CoverageRig.over(db);
    const { pubkey, id } = coverage.account;
    const other = await addAccount(db, { pubkey: bob.pubkey, label: null, relays: [], createdAt: START });
    const accounts = new Map([
      [pubkey, id],
      [bob.pubkey, other.id],
    ]);
    const source = await db
      .insertInto('legacy_sources')
      .values({ state: 'done', total: 0, started_at: START })
      .returning('id')
      .executeTakeFirstOrThrow();
    return new PresenceRig(coverage, accounts, await coverage.run(), source.id);
  }

  /** Forgets everything but accounts, relays and the run. */
  async wipe(): Promise<void> {
    this.model = new PresenceModel();
    for (const table of WIPED) await sql`delete from ${sql.table(table)}`.execute(this.db);
  }

  async import(events: readonly SignedEvent[]): Promise<void> {
    await this.db.transaction().execute((trx) => archiveEvents(trx, events, START));
    this.model.archive(events);
  }

  /** The first version saw events on a relay so many seconds after the beginning. */
  async sight(relay: Asked['relay'], events: readonly SignedEvent[], second: number): Promise<void> {
    const relayId = this.coverage.relay(relay);
    const observedAt = START + second;
    const ids = events.map(({ id }) => id);
    await this.db.transaction().execute(async (trx) => {
      const refs = await internEventIds(trx, ids);
      const sightings = [...refs.values()].map((eventRef) => ({ relayId, eventRef, observedAt }));
      await recordSightings(trx, this.#source, sightings);
    });
    this.model.sight(relayId, ids, observedAt * 1000);
  }

  range(asked: Asked): Promise<Range> {
    return openRange(this.db, {
      accountId: this.#accountOf(asked.author.pubkey),
      relayId: this.coverage.relay(asked.relay),
      filter: { authors: [asked.author.pubkey] },
      since: asked.since,
      until: asked.until,
    });
  }

  /** A walk of its own, or, with `continued`, the walk of the latest attempt gone on with in another attempt. */
  async begin(range: Range, strategy: Strategy, continued = false): Promise<Attempt> {
    const prior = await latestAttempt(this.db, range.id);
    return beginAttempt(this.db, {
      rangeId: range.id,
      runId: this.#run,
      strategy,
      pageLimit: 100,
      startedAt: START,
      prior,
      continued,
    });
  }

  /** Ends an attempt without a query, as giving up or a crash does. */
  giveUp(attempt: Attempt): Promise<void> {
    return endAttempt(this.db, attempt.id, 'partial', 'The relay went away.', START);
  }

  /** One answer to a REQ. `decide` says where the walk stands after it. */
  async page(
    range: Range,
    attempt: Attempt,
    moment: Moment,
    events: readonly SignedEvent[],
    decide: (unique: number) => Partial<PageOutcome> & { ending?: QueryEnding } = () => ({}),
  ): Promise<{ outcome: PageOutcome; unique: number; newlyArchived: number }> {
    const recorded = await recordPage(
      this.db,
      {
        range,
        attempt,
        request: { ...range.filter, until: range.until, limit: 100 },
        ...timesOf(moment),
        ending: 'eose',
        message: null,
        received: events.length,
        invalid: 0,
        events,
      },
      (unique) => ({ cursor: null, checkpoint: CHECKPOINT, covered: null, end: null, ...decide(unique) }),
    );
    this.model.archive(events);
    await this.#observe(
      range,
      attempt,
      moment,
      events.map(({ id }) => id),
      recorded.outcome.covered,
    );
    if (recorded.outcome.end?.status === 'complete') this.#completed(range, attempt);
    return recorded;
  }

  /** A page that ends its walk, with everything below `until` covered. */
  lastPage(range: Range, attempt: Attempt, moment: Moment, events: readonly SignedEvent[], until = range.until) {
    return this.page(range, attempt, moment, events, () => ({
      covered: { from: range.since, until },
      end: { status: 'complete', reason: 'The end was reached.' },
    }));
  }

  async openSession(range: Range, scope: OpenSession['scope'] = range): Promise<OpenSession> {
    const { last } = await this.db.selectFrom('archive_sequence').select('last').executeTakeFirstOrThrow();
    const author = this.#authorOf(range.accountId);
    return {
      scope: { since: scope.since, until: scope.until },
      comparedUpTo: last,
      ours: this.model.ours(author, toScope(scope)),
    };
  }

  /** Records how a session ended: `named` are the IDs that only the relay has, `lacking` those that only we have. */
  async closeSession(
    range: Range,
    attempt: Attempt,
    moment: Moment,
    session: OpenSession,
    result: { named: readonly string[]; lacking: readonly string[]; ending?: QueryEnding },
  ): Promise<void> {
    const ending = result.ending ?? 'neg-complete';
    await recordReconciliation(this.db, {
      range,
      attempt,
      scope: session.scope,
      request: { ...range.filter, until: session.scope.until },
      ...timesOf(moment),
      ending,
      message: null,
      received: 1,
      comparedUpTo: session.comparedUpTo,
      remoteOnly: result.named,
      localOnly: result.lacking,
      checkpoint: JSON.stringify({ version: 'negentropy-1' }),
    });
    const complete = ending === 'neg-complete';
    const common = complete ? session.ours.filter((id) => !result.lacking.includes(id)) : [];
    // A name for what is known to be somebody else's is no sighting of anything that was asked for.
    const author = this.#authorOf(range.accountId);
    const named = result.named.filter((id) => !this.model.isForeign(id, author));
    await this.#observe(range, attempt, moment, [...named, ...common], complete ? toScope(session.scope) : null);
  }

  async finish(range: Range, attempt: Attempt): Promise<void> {
    const status = await finishWalk(this.db, range, attempt, 'Compared.', START * 1000);
    if (status === 'complete') this.#completed(range, attempt);
  }

  missing(attempt: Attempt): Promise<string[]> {
    return namedWithoutBody(this.db, attempt.walkId);
  }

  async probe(range: Range, kind: number, refused: boolean, moment: Moment): Promise<void> {
    if ((await latestAttempt(this.db, range.id)) === null) return;
    await recordKindProbe(this.db, {
      range,
      kind,
      request: { ...range.filter, kinds: [kind], limit: 1 },
      outcome: {
        ending: refused ? 'auth-required' : 'eose',
        message: null,
        received: 0,
        malformed: 0,
        ...timesOf(moment),
        bytes: 0,
        unreadable: 0,
        lateEvents: 0,
      },
      refused,
      events: [],
    });
    if (refused) this.model.refuse(range.relayId, kind);
  }

  rebuild(): Promise<void> {
    return this.db.transaction().execute((trx) => rebuildPresence(trx));
  }

  /** The projection as it stands. */
  async presence(): Promise<PresenceRow[]> {
    const { rows } = await sql<PresenceRow>`select relay_id as relay, lower(hex(event_ids.id)) as id, present,
        observed_at_ms as atMs, query_id as query, kind
      from presence join event_ids on event_ids.ref = presence.event_ref order by relay_id, event_ids.id`.execute(
      this.db,
    );
    return rows;
  }

  /** What the rules say about some events on all relays, in the form of {@link presence}. */
  expected(ids: readonly string[]): PresenceRow[] {
    const rows: PresenceRow[] = [];
    for (const relay of [...this.coverage.relays.values()].sort((a, b) => a - b)) {
      for (const id of ids.toSorted()) {
        const known = this.model.known(relay, id);
        if (known === null) continue;
        const { present, atMs, query } = known;
        rows.push({ relay, id, present: present ? 1 : 0, atMs, query, kind: this.model.kindOf(id) });
      }
    }
    return rows;
  }

  /** What is known about one event on one relay: `present`, `absent` or `undetermined`, and since which millisecond. */
  async knownAbout(relay: Asked['relay'], event: SignedEvent): Promise<string> {
    const number = this.coverage.relay(relay);
    const row = (await this.presence()).find((each) => each.relay === number && each.id === event.id);
    if (row === undefined) return 'undetermined';
    return `${row.present === 1 ? 'present' : 'absent'} at ${row.atMs - START * 1000}`;
  }

  async #observe(
    range: Range,
    attempt: Attempt,
    moment: Moment,
    seen: readonly string[],
    covered: Scope | null,
  ): Promise<void> {
    const { id } = await this.db
      .selectFrom('queries')
      .select('id')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    this.model.observe({
      query: id,
      relay: range.relayId,
      walk: attempt.walkId,
      // An answer is never older than its question, whatever the clock said.
      atMs: START * 1000 + Math.max(moment.sent, moment.done + (moment.setBack ?? 0)),
      turn: moment.turn ?? null,
      seen,
      covered,
    });
  }

  #completed(range: Range, attempt: Attempt): void {
    this.model.complete(attempt.walkId, {
      relay: range.relayId,
      author: this.#authorOf(range.accountId),
      scope: toScope(range),
    });
  }

  #accountOf(pubkey: string): number {
    const id = this.#accounts.get(pubkey);
    if (id === undefined) throw new Error('no such account');
    return id;
  }

  #authorOf(account: number): string {
    for (const [pubkey, id] of this.#accounts) if (id === account) return pubkey;
    throw new Error('no such account');
  }
}

/** In an order that breaks no reference. */
const WIPED = [
  'presence',
  'legacy_sightings',
  'inventories',
  'kind_probes',
  'evidence',
  'walk_kinds',
  'queries',
  'attempts',
  'ranges',
  'fetch_state',
  'event_tags',
  'events',
  'event_ids',
  'authors',
];

function timesOf({ sent, done, setBack = 0 }: Moment): QueryTimes {
  return { sentAtMs: START * 1000 + sent, completedAtMs: START * 1000 + done, setBackMs: setBack };
}

function toScope({ since, until }: { since: number | null; until: number }): Scope {
  return { from: since, until };
}
