import type { QueryEnding, RangeStatus, SignedEvent } from '../../preload/contract.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { RelayFilter } from '../relays/relay-query.ts';
import { archiveEvents } from './archive-events.ts';
import { dropArrivedPage } from './arrived-page.ts';
import { completeWalk } from './complete-walk.ts';
import type { Attempt, Range } from './range-history.ts';
import { recordedTimes, type QueryTimes } from './recorded-times.ts';
import { addKinds, addSightings, newToWalk } from './walk-evidence.ts';

/** One completed REQ of a walk, with everything that it established. */
export interface PageRecord extends QueryTimes {
  range: Range;
  attempt: Attempt;
  request: RelayFilter;
  ending: QueryEnding;
  message: string | null;
  /** EVENT frames, repeats and invalid ones included. */
  received: number;
  /** Frames that were malformed, wrongly signed, or did not match the filter. */
  invalid: number;
  /** Distinct events that are validly signed and match the request. */
  events: readonly SignedEvent[];
  /** The answer was kept until now (see `arrived-page.ts`); with this commit it is not needed any more. */
  kept?: boolean;
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
  queryId: number;
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
    const { sentAtMs, completedAtMs } = recordedTimes(page);
    const completedAt = Math.floor(page.completedAtMs / 1000);
    const stored = await archiveEvents(trx, page.events, completedAt);
    const refs = [...new Set(stored.refs.values())];
    const fresh = new Set(await newToWalk(trx, page.range, page.attempt, refs));
    const outcome = decide(fresh.size);
    const query = await trx
      .insertInto('queries')
      .values({
        attempt_id: page.attempt.id,
        walk_id: page.attempt.walkId,
        type: 'REQ',
        request: JSON.stringify(page.request),
        sent_at_ms: sentAtMs,
        completed_at_ms: completedAtMs,
        ending: outcome.ending ?? page.ending,
        message: page.message,
        received: page.received,
        valid: page.events.length,
        unique_count: fresh.size,
        new_count: stored.newlyArchived.size,
        covered_from: outcome.covered?.from ?? null,
        covered_until: outcome.covered?.until ?? null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { range, attempt } = page;
    await addSightings(trx, { range, attempt, queryId: query.id, observedAtMs: completedAtMs, refs });
    const found = page.events.filter((event) => fresh.has(stored.refs.get(event.id) ?? 0));
    await addKinds(trx, attempt.walkId, countKinds(found));
    await trx
      .updateTable('attempts')
      .set((eb) => ({
        pages: eb('pages', '+', 1),
        found: eb('found', '+', fresh.size),
        fetched: eb('fetched', '+', fresh.size),
        received: eb('received', '+', page.received),
        invalid: eb('invalid', '+', page.invalid),
        newly_archived: eb('newly_archived', '+', stored.newlyArchived.size),
        cursor: outcome.cursor,
        checkpoint: JSON.stringify(outcome.checkpoint),
      }))
      .where('id', '=', page.attempt.id)
      .execute();
    if (page.kept === true) await dropArrivedPage(trx, attempt.walkId);
    if (outcome.end !== null) await completeWalk(trx, page.range, page.attempt, outcome.end, page.completedAtMs);
    return { outcome, unique: fresh.size, newlyArchived: stored.newlyArchived.size, queryId: query.id };
  });
}

/** How many of a page's events are of each kind. */
function countKinds(events: readonly SignedEvent[]): { kind: number; found: number }[] {
  const byKind = new Map<number, number>();
  for (const { kind } of events) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  return [...byKind].map(([kind, found]) => ({ kind, found }));
}
