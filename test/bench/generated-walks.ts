import type BetterSqlite3 from 'better-sqlite3';
import { GeneratedKnowledge, type Inventory, type Known } from './generated-knowledge.ts';
import { FETCH_INTERVAL, FIRST_BOUNDARY, LATER_FETCHES, RELAYS, type GeneratedHistory } from './generated-history.ts';

const BODIES_PER_QUERY = 100;
const QUERY_MS = 120;

interface Walk extends Inventory {
  relay: number;
  attempt: number;
  id: number;
  /** Index of the first event within the scope, and that behind the last one. */
  low: number;
  high: number;
  /** The query that gave evidence of an event first, and latest, by index less `low`; 0: none. */
  first: Uint32Array;
  latest: Uint32Array;
  /** 1 where a comparison said that the relay lacks the event. */
  lacking: Uint8Array;
  firstAnswerMs: number | null;
  counts: { pages: number; found: number; received: number; newlyArchived: number; cursor: number | null };
  kinds: Map<number, number>;
}

interface QueryFields {
  type: 'REQ' | 'NEG';
  request: object;
  ending?: string;
  message?: string;
  received: number;
  valid: number;
  unique: number;
  new: number;
  cover?: { from: number | null; until: number };
  comparedUpTo?: number;
}

/**
 * Plays a first fetch and the later ones of a generated history, and writes runs, ranges, attempts, queries, evidence,
 * inventories and fetch state as the application would have.
 */
export class GeneratedWalks {
  readonly #history: GeneratedHistory;
  readonly #db: BetterSqlite3.Database;
  readonly #account: { id: number; pubkey: string };
  readonly #relayIds: readonly number[];
  readonly #pageLimit: number;
  readonly #knowledge: GeneratedKnowledge;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();
  #nowMs = 0;
  #named = 0;
  #archived = 0;
  #run = 0;
  /** By event index: number of its ID in the order of naming, place in the order of archiving, when it was archived. */
  readonly refs: Uint32Array;
  readonly sequences: Uint32Array;
  readonly firstSeenAt: Uint32Array;
  readonly known: readonly Known[];

  constructor(
    history: GeneratedHistory,
    db: BetterSqlite3.Database,
    account: { id: number; pubkey: string; relayIds: readonly number[] },
  ) {
    this.#history = history;
    this.#db = db;
    this.#account = account;
    this.#relayIds = account.relayIds;
    this.#pageLimit = Math.ceil(history.count / 400);
    const { count } = history;
    this.refs = new Uint32Array(count);
    this.sequences = new Uint32Array(count);
    this.firstSeenAt = new Uint32Array(count);
    this.#knowledge = new GeneratedKnowledge(history);
    this.known = this.#knowledge.known;
  }

