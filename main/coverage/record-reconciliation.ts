import { setImmediate } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import type { QueryEnding } from '../../preload/contract.ts';
import { internEventIds } from '../archive/event-store.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import type { RelayFilter } from '../relays/relay-query.ts';
import { LATER_WINS } from './presence-rule.ts';
import type { Attempt, Range } from './range-history.ts';
import { recordedTimes, type QueryTimes } from './recorded-times.ts';
import { timeSlices } from './time-slices.ts';
import { addKinds, addSightings, newToWalk } from './walk-evidence.ts';

/** One NEG session over a scope of a range: the whole range, or one of the parts it was split into. */
export interface ReconciliationRecord extends QueryTimes {
  range: Range;
  attempt: Attempt;
  /** The scope that was compared; `since: null` is Beginning. */
  scope: { since: number | null; until: number };
  request: RelayFilter;
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

/** IDs written in one go: a few milliseconds. A session may name a whole history. */
const IDS_PER_SLICE = 500;

/** What a session established. */
export interface RecordedReconciliation {
  /** Events of the scope that both sides had. */
  common: number;
  /** IDs named by the relay whose body is not archived yet. */
  withoutBody: number;
}

/**
 * Commits a NEG session: query row, evidence, projection and counters, in one transaction. A session that did not
 * complete keeps what it named and says nothing about anything else (design §3.2).
 */
export async function recordReconciliation(
  db: WritableDatabase,
  record: ReconciliationRecord,
): Promise<RecordedReconciliation> {
  return db.transaction().execute(async (trx) => {
    const completed = record.ending === 'neg-complete';
    const times = recordedTimes(record);
    const { completedAtMs } = times;
    const ids = await internInSlices(trx, record.remoteOnly);
    const lacking = completed ? await internInSlices(trx, record.localOnly) : [];
    const queryId = await insertQuery(trx, record, times, completed);
    const named = await addNamed(trx, record, queryId, completedAtMs, ids);
    for await (const refs of slicesOf(lacking)) await addLacking(trx, record.attempt.walkId, queryId, refs);
    const common = completed ? await observeCommon(trx, record, queryId, completedAtMs, new Set(lacking)) : 0;
    await trx
      .updateTable('queries')
      .set({ valid: named.valid + common, unique_count: named.unique + common })
      .where('id', '=', queryId)
      .execute();
    await trx
      .updateTable('attempts')
      .set((eb) => ({
        pages: eb('pages', '+', 1),
        found: eb('found', '+', named.unique + common),
        fetched: eb('fetched', '+', named.withBody + common),
        received: eb('received', '+', record.received),
        invalid: eb('invalid', '+', record.remoteOnly.length - named.valid),
        checkpoint: record.checkpoint,
      }))
      .where('id', '=', record.attempt.id)
      .execute();
    return { common, withoutBody: named.unique - named.withBody };
  });
}

/**
 * The named IDs that may be the account's. Of an archived body it is known when somebody else signed it: the relay
 * named that one wrongly, and it is no find.
 */
async function maybeOurs(trx: Transaction<Tables>, accountId: number, refs: readonly number[]): Promise<number[]> {
  if (refs.length === 0) return [];
  const { rows } = await sql<{ ref: number }>`select list.value as ref from json_each(${JSON.stringify(refs)}) as list
    left join events on events.ref = list.value
    where events.ref is null or events.author = (select authors.id from accounts
      join authors on authors.pubkey = unhex(accounts.pubkey) where accounts.id = ${accountId})`.execute(trx);
  return rows.map((row) => row.ref);
}

async function insertQuery(
  trx: Transaction<Tables>,
  record: ReconciliationRecord,
  { sentAtMs, completedAtMs }: { sentAtMs: number; completedAtMs: number },
  completed: boolean,
): Promise<number> {
  const { id } = await trx
    .insertInto('queries')
    .values({
      attempt_id: record.attempt.id,
      walk_id: record.attempt.walkId,
      type: 'NEG',
      request: JSON.stringify(record.request),
      sent_at_ms: sentAtMs,
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

/** Cuts a list so that the main loop goes on in between; all within one transaction, so it is seen whole or not at all. */
async function* slicesOf<T>(list: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let start = 0; start < list.length; start += IDS_PER_SLICE) {
    yield list.slice(start, start + IDS_PER_SLICE);
    await setImmediate();
  }
}

/** The numbers of event IDs (64 hex characters), each once. */
async function internInSlices(trx: Transaction<Tables>, ids: readonly string[]): Promise<number[]> {
  const refs = new Set<number>();
  for await (const slice of slicesOf(ids)) {
    for (const ref of (await internEventIds(trx, slice)).values()) refs.add(ref);
  }
  return [...refs];
}

/**
 * Positive evidence for named IDs.
 *
 * @returns how many may be the account's; how many of them the walk had not found before, which alone are counted; and
 * how many of those have a body.
 */
async function addNamed(
  trx: Transaction<Tables>,
  record: ReconciliationRecord,
  queryId: number,
  observedAtMs: number,
  ids: readonly number[],
): Promise<{ valid: number; unique: number; withBody: number }> {
  const { range, attempt } = record;
  const counts = { valid: 0, unique: 0, withBody: 0 };
  for await (const slice of slicesOf(ids)) {
    const refs = await maybeOurs(trx, range.accountId, slice);
    const fresh = await newToWalk(trx, range, attempt, refs);
    await addSightings(trx, { range, attempt, queryId, observedAtMs, refs });
    const { rows } = await sql<{ kind: number; found: number }>`select kind, count(*) as found from events
      where ref in (select value from json_each(${JSON.stringify(fresh)})) group by kind`.execute(trx);
    await addKinds(trx, attempt.walkId, rows);
    counts.valid += refs.length;
    counts.unique += fresh.length;
    counts.withBody += rows.reduce((sum, row) => sum + row.found, 0);
  }
  return counts;
}

/** Said only of events that no query of the walk returned or named: those it found stay found. */
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

/**
 * What both sides had: everything of ours in the scope that the relay did not call missing. It is counted, and not written
 * down event by event, unless the walk had found it before: then this is a later sighting.
 */
async function observeCommon(
  trx: Transaction<Tables>,
  record: ReconciliationRecord,
  queryId: number,
  completedAtMs: number,
  lacking: ReadonlySet<number>,
): Promise<number> {
  const { range, attempt } = record;
  const kinds = new Map<number, number>();
  for await (const slice of timeSlices(trx, range.accountId, record.scope)) {
    const ours = sql`events.author = ${slice.author} and events.created_at between ${slice.from} and ${slice.until}
      and events.sequence <= ${record.comparedUpTo}`;
    const known = await sql<{ ref: number }>`select events.ref as ref from events
      join evidence on evidence.walk_id = ${attempt.walkId} and evidence.event_ref = events.ref and evidence.present = 1
      where ${ours}`.execute(trx);
    const inCommon = sql`${ours} and not exists (select 1 from evidence
      where evidence.walk_id = ${attempt.walkId} and evidence.event_ref = events.ref)`;
    const { rows } = await sql<{ kind: number; found: number }>`
      select kind, count(*) as found from events where ${inCommon} group by kind`.execute(trx);
    for (const { kind, found } of rows) kinds.set(kind, (kinds.get(kind) ?? 0) + found);
    await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
      select ${range.relayId}, events.ref, 1, ${completedAtMs}, ${queryId}, events.kind
      from events where ${inCommon} ${LATER_WINS}`.execute(trx);
    if (known.rows.length > 0) {
      const refs = known.rows.map(({ ref }) => ref).filter((ref) => !lacking.has(ref));
      await addSightings(trx, { range, attempt, queryId, observedAtMs: completedAtMs, refs });
    }
  }
  await addKinds(
    trx,
    attempt.walkId,
    [...kinds].map(([kind, found]) => ({ kind, found })),
  );
  return [...kinds.values()].reduce((sum, found) => sum + found, 0);
}
