import { sql, type Transaction } from 'kysely';
import type { SignedEvent } from '../../preload/contract.ts';
import type { Tables } from '../database/tables.ts';
import { contentToColumn } from './event-columns.ts';
import { RowInsertion } from './row-insertion.ts';

/** What archiving a batch did. */
export interface StoredBatch {
  /** Interned ID of every event of the batch, by event ID (hex). */
  refs: Map<string, number>;
  /** Refs whose body was not in the archive before. */
  newlyArchived: Set<number>;
}

/** When events were first seen, Unix seconds: the same for a whole batch, or told for each. */
export type SeenAt = number | ((event: SignedEvent) => number);

const bodyInsertion = new RowInsertion('events', [
  'ref',
  'author',
  'kind',
  'created_at',
  'sig',
  'tags',
  'content',
  'first_seen_at',
  'sequence',
]);

/**
 * Archives verified events in the transaction of their evidence; an event that is there already stays as it is. The
 * caller has checked shape, ID and signature: what is stored here is what the archive vouches for. Tags are indexed
 * afterwards (see `tag-index.ts`).
 *
 * @param firstSeenAt Unix seconds, of all of them or of each.
 */
export async function storeEvents(
  trx: Transaction<Tables>,
  events: readonly SignedEvent[],
  firstSeenAt: SeenAt,
): Promise<StoredBatch> {
  const byId = new Map(events.map((event) => [event.id, event]));
  const refs = await internEventIds(trx, [...byId.keys()]);
  const unique = [...byId.values()].map((event) => ({ ref: refOf(refs, event.id), event }));
  const archived = await archivedRefs(
    trx,
    unique.map(({ ref }) => ref),
  );
  const fresh = unique.filter(({ ref }) => !archived.has(ref));
  if (fresh.length > 0) {
    const authors = await internAuthors(trx, [...new Set(fresh.map(({ event }) => event.pubkey))]);
    await insertBodies(trx, fresh, authors, firstSeenAt);
    await addToTotals(
      trx,
      authors,
      fresh.map(({ event }) => event),
    );
  }
  return { refs, newlyArchived: new Set(fresh.map(({ ref }) => ref)) };
}

/** Gives every event ID (64 hex characters) its number, whether or not a body is archived. */
export async function internEventIds(trx: Transaction<Tables>, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const list = JSON.stringify(ids);
  await sql`insert into event_ids (id) select unhex(value) from json_each(${list}) where true on conflict do nothing`.execute(
    trx,
  );
  const { rows } = await sql<{ ref: number; id: string }>`
    select event_ids.ref as ref, list.value as id from json_each(${list}) as list
    join event_ids on event_ids.id = unhex(list.value)`.execute(trx);
  return new Map(rows.map((row) => [row.id, row.ref]));
}

async function internAuthors(trx: Transaction<Tables>, pubkeys: readonly string[]): Promise<Map<string, number>> {
  const list = JSON.stringify(pubkeys);
  await sql`insert into authors (pubkey) select unhex(value) from json_each(${list}) where true on conflict do nothing`.execute(
    trx,
  );
  const { rows } = await sql<{ id: number; pubkey: string }>`
    select authors.id as id, list.value as pubkey from json_each(${list}) as list
    join authors on authors.pubkey = unhex(list.value)`.execute(trx);
  return new Map(rows.map((row) => [row.pubkey, row.id]));
}

async function archivedRefs(trx: Transaction<Tables>, refs: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ ref: number }>`
    select ref from events where ref in (select value from json_each(${JSON.stringify(refs)}))`.execute(trx);
  return new Set(rows.map((row) => row.ref));
}

interface FreshEvent {
  ref: number;
  event: SignedEvent;
}

async function insertBodies(
  trx: Transaction<Tables>,
  fresh: readonly FreshEvent[],
  authors: Map<string, number>,
  firstSeenAt: SeenAt,
): Promise<void> {
  const firstSequence = await takeSequence(trx, fresh.length);
  const rows = fresh.map(({ ref, event }, index) => [
    ref,
    refOf(authors, event.pubkey),
    event.kind,
    event.created_at,
    Buffer.from(event.sig, 'hex'),
    JSON.stringify(event.tags),
    contentToColumn(event.content),
    typeof firstSeenAt === 'number' ? firstSeenAt : firstSeenAt(event),
    firstSequence + index,
  ]);
  await bodyInsertion.insert(trx, rows);
}

/** The next numbers in the order of archiving; returns the first of `count`. */
async function takeSequence(trx: Transaction<Tables>, count: number): Promise<number> {
  const { last } = await trx
    .updateTable('archive_sequence')
    .set((eb) => ({ last: eb('last', '+', count) }))
    .returning('last')
    .executeTakeFirstOrThrow();
  return last - count + 1;
}

/** Keeps number and time span of each author's events in step with what was archived now. */
async function addToTotals(
  trx: Transaction<Tables>,
  authors: Map<string, number>,
  events: readonly SignedEvent[],
): Promise<void> {
  const totals = new Map<number, { events: number; oldest: number; newest: number }>();
  for (const { pubkey, created_at: createdAt } of events) {
    const author = refOf(authors, pubkey);
    const known = totals.get(author) ?? { events: 0, oldest: createdAt, newest: createdAt };
    totals.set(author, {
      events: known.events + 1,
      oldest: Math.min(known.oldest, createdAt),
      newest: Math.max(known.newest, createdAt),
    });
  }
  const rows = [...totals].map(([author, { events: count, oldest, newest }]) => [author, count, oldest, newest]);
  await sql`update authors set
      events = authors.events + (added.value ->> 1),
      oldest = min(coalesce(authors.oldest, added.value ->> 2), added.value ->> 2),
      newest = max(coalesce(authors.newest, added.value ->> 3), added.value ->> 3)
    from json_each(${JSON.stringify(rows)}) as added where authors.id = added.value ->> 0`.execute(trx);
}

function refOf(refs: Map<string, number>, key: string): number {
  const ref = refs.get(key);
  if (ref === undefined) throw new Error('an identifier was interned and then not found');
  return ref;
}