  play(): void {
    for (let fetch = 0; fetch <= LATER_FETCHES; fetch += 1) {
      const until = FIRST_BOUNDARY + fetch * FETCH_INTERVAL;
      this.#nowMs = Math.max(this.#nowMs, until * 1000);
      this.#importFile(fetch === 0 ? 0 : until - FETCH_INTERVAL + 1, until);
      this.#fetch(fetch === 0 ? null : until - FETCH_INTERVAL - 10, until);
    }
    for (const relayId of this.#relayIds) {
      this.#insert('fetch_state', {
        account_id: this.#account.id,
        relay_id: relayId,
        history_complete: 1,
        forward_boundary: FIRST_BOUNDARY + LATER_FETCHES * FETCH_INTERVAL,
      });
    }
  }

  #importFile(since: number, until: number): void {
    const high = this.#history.before(until + 1);
    for (let index = this.#history.before(since); index < high; index += 1) {
      if (!this.#history.isImported(index)) continue;
      this.#name(index);
      this.#archive(index);
    }
  }

  #fetch(since: number | null, until: number): void {
    this.#run += 1;
    const startedAt = this.#second();
    for (const [relay, { strategy, parts }] of RELAYS.entries()) {
      const walk = this.#begin(relay, since, until);
      if (strategy === 'paging') this.#page(walk);
      else this.#compare(walk, since === null ? parts : 1);
      this.#complete(walk, strategy);
      if (since === null) this.#probe(walk);
    }
    this.#insert('runs', {
      id: this.#run,
      account_id: this.#account.id,
      type: 'fetch',
      status: 'complete',
      strategy: 'auto',
      page_limit: this.#pageLimit,
      boundary: until,
      sources: JSON.stringify(RELAYS.map(({ url }) => url)),
      started_at: startedAt,
      finished_at: this.#second(),
    });
  }

  /** Every eighth range has a first try that found the relay unreachable. */
  #begin(relay: number, since: number | null, until: number): Walk {
    const { strategy } = this.#relay(relay);
    const range = this.#insert('ranges', {
      account_id: this.#account.id,
      relay_id: this.#relayIds[relay],
      filter: JSON.stringify(this.#filter()),
      since,
      until,
    });
    const blank = { range_id: range, run_id: this.#run, strategy, page_limit: this.#pageLimit, checkpoint: 'null' };
    let id: number | null = null;
    if (range % 8 === 5) {
      const times = { started_at: this.#second(), completed_at: this.#second() };
      id = this.#insert('attempts', {
        ...{ ...blank, ...times, walk_id: 0, continued: 0, status: 'failed' },
        reason: 'The relay could not be reached.',
      });
      this.#statement('update attempts set walk_id = id where id = ?').run(id);
    }
    const attempt = this.#insert('attempts', {
      ...{ ...blank, walk_id: id ?? 0, prior_id: id, continued: id === null ? 0 : 1, status: 'active' },
      started_at: this.#second(),
    });
    const low = since === null ? 0 : this.#history.before(since);
    const high = this.#history.before(until + 1);
    return {
      ...{ relay, since, until, attempt, low, high, id: id ?? attempt, covers: [] },
      first: new Uint32Array(high - low),
      latest: new Uint32Array(high - low),
      lacking: new Uint8Array(high - low),
      firstAnswerMs: null,
      counts: { pages: 0, found: 0, received: 0, newlyArchived: 0, cursor: null },
      kinds: new Map(),
    };
  }

  #page(walk: Walk): void {
    for (let cursor = walk.until; ;) {
      const events: number[] = [];
      for (
        let index = this.#history.before(cursor + 1) - 1;
        index >= walk.low && events.length < this.#pageLimit;
        index -= 1
      ) {
        if (this.#history.isHeld(walk.relay, index)) events.push(index);
      }
      const unique = events.filter((index) => walk.first[index - walk.low] === 0);
      const earliest = this.#history.createdAt[events.at(-1) ?? -1] ?? cursor;
      const cover =
        unique.length === 0
          ? { cover: { from: walk.since, until: cursor } }
          : earliest < cursor
            ? { cover: { from: earliest + 1, until: cursor } }
            : {};
      this.#bodies(walk, events, unique.length, this.#scope(walk.since, cursor, this.#pageLimit), cover);
      for (const index of unique) this.#found(walk, index);
      if (unique.length === 0) return;
      cursor = earliest;
      walk.counts.cursor = cursor;
    }
  }

  /** A query that returned bodies: of a page, or by ID. */
  #bodies(walk: Walk, events: number[], unique: number, request: object, cover: Pick<QueryFields, 'cover'>): void {
    for (const index of events) this.#name(index);
    const fresh = events.filter((index) => this.sequences[index] === 0);
    const counts = { received: events.length, valid: events.length, unique, new: fresh.length };
    const query = this.#query(walk, { type: 'REQ', request, ...counts, ...cover });
    for (const index of fresh) this.#archive(index);
    walk.counts.newlyArchived += fresh.length;
    for (const index of events) {
      const place = index - walk.low;
      if (walk.first[place] === 0) walk.first[place] = query;
      else walk.latest[place] = query;
      this.#knowledge.seen(walk.relay, index, query, this.#nowMs);
    }
  }

  #compare(walk: Walk, parts: number): void {
    if (parts > 1) {
      const message = 'blocked: too many query results';
      const counts = { received: 1, valid: 0, unique: 0, new: 0 };
      this.#query(walk, {
        type: 'NEG',
        request: this.#scope(walk.since, walk.until),
        ending: 'neg-err',
        message,
        ...counts,
      });
    }
    let until = walk.until;
    for (let part = parts - 1; part >= 0; part -= 1) {
      const middle = this.#history.createdAt[walk.low + Math.floor(((walk.high - walk.low) * part) / parts)] ?? until;
      const from = part === 0 ? walk.since : middle;
      this.#comparePart(walk, { from, until });
      until = middle - 1;
    }
  }

  #comparePart(walk: Walk, scope: { from: number | null; until: number }): void {
    const named: number[] = [];
    const common: number[] = [];
    const lacking: number[] = [];
    const high = this.#history.before(scope.until + 1);
    for (let index = scope.from === null ? 0 : this.#history.before(scope.from); index < high; index += 1) {
      const held = this.#history.isHeld(walk.relay, index);
      if (this.sequences[index] === 0) {
        if (held) named.push(index);
      } else (held ? common : lacking).push(index);
    }
    const found = named.length + common.length;
    const query = this.#query(walk, {
      ...{ type: 'NEG', request: this.#scope(scope.from, scope.until), ending: 'neg-complete', received: 4 },
      ...{ valid: found, unique: found, new: 0, cover: scope, comparedUpTo: this.#archived },
    });
    for (const index of [...named, ...lacking]) walk.first[index - walk.low] = query;
    for (const index of lacking) walk.lacking[index - walk.low] = 1;
    for (const index of [...named, ...common]) {
      this.#found(walk, index);
      this.#knowledge.seen(walk.relay, index, query, this.#nowMs);
    }
    for (const index of [...named, ...lacking]) this.#name(index);
    for (let start = 0; start < named.length; start += BODIES_PER_QUERY) {
      const batch = named.slice(start, start + BODIES_PER_QUERY);
      const ids = batch.map((index) => this.#history.idOf(index).toString('hex'));
      this.#bodies(walk, batch, 0, { ids, limit: ids.length }, {});
    }
  }

  #found(walk: Walk, index: number): void {
    const kind = this.#history.kinds[index] ?? 0;
    walk.counts.found += 1;
    walk.kinds.set(kind, (walk.kinds.get(kind) ?? 0) + 1);
  }

  #complete(walk: Walk, strategy: 'negentropy' | 'paging'): void {
    this.#knowledge.completed(walk.relay, walk, (index) => {
      const place = index - walk.low;
      return walk.lacking[place] === 1 ? 'lacking' : walk.first[place] === 0 ? 'unseen' : 'seen';
    });
    const times = walk.covers.map(({ completedAtMs }) => completedAtMs);
    this.#insert('inventories', {
      ...{ walk_id: walk.id, account_id: this.#account.id, relay_id: this.#relayIds[walk.relay] },
      ...{ covered_from: walk.since, covered_until: walk.until },
      first_observed_at_ms: walk.firstAnswerMs,
      last_observed_at_ms: times.reduce((a, b) => Math.max(a, b)),
    });
    const { pages, found, received, newlyArchived, cursor } = walk.counts;
    const checkpoint = strategy === 'paging' ? pagingCheckpoint(this.#pageLimit, pages) : { version: 'negentropy-1' };
    this.#statement(
      `update attempts set walk_id = ?, status = 'complete', reason = ?, checkpoint = ?, cursor = ?, pages = ?, found = ?,
        fetched = found + ?, received = ?, newly_archived = ?, completed_at = ? where id = ?`,
    ).run(
      ...[walk.id, 'The whole range was asked.', JSON.stringify(checkpoint), cursor, pages, found],
      ...[found, received, newlyArchived, this.#second(), walk.attempt],
    );
    for (const [kind, of] of walk.kinds) this.#insert('walk_kinds', { walk_id: walk.id, kind, found: of });
    this.#writeEvidence(walk);
  }

  #writeEvidence(walk: Walk): void {
    const insertion = this.#statement(
      'insert into evidence (walk_id, event_ref, query_id, present, latest_query_id) values (?, ?, ?, ?, ?)',
    );
    for (const index of inOrderOf(this.refs, walk.low, walk.high)) {
      const place = index - walk.low;
      const first = walk.first[place] ?? 0;
      if (first === 0) continue;
      const present = walk.lacking[place] === 1 ? 0 : 1;
      insertion.run(walk.id, this.refs[index], first, present, walk.latest[place] === 0 ? null : walk.latest[place]);
    }
  }

  /** Asks for every kind of which something seems to be missing, alone. */
  #probe(walk: Walk): void {
    const { hides } = this.#relay(walk.relay);
    const kinds = new Set(this.#history.kinds);
    for (const kind of [...kinds].filter((each) => each !== 4).sort((a, b) => a - b)) {
      const refused = hides.includes(kind);
      const query = this.#query(walk, {
        ...{ type: 'REQ', request: { ...this.#filter(), kinds: [kind], limit: 1 } },
        ...(refused ? { ending: 'auth-required', message: 'auth-required: not for everybody' } : {}),
        ...{ received: refused ? 0 : 1, valid: 0, unique: 0, new: 0 },
      });
      const relayId = this.#relayIds[walk.relay];
      this.#insert('kind_probes', { relay_id: relayId, kind, refused: refused ? 1 : 0, query_id: query });
    }
    this.#statement('update attempts set pages = ? where id = ?').run(walk.counts.pages, walk.attempt);
  }

  #name(index: number): void {
    if (this.refs[index] !== 0) return;
    this.#named += 1;
    this.refs[index] = this.#named;
  }

  #archive(index: number): void {
    this.#archived += 1;
    this.sequences[index] = this.#archived;
    this.firstSeenAt[index] = this.#second();
    this.#knowledge.archived(index, this.#archived);
  }

  #query(walk: Walk, fields: QueryFields): number {
    const sentAtMs = this.#nowMs;
    this.#nowMs += QUERY_MS;
    walk.firstAnswerMs ??= this.#nowMs;
    walk.counts.pages += 1;
    walk.counts.received += fields.received;
    const id = this.#insert('queries', {
      attempt_id: walk.attempt,
      walk_id: walk.id,
      type: fields.type,
      request: JSON.stringify(fields.request),
      sent_at_ms: sentAtMs,
      completed_at_ms: this.#nowMs,
      ending: fields.ending ?? 'eose',
      message: fields.message ?? null,
      received: fields.received,
      valid: fields.valid,
      unique_count: fields.unique,
      new_count: fields.new,
      covered_from: fields.cover?.from ?? null,
      covered_until: fields.cover?.until ?? null,
      compared_up_to: fields.comparedUpTo ?? null,
    });
    if (fields.cover !== undefined) {
      const comparedUpTo = fields.comparedUpTo ?? null;
      walk.covers.push({ ...fields.cover, query: id, completedAtMs: this.#nowMs, comparedUpTo });
    }
    return id;
  }

  #filter(): object {
    return { authors: [this.#account.pubkey] };
  }

  #scope(since: number | null, until: number, limit?: number): object {
    return {
      ...this.#filter(),
      ...(since === null ? {} : { since }),
      until,
      ...(limit === undefined ? {} : { limit }),
    };
  }

  #relay(place: number) {
    const relay = RELAYS[place];
    if (relay === undefined) throw new Error('there is no such relay');
    return relay;
  }

  #second(): number {
    return Math.floor(this.#nowMs / 1000);
  }

  #insert(table: string, row: Record<string, unknown>): number {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    const statement = this.#statement(`insert into ${table} (${columns.join(', ')}) values (${places})`);
    return Number(statement.run(...Object.values(row)).lastInsertRowid);
  }

  #statement(text: string): BetterSqlite3.Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

/** Indices from `low` to before `high` in the order of their (whole, positive) values; those of value 0 are left out. */
export function inOrderOf(values: Uint32Array, low = 0, high = values.length): number[] {
  const indices: number[] = [];
  for (let index = low; index < high; index += 1) if (values[index] !== 0) indices.push(index);
  return indices.sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
}

function pagingCheckpoint(largestPage: number, pages: number): object {
  return {
    ...{ version: 'paging-1', unpageable: false, largestPage, pages, boundaryKnown: false, saturatedSeconds: [] },
    ...{ probing: null, rechecking: null, exclusiveUntil: false },
  };
}
