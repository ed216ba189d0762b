import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import { openDatabase, type WritableDatabase } from '../../main/database/database-file.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { copyArchive, type Holdings } from './recorded-facts.ts';

/** What an archive says after comparisons. */
export interface ReconciledFacts {
  /** What the relays are known to have and to lack, as sorted `relay key, event ID`. */
  present: string[];
  absent: string[];
  /** IDs of all archived bodies. */
  archived: ReadonlySet<string>;
  /** Keys of the relays whose whole history was compared and fetched. */
  completeRelays: ReadonlySet<string>;
}

/**
 * Checks an archive, crashed or not, against the rules of evidence for NIP-77: the database is whole, a complete range knows
 * everything that its relay holds of it, no relay is said to have or to lack what it does not, the projection is what the
 * evidence says, and counters are what counting says.
 *
 * @param imported bodies that came from no relay.
 * @throws AssertionError that names the rule that is broken.
 */
export async function reconciledFacts(
  dataDirectory: string,
  holdings: Holdings,
  imported: readonly SignedEvent[],
): Promise<ReconciledFacts> {
  const opened = await openDatabase({ directory: copyArchive(dataDirectory), nowMs: 1_700_000_000_000 });
  const { db } = opened;
  try {
    await checkThatFileIsWhole(db);
    const bodies = await readBodies(db);
    await checkBodies(db, bodies, holdings, imported);
    const walks = await readWalks(db, bodies);
    for (const walk of walks) checkWalk(walk, bodies, holdings.get(walk.key) ?? []);
    await checkFetchState(db, walks);
    const presence = await readPresence(db);
    checkPresence(presence, holdings);
    await db.transaction().execute((trx) => rebuildPresence(trx));
    assert.deepEqual(await readPresence(db), presence, 'the projection is not what the evidence says');
    const named = (present: number): string[] =>
      presence.filter((row) => row.present === present).map(({ key, id }) => `${key} ${id}`);
    const complete = walks.filter((walk) => walk.status === 'complete' && walk.named.every((id) => bodies.has(id)));
    return {
      present: named(1),
      absent: named(0),
      archived: new Set(bodies.keys()),
      completeRelays: new Set(complete.map(({ key }) => key)),
    };
  } finally {
    await opened.close();
  }
}

async function checkThatFileIsWhole(db: WritableDatabase): Promise<void> {
  const integrity = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db);
  assert.deepEqual(integrity.rows, [{ integrity_check: 'ok' }], 'the database is damaged');
  const foreign = await sql`pragma foreign_key_check`.execute(db);
  assert.deepEqual(foreign.rows, [], 'a row refers to one that does not exist');
}

interface Body {
  id: string;
  kind: number;
  createdAt: number;
  sequence: number;
}
type Bodies = ReadonlyMap<string, Body>;

