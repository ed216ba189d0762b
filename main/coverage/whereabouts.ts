import { sql } from 'kysely';
import type { EventWhereabouts, QueryEnding, RelayPresence } from '../../preload/contract.ts';
import { readArchivedEvent } from '../archive/event-reader.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { concludesAbout } from './presence-rule.ts';

/**
 * What is known about an event on every relay that its author's account lists, and on every other relay with evidence.
 *
 * @param id 64 hex characters.
 * @returns null when nothing at all is known about the ID.
 */
export async function readWhereabouts(db: ReadableDatabase, id: string): Promise<EventWhereabouts | null> {
  const interned = await db
    .selectFrom('event_ids')
    .select('ref')
    .where('id', '=', Buffer.from(id, 'hex'))
    .executeTakeFirst();
  if (interned === undefined) return null;
  const archived = await readArchivedEvent(db, id);
  const account =
    archived === null
      ? undefined
      : await db
          .selectFrom('accounts')
          .select(['id', 'pubkey'])
          .where('pubkey', '=', archived.event.pubkey)
          .executeTakeFirst();
  const relays = await readRelays(db, interned.ref, account?.id ?? null);
  if (archived === null && relays.length === 0) return null;
  const kind = archived?.event.kind ?? null;
  return {
    id,
    event: archived?.event ?? null,
    firstSeenAt: archived?.firstSeenAt ?? null,
    account: account?.pubkey ?? null,
    relays: relays.map((row) => toPresence(row, kind)),
  };
}

interface Row {
  url: string;
  listed: number;
  read: number;
  write: number;
  extra: number;
  asked: number;
  concludes: number;
  present: number | null;
  observed_at_ms: number | null;
  query_id: number | null;
  type: 'REQ' | 'NEG' | null;
  ending: QueryEnding | null;
  request: string | null;
  range_id: number | null;
  purpose: 'history' | 'read-back' | null;
  run_id: number | null;
}

async function readRelays(db: ReadableDatabase, ref: number, accountId: number | null): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select coalesce(account_relays.url, relays.url) as url,
      account_relays.account_id is not null as listed,
      coalesce(account_relays.read, 0) as read, coalesce(account_relays.write, 0) as write,
      coalesce(account_relays.extra, 0) as extra,
      exists (select 1 from ranges where ranges.relay_id = relays.id and ranges.account_id = ${accountId}
        and ranges.purpose = 'history') as asked,
      ${concludesAbout(sql`relays.id`, sql`coalesce((select kind from events where events.ref = ${ref}), 1)`)} as concludes,
      presence.present, presence.observed_at_ms, presence.query_id,
      queries.type, queries.ending, queries.request, attempts.range_id, read.purpose, attempts.run_id
    from relays
    left join account_relays on account_relays.relay_id = relays.id and account_relays.account_id = ${accountId}
    left join presence on presence.relay_id = relays.id and presence.event_ref = ${ref}
    left join queries on queries.id = presence.query_id
    left join attempts on attempts.id = queries.attempt_id
    left join ranges as read on read.id = attempts.range_id
    where account_relays.account_id is not null or presence.event_ref is not null
    order by listed desc, account_relays.position, relays.url`.execute(db);
  return rows;
}

function toPresence(row: Row, kind: number | null): RelayPresence {
  const query =
    row.query_id === null || row.type === null || row.ending === null || row.range_id === null || row.run_id === null
      ? null
      : {
          id: row.query_id,
          type: row.type,
          ending: row.ending,
          request: JSON.parse(row.request ?? '{}') as Record<string, unknown>,
          range: row.range_id,
          purpose: row.purpose ?? 'history',
          run: row.run_id,
        };
  const state = row.present === null ? 'undetermined' : row.present === 1 ? 'present' : 'absent';
  return {
    url: row.url,
    role: roleOf(row),
    state,
    observedAt: row.observed_at_ms === null ? null : Math.floor(row.observed_at_ms / 1000),
    query,
    ground: groundOf(row, state, kind),
  };
}

function roleOf(row: Row): RelayPresence['role'] {
  if (row.write === 1) return row.extra === 1 ? 'write+extra' : 'write';
  if (row.extra === 1) return 'extra';
  if (row.read === 1) return 'read';
  return row.asked === 1 ? 'former' : 'other';
}

function groundOf(row: Row, state: RelayPresence['state'], kind: number | null): string {
  if (state === 'present') {
    // Evidence without a query is a sighting of the first version, which kept the time alone.
    if (row.query_id === null) return 'The first version saw it there. It did not record by which query.';
    if (row.purpose === 'read-back') return 'The relay returned it, validly signed, when a sync read it back.';
    return row.type === 'NEG'
      ? 'The relay had it when its events were compared with the archive (NIP-77).'
      : 'The relay returned it, validly signed.';
  }
  if (state === 'absent') {
    return row.type === 'NEG'
      ? 'The relay did not have it when its events were compared with the archive (NIP-77).'
      : "A finished walk through the relay's history covered its time and did not return it.";
  }
  if (kind === null) return 'Its body is not archived here, so nothing can be said about this relay.';
  if (row.concludes === 0) {
    return `Relays may hide events of kind ${kind} from readers who have not authenticated, so their absence proves nothing.`;
  }
  if (row.write === 0 && row.extra === 0 && row.asked === 0) return 'This relay is not asked for authored events.';
  return 'No finished query covers its time on this relay.';
}
