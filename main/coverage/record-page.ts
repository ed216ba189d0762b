import { sql, type Transaction } from 'kysely';
import type { QueryEnding, RangeStatus, SignedEvent } from '../../preload/contract.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import type { RelayFilter } from '../relays/relay-query.ts';
import type { StoredBatch } from '../archive/event-store.ts';
import { archiveEvents } from './archive-events.ts';
import { completeWalk } from './complete-walk.ts';
import { observePresent } from './observe-presence.ts';
import { addKinds } from './record-reconciliation.ts';
import type { Attempt, Range } from './range-history.ts';

/** One completed REQ of a walk, with everything that it established. */
export interface PageRecord {
  range: Range;
  attempt: Attempt;
  request: RelayFilter;
  sentAtMs: number;
  completedAtMs: number;
  ending: QueryEnding;
  message: string | null;
  /** EVENT frames, repeats and invalid ones included. */
  received: number;
  /** Frames that were malformed, wrongly signed, or did not match the filter. */
  invalid: number;
  /** Distinct events that are validly signed and match the request. */
  events: readonly SignedEvent[];
}

/** Where the walk stands after the page; decided inside the transaction, from what the page brought. */
export interface PageOutcome {
  cursor: number | null;
  /** What Resume needs besides the cursor; see `walk-checkpoint.ts` for paging. */
  checkpoint: object;
  /** The seconds, both inclusive, that the walk is done with by this page; `from: null` is Beginning. Null: none. */
  covered: { from: number | null; until: number } | null;
  /** Set when the attempt ends with this page. */
  end: { status: Exclude<RangeStatus, 'active'>; reason: string } | null;
  /** The query's ending when judging the page changes it (a full, repeating second is `unpageable`). */
  ending?: QueryEnding;
}

export interface RecordedPage<O extends PageOutcome> {
  outcome: O;
  /** Events of this page that the walk did not know before. */
  unique: number;
  newlyArchived: number;
}

/**
 * Commits a page: bodies, evidence, query row, counters, cursor, and, when the walk ends, the range's status and the
 * account's fetch state, all in one transaction. After a crash the cursor is therefore never ahead of the archive.
 *
 * @param decide is told how many events were unique to the walk and says where it stands now.
 */
export async function recordPage<O extends PageOutcome>(
  db: WritableDatabase,
  page: PageRecord,
  decide: (unique: number) => O,
): Promise<RecordedPage<O>> {
  return db.transaction().execute(async (trx) => {
    // A clock set back meanwhile must not make an answer older than its question.
    const completedAtMs = Math.max(page.sentAtMs, page.completedAtMs);
    const completedAt = Math.floor(completedAtMs / 1000);
    const stored = await archiveEvents(trx, page.events, completedAt);
    const fresh = await unknownToWalk(trx, page, stored.refs);
    const bodiesOfNamed = namedBefore(page, stored, fresh);
    const outcome = decide(fresh.length);
    const query = await trx
      .insertInto('queries')
      .values({
        attempt_id: page.attempt.id,
        walk_id: page.attempt.walkId,
        type: 'REQ',
        request: JSON.stringify(page.request),
        sent_at_ms: page.sentAtMs,
        completed_at_ms: completedAtMs,
        ending: outcome.ending ?? page.ending,
        message: page.message,
        received: page.received,
        valid: page.events.length,
        unique_count: fresh.length,
        new_count: stored.newlyArchived.size,
        covered_from: outcome.covered?.from ?? null,
        covered_until: outcome.covered?.until ?? null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await addEvidence(trx, page.attempt.walkId, query.id, fresh, bodiesOfNamed);
    const refs = fresh.map(({ ref }) => ref);
    await observePresent(trx, { relayId: page.range.relayId, queryId: query.id, observedAtMs: completedAtMs, refs });
    await trx
      .updateTable('attempts')
      .set((eb) => ({
        pages: eb('pages', '+', 1),
        found: eb('found', '+', fresh.length),
        fetched: eb('fetched', '+', fresh.length + bodiesOfNamed.length),
        received: eb('received', '+', page.received),
        invalid: eb('invalid', '+', page.invalid),
        newly_archived: eb('newly_archived', '+', stored.newlyArchived.size),
        cursor: outcome.cursor,
        checkpoint: JSON.stringify(outcome.checkpoint),
      }))
      .where('id', '=', page.attempt.id)
      .execute();
    if (outcome.end !== null) await completeWalk(trx, page.range, page.attempt, outcome.end, completedAtMs);
    return { outcome, unique: fresh.length, newlyArchived: stored.newlyArchived.size };
  });
}

interface FreshEvent {
  ref: number;
  kind: number;
}

async function unknownToWalk(
  trx: Transaction<Tables>,
  page: PageRecord,
  refs: ReadonlyMap<string, number>,
): Promise<FreshEvent[]> {
  const { rows } = await sql<{ event_ref: number }>`
    select event_ref from evidence
    where walk_id = ${page.attempt.walkId} and event_ref in (select value from json_each(${JSON.stringify([...refs.values()])}))
  `.execute(trx);
  const known = new Set(rows.map((row) => row.event_ref));
  const fresh: FreshEvent[] = [];
  for (const event of page.events) {
    const ref = refs.get(event.id);
    if (ref !== undefined && !known.has(ref)) fresh.push({ ref, kind: event.kind });
  }
  return fresh;
}

/** Events that a NEG session of this walk had named, and whose bodies came only now: found before, fetched now. */
function namedBefore(page: PageRecord, stored: StoredBatch, fresh: readonly FreshEvent[]): FreshEvent[] {
  const unknown = new Set(fresh.map(({ ref }) => ref));
  return page.events.flatMap((event) => {
    const ref = stored.refs.get(event.id);
    return ref !== undefined && !unknown.has(ref) && stored.newlyArchived.has(ref) ? [{ ref, kind: event.kind }] : [];
  });
}

async function addEvidence(
  trx: Transaction<Tables>,
  walkId: number,
  queryId: number,
  fresh: readonly FreshEvent[],
  bodiesOfNamed: readonly FreshEvent[],
): Promise<void> {
  if (fresh.length + bodiesOfNamed.length === 0) return;
  await sql`insert into evidence (walk_id, event_ref, query_id)
    select ${walkId}, value, ${queryId} from json_each(${JSON.stringify(fresh.map(({ ref }) => ref))})`.execute(trx);
  const byKind = new Map<number, number>();
  for (const { kind } of [...fresh, ...bodiesOfNamed]) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  await addKinds(
    trx,
    walkId,
    [...byKind].map(([kind, found]) => ({ kind, found })),
  );
}
