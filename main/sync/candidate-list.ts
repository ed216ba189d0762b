import { sql } from 'kysely';
import type { Candidate } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import {
  isExcluded,
  isExpired,
  isOfKinds,
  isRefused,
  isUnchecked,
  isWithin,
  readAuthor,
  readVanishedUntil,
} from './candidate-conditions.ts';
import type { CopyNarrowing, DestinationRelay } from './candidate-subject.ts';
import { contentPreview, PREVIEW_COLUMN } from './content-preview.ts';

/** A page of the candidates on one relay, as it is asked of the thread that reads it. */
export interface CandidatePage extends CopyNarrowing {
  /** 64 hex characters. */
  account: string;
  relay: DestinationRelay;
  /** What the page before ended with. */
  after: PlaceInTime | null;
  limit: number;
  /** Unix seconds. */
  now: number;
}

/** Where an event stands among all, newest first. */
export interface PlaceInTime {
  /** 64 hex characters. */
  id: string;
  createdAt: number;
}

/** Up to so many missing copies are put in order of time; of more, the events are gone through from the newest on. */
const COPIES_PUT_IN_ORDER = 20_000;

interface Row {
  id: string;
  kind: number;
  created_at: number;
  content: string | Buffer;
  observed_at_ms: number;
  is_refused: number;
}

/**
 * Candidates on one relay, newest first, then by ID. Those that the relay refused for a lasting reason stand among them and
 * say so.
 */
export async function readCandidatePage(db: ReadableDatabase, page: CandidatePage): Promise<Candidate[]> {
  const { relay, now } = page;
  const author = await readAuthor(db, page.account);
  if (author === null) return [];
  const vanishedUntil = await readVanishedUntil(db, author, relay.key);
  const ref = 'presence.event_ref';
  // Contents are read of those on the page alone.
  const { rows } = await sql<Row>`select lower(hex(listed.id)) as id, listed.kind, listed.created_at,
      ${PREVIEW_COLUMN} as content, listed.observed_at_ms, ${isRefused(sql`${relay.relayId}`, 'listed.ref')} as is_refused
    from (select events.ref, event_ids.id, presence.kind, events.created_at, presence.observed_at_ms
      from ${await sourceOf(db, page, author)} cross join event_ids on event_ids.ref = presence.event_ref
      where presence.relay_id = ${relay.relayId} and presence.present = 0 and events.author = ${author}
        and ${isOfKinds('presence.kind', page.kinds)} and ${isWithin('events.created_at', page)}
        and ${vanishedUntil === null ? sql`true` : sql`events.created_at > ${vanishedUntil}`}
        and ${isAfter(page.after)}
        and not ${isExcluded(ref)} and not ${isExpired(ref, now)} and not ${isUnchecked(ref)}
      order by events.created_at desc, event_ids.id limit ${page.limit}) as listed
    cross join events on events.ref = listed.ref
    order by listed.created_at desc, listed.id`.execute(db);
  return rows.map((row) => ({
    event: row.id,
    kind: row.kind,
    createdAt: row.created_at,
    preview: contentPreview(row.content),
    observedAt: Math.floor(row.observed_at_ms / 1000),
    refused: row.is_refused === 1,
  }));
}

/**
 * Where an archived event stands, for the page that follows it.
 *
 * @throws Fault `invalid-argument` when no such event is archived.
 */
export async function readPlaceInTime(db: ReadableDatabase, id: string): Promise<PlaceInTime> {
  const event = await db
    .selectFrom('event_ids')
    .innerJoin('events', 'events.ref', 'event_ids.ref')
    .select('created_at')
    .where('id', '=', Buffer.from(id, 'hex'))
    .executeTakeFirst();
  if (event === undefined) {
    throw new Fault('invalid-argument', `No page can follow the event ${id}: it is not archived.`, { after: id });
  }
  return { id, createdAt: event.created_at };
}

/** Missing copies and their events, in the order in which there is least to go through. */
async function sourceOf(db: ReadableDatabase, { relay, kinds }: CandidatePage, author: number) {
  const { rows } = await sql<{ copies: number }>`select count(*) as copies from (
    select 1 from presence indexed by presence_absent
    where relay_id = ${relay.relayId} and present = 0 and author = ${author} and ${isOfKinds('kind', kinds)}
    limit ${COPIES_PUT_IN_ORDER + 1})`.execute(db);
  return (rows[0]?.copies ?? 0) > COPIES_PUT_IN_ORDER
    ? sql`events indexed by events_by_author_and_time cross join presence indexed by presence_absent_by_event
        on presence.event_ref = events.ref`
    : sql`presence indexed by presence_absent cross join events on events.ref = presence.event_ref
        and presence.author = ${author}`;
}

function isAfter(after: CandidatePage['after']) {
  if (after === null) return sql`true`;
  const { createdAt, id } = after;
  return sql`events.created_at <= ${createdAt}
    and (events.created_at < ${createdAt} or event_ids.id > ${Buffer.from(id, 'hex')})`;
}
