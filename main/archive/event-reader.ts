import { sql, type SelectQueryBuilder } from 'kysely';
import type { ArchiveSummary, SignedEvent } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { eventFromColumns, type EventColumns } from './event-columns.ts';

/** Which archived events to read; without a field everything matches. Bounds are inclusive Unix seconds. */
export interface ArchiveSelection {
  /** 64 hex characters. */
  author?: string;
  kinds?: readonly number[];
  since?: number;
  until?: number;
}

const PAGE_ROWS = 500;

/** The archived body of an event ID (64 hex characters) with when it was first seen (Unix seconds), or null. */
export async function readArchivedEvent(
  db: ReadableDatabase,
  id: string,
): Promise<{ ref: number; event: SignedEvent; firstSeenAt: number } | null> {
  const row = await selectEvents(db).where('event_ids.id', '=', Buffer.from(id, 'hex')).executeTakeFirst();
  return row === undefined ? null : { ref: row.ref, event: eventFromColumns(row), firstSeenAt: row.first_seen_at };
}

/** The archived bodies of some interned IDs, by ref, field for field as they were signed. */
export async function readEventsByRef(
  db: ReadableDatabase,
  refs: readonly number[],
): Promise<Map<number, SignedEvent>> {
  const rows = await selectEvents(db)
    .where(sql<boolean>`events.ref in (select value from json_each(${JSON.stringify(refs)}))`)
    .execute();
  return new Map(rows.map((row) => [row.ref, eventFromColumns(row)]));
}

/**
 * Reads archived events in order of time, then ID, in pages, so that memory stays small and other work goes on. Events
 * archived meanwhile may or may not appear.
 */
export async function* readArchive(db: ReadableDatabase, selection: ArchiveSelection): AsyncGenerator<SignedEvent> {
  // Pages go by (time, ref), which the index gives for nothing; within one second they are put in order of ID here.
  let after: { createdAt: number; ref: number } | null = null;
  let second: SignedEvent[] = [];
  for (;;) {
    let query = narrow(selectEvents(db), selection).orderBy('events.created_at').orderBy('events.ref').limit(PAGE_ROWS);
    if (after !== null) {
      const { createdAt, ref }: { createdAt: number; ref: number } = after;
      query = query.where(sql<boolean>`(events.created_at, events.ref) > (${createdAt}, ${ref})`);
    }
    const rows: ArchivedRow[] = await query.execute();
    for (const row of rows) {
      if (second.length > 0 && second[0]?.created_at !== row.created_at) {
        yield* inOrderOfId(second);
        second = [];
      }
      second.push(eventFromColumns(row));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) break;
    after = { createdAt: last.created_at, ref: last.ref };
  }
  yield* inOrderOfId(second);
}

function inOrderOfId(events: SignedEvent[]): SignedEvent[] {
  return events.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * All archived versions of an author's relay list (kind 10002, NIP-65), in no order.
 *
 * @param author 64 hex characters.
 */
export async function readRelayListEvents(
  db: ReadableDatabase,
  author: string,
): Promise<{ event: SignedEvent; firstSeenAt: number }[]> {
  const rows = await selectEvents(db)
    .where('authors.pubkey', '=', Buffer.from(author, 'hex'))
    // The kind stands in the text, so that the index of relay lists serves the query.
    .where(sql<boolean>`events.kind = 10002`)
    .execute();
  return rows.map((row) => ({ event: eventFromColumns(row), firstSeenAt: row.first_seen_at }));
}

/** Number and time span of an author's unique archived events (64 hex characters), from the totals kept with them. */
export async function summarizeArchive(db: ReadableDatabase, author: string): Promise<ArchiveSummary> {
  const row = await db
    .selectFrom('authors')
    .select(['events', 'oldest', 'newest'])
    .where('pubkey', '=', Buffer.from(author, 'hex'))
    .executeTakeFirst();
  return row ?? { events: 0, oldest: null, newest: null };
}

function selectEvents(db: ReadableDatabase) {
  return db
    .selectFrom('events')
    .innerJoin('event_ids', 'event_ids.ref', 'events.ref')
    .innerJoin('authors', 'authors.id', 'events.author')
    .select([
      'events.ref',
      'events.first_seen_at',
      'event_ids.id',
      'authors.pubkey',
      'events.created_at',
      'events.kind',
      'events.tags',
      'events.content',
      'events.sig',
    ]);
}

type ArchivedRow = EventColumns & { ref: number; first_seen_at: number };
type EventQuery = SelectQueryBuilder<Tables, 'events' | 'event_ids' | 'authors', ArchivedRow>;

function narrow(query: EventQuery, selection: ArchiveSelection): EventQuery {
  let narrowed = query;
  if (selection.author !== undefined)
    narrowed = narrowed.where('authors.pubkey', '=', Buffer.from(selection.author, 'hex'));
  if (selection.kinds !== undefined) narrowed = narrowed.where('events.kind', 'in', [...selection.kinds]);
  if (selection.since !== undefined) narrowed = narrowed.where('events.created_at', '>=', selection.since);
  if (selection.until !== undefined) narrowed = narrowed.where('events.created_at', '<=', selection.until);
  return narrowed;
}