async function readBodies(db: WritableDatabase): Promise<Bodies> {
  const { rows } = await sql<Body>`select lower(hex(event_ids.id)) as id, kind, created_at as createdAt, sequence
    from events join event_ids on event_ids.ref = events.ref`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

async function checkBodies(
  db: WritableDatabase,
  bodies: Bodies,
  holdings: Holdings,
  imported: readonly SignedEvent[],
): Promise<void> {
  const sources = new Set([...[...holdings.values()].flat(), ...imported].map(({ id }) => id));
  assert.ok(
    [...bodies.keys()].every((id) => sources.has(id)),
    'a body was archived that nobody had',
  );
  const { rows } = await sql<{ fetched: number }>`select coalesce(sum(newly_archived), 0) as fetched
    from attempts`.execute(db);
  assert.equal(bodies.size, imported.length + (rows[0]?.fetched ?? 0), 'newly archived events are not the archive');
}

/** One walk as its latest attempt and its queries tell it. */
interface Walk {
  key: string;
  status: string;
  since: number | null;
  until: number;
  found: number;
  fetched: number;
  pages: number;
  newlyArchived: number;
  kinds: Map<number, number>;
  queries: { attempt: number; isLatest: boolean; newlyArchived: number }[];
  /** What was compared to its end. */
  spans: { from: number | null; until: number; comparedUpTo: number }[];
  /** IDs that the relay named or returned, and IDs it said it lacks. */
  named: string[];
  lacking: ReadonlySet<string>;
  /** Bodies that were on both sides, and about which nothing is written down. */
  common: Body[];
}

async function readWalks(db: WritableDatabase, bodies: Bodies): Promise<Walk[]> {
  interface AttemptRow {
    id: number;
    walk: number;
    key: string;
    status: string;
    since: number | null;
    until: number;
    found: number;
    fetched: number;
    pages: number;
    newlyArchived: number;
  }
  const attempts = await sql<AttemptRow>`select attempts.id, walk_id as walk, relays.key, status, since, until, found,
      fetched, pages, newly_archived as newlyArchived
    from attempts join ranges on ranges.id = range_id join relays on relays.id = relay_id
    where attempts.id in (select max(id) from attempts group by walk_id)`.execute(db);
  const walks: Walk[] = [];
  for (const attempt of attempts.rows) {
    const queries = await sql<{
      attempt: number;
      newlyArchived: number;
      from: number | null;
      until: number | null;
      comparedUpTo: number | null;
    }>`select attempt_id as attempt, new_count as newlyArchived, covered_from as "from", covered_until as until,
        compared_up_to as comparedUpTo
      from queries where walk_id = ${attempt.walk}`.execute(db);
    const evidence = await sql<{ id: string; present: number }>`select lower(hex(event_ids.id)) as id, present
      from evidence join event_ids on event_ids.ref = event_ref where walk_id = ${attempt.walk}`.execute(db);
    const kinds = await sql<{ kind: number; found: number }>`select kind, found from walk_kinds
      where walk_id = ${attempt.walk}`.execute(db);
    const spans = queries.rows.flatMap(({ from, until, comparedUpTo }) =>
      until === null || comparedUpTo === null ? [] : [{ from, until, comparedUpTo }],
    );
    const written = new Set(evidence.rows.map(({ id }) => id));
    walks.push({
      ...attempt,
      kinds: new Map(kinds.rows.map(({ kind, found }) => [kind, found])),
      queries: queries.rows.map((query) => ({ ...query, isLatest: query.attempt === attempt.id })),
      spans,
      named: evidence.rows.filter(({ present }) => present === 1).map(({ id }) => id),
      lacking: new Set(evidence.rows.filter(({ present }) => present === 0).map(({ id }) => id)),
      common: [...bodies.values()].filter((body) => !written.has(body.id) && spans.some((span) => isIn(body, span))),
    });
  }
  return walks;
}

function isIn(body: Body, span: Walk['spans'][number]): boolean {
  const { createdAt, sequence } = body;
  return createdAt >= (span.from ?? 0) && createdAt <= span.until && sequence <= span.comparedUpTo;
}

function checkWalk(walk: Walk, bodies: Bodies, held: readonly SignedEvent[]): void {
  const heldIds = new Set(held.map(({ id }) => id));
  const found = new Set([...walk.named, ...walk.common.map(({ id }) => id)]);
  assert.ok(
    [...found].every((id) => heldIds.has(id)),
    `${walk.key} is said to have what it does not hold`,
  );
  assert.ok(![...walk.lacking].some((id) => heldIds.has(id)), `${walk.key} is said to lack what it holds`);
  if (walk.status === 'complete') checkThatWalkIsComplete(walk, found, held);

  const fetched = [...found].flatMap((id) => bodies.get(id) ?? []);
  const kinds = new Map<number, number>();
  for (const { kind } of fetched) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const newlyArchived = walk.queries
    .filter(({ isLatest }) => isLatest)
    .reduce((sum, query) => sum + query.newlyArchived, 0);
  assert.deepEqual(
    {
      found: walk.found,
      fetched: walk.fetched,
      kinds: sorted(walk.kinds),
      pages: walk.pages,
      newlyArchived: walk.newlyArchived,
    },
    { found: found.size, fetched: fetched.length, kinds: sorted(kinds), pages: walk.queries.length, newlyArchived },
    `counters of a walk over ${walk.key} differ from what counting says`,
  );
}

function checkThatWalkIsComplete(walk: Walk, found: ReadonlySet<string>, held: readonly SignedEvent[]): void {
  const spans = walk.spans.toSorted((a, b) => b.until - a.until);
  let missingUntil: number | null = walk.until;
  for (const span of spans) {
    if (missingUntil !== null && span.until >= missingUntil) missingUntil = span.from === null ? null : span.from - 1;
  }
  assert.ok(
    missingUntil === null || (walk.since !== null && missingUntil < walk.since),
    `a range of ${walk.key} is complete and was not compared to its end`,
  );
  const unknown = held.filter(
    ({ id, created_at: at }) => at <= walk.until && at >= (walk.since ?? 0) && !found.has(id),
  );
  assert.equal(unknown.length, 0, `a range of ${walk.key} is complete and knows nothing of ${unknown.length} events`);
}

function sorted(kinds: ReadonlyMap<number, number>): [number, number][] {
  return [...kinds].sort(([a], [b]) => a - b);
}

async function checkFetchState(db: WritableDatabase, walks: readonly Walk[]): Promise<void> {
  const { rows } = await sql<{ key: string; boundary: number }>`select relays.key, forward_boundary as boundary
    from fetch_state join relays on relays.id = relay_id where history_complete = 1`.execute(db);
  for (const { key, boundary } of rows) {
    assert.ok(
      walks.some(
        (walk) =>
          walk.key === key && walk.status === 'complete' && walk.since === null && walk.until === Number(boundary),
      ),
      `the history of ${key} is called complete and no range says so`,
    );
  }
}

interface PresenceRow {
  key: string;
  id: string;
  present: number;
  observedAtMs: number;
  query: number;
  kind: number | null;
}

async function readPresence(db: WritableDatabase): Promise<PresenceRow[]> {
  const { rows } = await sql<PresenceRow>`select relays.key, lower(hex(event_ids.id)) as id, present,
      observed_at_ms as observedAtMs, query_id as query, kind
    from presence join event_ids on event_ids.ref = event_ref join relays on relays.id = relay_id
    order by relays.key, event_ids.id`.execute(db);
  return rows;
}

function checkPresence(presence: readonly PresenceRow[], holdings: Holdings): void {
  const held = new Map([...holdings].map(([key, events]) => [key, new Set(events.map(({ id }) => id))]));
  const wrong = presence.filter(({ key, id, present }) => held.get(key)?.has(id) !== (present === 1));
  assert.deepEqual(
    wrong.slice(0, 3),
    [],
    `${wrong.length} copies are said to be where they are not, or not where they are`,
  );
}
