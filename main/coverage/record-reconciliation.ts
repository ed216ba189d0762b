import { sql, type Transaction } from 'kysely';
import type { QueryEnding } from '../../preload/contract.ts';
import { internEventIds } from '../archive/event-store.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import type { RelayFilter } from '../relays/relay-query.ts';
import { observePresent } from './observe-presence.ts';
import { LATER_WINS } from './presence-rule.ts';
import type { Attempt, Range } from './range-history.ts';
import { timeSlices } from './time-slices.ts';

/** One NEG session over a scope of a range: the whole range, or one of the parts it was split into. */
export interface ReconciliationRecord {
  range: Range;
  attempt: Attempt;
  /** The scope that was compared; `since: null` is Beginning. */
  scope: { since: number | null; until: number };
  request: RelayFilter;
  sentAtMs: number;
  completedAtMs: number;
  ending: QueryEnding;
  message: string | null;
  /** NEG-MSG frames from the relay. */
  received: number;
  /** The bodies up to this number were on our side (see `events.sequence`). */
  comparedUpTo: number;
  /** IDs (hex) that the relay named and that were not on our side. */
  remoteOnly: readonly string[];
  /** IDs (hex) that were on our side and that the relay lacks; only a completed session says so. */
  localOnly: readonly string[];
  checkpoint: string;
}

/** What a session established. */
export interface RecordedReconciliation {
  /** Events of the scope that both sides had. */
  common: number;
  /** IDs named by the relay whose body is not archived yet. */
  withoutBody: number;
}

/**
 * Commits a NEG session: query row, evidence, projection and counters, in one transaction. A session that did not complete keeps what it named and says nothing about anything else (design §3.2).
 */
export async function recordReconciliation(
  db: WritableDatabase,
  record: ReconciliationRecord,
): Promise<RecordedReconciliation> {
  return db.transaction().execute(async (trx) => {
    const completed = record.ending === 'neg-complete';
    const completedAtMs = Math.max(record.sentAtMs, record.completedAtMs);
    const named = await internEventIds(trx, record.remoteOnly);
    const lacking = completed ? await internEventIds(trx, record.localOnly) : new Map<string, number>();
    const queryId = await insertQuery(trx, record, completedAtMs, completed);
    const fresh = await addFound(trx, record.attempt.walkId, queryId, [...named.values()]);
    await addLacking(trx, record.attempt.walkId, queryId, [...lacking.values()]);
    await observePresent(trx, {
      relayId: record.range.relayId,
      queryId,
      observedAtMs: completedAtMs,
      refs: [...named.values()],
    });
    const common = completed ? await observeCommon(trx, record, queryId, completedAtMs) : 0;
    await trx
      .updateTable('queries')
      .set({ valid: named.size + common, unique_count: fresh.total + common })
      .where('id', '=', queryId)
      .execute();
    await trx
      .updateTable('attempts')
      .set((eb) => ({
        pages: eb('pages', '+', 1),
        found: eb('found', '+', fresh.total + common),
        fetched: eb('fetched', '+', fresh.withBody + common),
        received: eb('received', '+', record.received),
        checkpoint: record.checkpoint,
      }))
      .where('id', '=', record.attempt.id)
      .execute();
    return { common, withoutBody: fresh.total - fresh.withBody };
  });
}

async function insertQuery(
  trx: Transaction<Tables>,
  record: ReconciliationRecord,
  completedAtMs: number,
  completed: boolean,
): Promise<number> {
  const { id } = await trx
    .insertInto('queries')
    .values({
      attempt_id: record.attempt.id,
      walk_id: record.attempt.walkId,
      type: 'NEG',
      request: JSON.stringify(record.request),
      sent_at_ms: record.sentAtMs,
      completed_at_ms: completedAtMs,
      ending: record.ending,
      message: record.message,
      received: record.received,
      valid: 0,
      unique_count: 0,
      new_count: 0,
      covered_from: completed ? record.scope.since : null,
      covered_until: completed ? record.scope.until : null,
      compared_up_to: completed ? record.comparedUpTo : null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Positive evidence for named IDs; those that the walk knows from a body already are not counted again. */
async function addFound(
  trx: Transaction<Tables>,
  walkId: number,
  queryId: number,
  refs: readonly number[],
): Promise<{ total: number; withBody: number }> {
  if (refs.length === 0) return { total: 0, withBody: 0 };
  const { rows } = await sql<{ event_ref: number }>`insert into evidence (walk_id, event_ref, query_id, present)
    select ${walkId}, value, ${queryId}, 1 from json_each(${JSON.stringify(refs)}) where true
    on conflict do nothing returning event_ref`.execute(trx);
  const list = JSON.stringify(rows.map((row) => row.event_ref));
  const kinds = await sql<{ kind: number; found: number }>`select kind, count(*) as found from events
    where ref in (select value from json_each(${list})) group by kind`.execute(trx);
  await addKinds(trx, walkId, kinds.rows);
  return { total: rows.length, withBody: kinds.rows.reduce((sum, row) => sum + row.found, 0) };
}

async function addLacking(
  trx: Transaction<Tables>,
  walkId: number,
  queryId: number,
  refs: readonly number[],
): Promise<void> {
  if (refs.length === 0) return;
  await sql`insert into evidence (walk_id, event_ref, query_id, present)
    select ${walkId}, value, ${queryId}, 0 from json_each(${JSON.stringify(refs)}) where true
    on conflict do nothing`.execute(trx);
}

/** What both sides had: everything of ours in the scope that the relay did not call missing. */
async function observeCommon(
  trx: Transaction<Tables>,
  record: ReconciliationRecord,
  queryId: number,
  completedAtMs: number,
): Promise<number> {
  const { walkId } = record.attempt;
  const kinds = new Map<number, number>();
  for await (const slice of timeSlices(trx, record.range.accountId, record.scope)) {
    const inCommon = sql`events.author = ${slice.author} and events.created_at between ${slice.from} and ${slice.until}
      and events.created_at >= 0 and events.sequence <= ${record.comparedUpTo} and not exists (select 1 from evidence
        where evidence.walk_id = ${walkId} and evidence.event_ref = events.ref)`;
    const { rows } = await sql<{ kind: number; found: number }>`
      select kind, count(*) as found from events where ${inCommon} group by kind`.execute(trx);
    for (const { kind, found } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + found);
    await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
      select ${record.range.relayId}, events.ref, 1, ${completedAtMs}, ${queryId}, events.kind
      from events where ${inCommon} ${LATER_WINS}`.execute(trx);
  }
  await addKinds(
    trx,
    walkId,
    [...kinds].map(([kind, found]) => ({ kind, found })),
  );
  return [...kinds.values()].reduce((sum, found) => sum + found, 0);
}

/** Adds to a walk's found events by kind. */
export async function addKinds(
  trx: Transaction<Tables>,
  walkId: number,
  kinds: readonly { kind: number; found: number }[],
): Promise<void> {
  if (kinds.length === 0) return;
  await sql`insert into walk_kinds (walk_id, kind, found)
    select ${walkId}, value ->> 0, value ->> 1 from json_each(${JSON.stringify(kinds.map(({ kind, found }) => [kind, found]))}) where true
    on conflict do update set found = found + excluded.found`.execute(trx);
}
