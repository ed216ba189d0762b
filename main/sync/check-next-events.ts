import { sql, type RawBuilder, type Transaction } from 'kysely';
import { internEventIds } from '../archive/event-store.ts';
import { RowInsertion } from '../archive/row-insertion.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { eligibilityFacts, type EligibilityFacts } from './eligibility-facts.ts';
import { UNDELETABLE_KINDS } from './kind-rules.ts';

/** Events checked in one transaction; a few milliseconds. */
const EVENTS_PER_TRANSACTION = 128;
/** Characters of tags checked in one transaction, unless a single event has more. */
const TAGS_PER_TRANSACTION = 200_000;

const ownExclusions = new RowInsertion(
  'exclusions',
  ['event_ref', 'author', 'kind', 'reason'],
  // A deletion request that was checked before may have come first.
  "on conflict do update set reason = excluded.reason where excluded.reason <> 'protected'",
);
const expirations = new RowInsertion('expirations', ['event_ref', 'author', 'kind', 'expires_at']);
const versions = new RowInsertion('versions', ['event_ref', 'author', 'kind', 'identifier', 'created_at']);
const deletedEvents = new RowInsertion(
  'deleted_events',
  ['event_ref', 'author', 'request_ref'],
  'on conflict do nothing',
);
const deletedAddresses = new RowInsertion(
  'deleted_addresses',
  ['request_ref', 'author', 'kind', 'identifier', 'until'],
  'on conflict do nothing',
);
const vanishRequests = new RowInsertion('vanish_requests', ['author', 'relay_key', 'until', 'request_ref']);

interface CheckedEvent {
  ref: number;
  author: number;
  kind: number;
  createdAt: number;
  facts: EligibilityFacts;
}

/**
 * Checks the next archived events in the order of archiving, and notes how far that went, in one transaction. What an event
 * says about others is applied to those that are here, and kept for those that come later, so that the order does not
 * matter.
 *
 * @param count how many events at most.
 * @returns the sequence number up to which events are checked now, or null when there was nothing left to check.
 */
export async function checkNextEvents(db: WritableDatabase, count = EVENTS_PER_TRANSACTION): Promise<number | null> {
  return db.transaction().execute(async (trx) => {
    const { events, last } = await readNextEvents(trx, count);
    if (last === null) return null;
    await writeFacts(trx, events);
    const targets = await writeDeletedEvents(trx, events);
    await excludeDeleted(trx, events, targets);
    await excludeSuperseded(trx, events);
    await trx.updateTable('eligibility_state').set({ checked_up_to: last }).execute();
    return last;
  });
}

async function readNextEvents(
  trx: Transaction<Tables>,
  count: number,
): Promise<{ events: CheckedEvent[]; last: number | null }> {
  const rows = await trx
    .selectFrom('events')
    .innerJoin('authors', 'authors.id', 'events.author')
    .select(['ref', 'author', 'authors.pubkey', 'kind', 'created_at', 'tags', 'sequence'])
    .where('sequence', '>', (eb) => eb.selectFrom('eligibility_state').select('checked_up_to'))
    .orderBy('sequence')
    .limit(count)
    .execute();
  const events: CheckedEvent[] = [];
  let last: number | null = null;
  let length = 0;
  for (const { ref, author, pubkey, kind, created_at: createdAt, tags, sequence } of rows) {
    length += tags.length;
    if (last !== null && length > TAGS_PER_TRANSACTION) break;
    // Our own column: written by JSON.stringify from string[][] and by nothing else.
    const parsed = JSON.parse(tags) as string[][];
    const facts = eligibilityFacts({ pubkey: pubkey.toString('hex'), kind, tags: parsed });
    events.push({ ref, author, kind, createdAt, facts });
    last = sequence;
  }
  return { events, last };
}

async function writeFacts(trx: Transaction<Tables>, events: readonly CheckedEvent[]): Promise<void> {
  const rowsOf = (rows: (event: CheckedEvent) => unknown[][]): unknown[][] => events.flatMap(rows);
  await ownExclusions.insert(
    trx,
    rowsOf(({ ref, author, kind, facts }) => (facts.exclusion === null ? [] : [[ref, author, kind, facts.exclusion]])),
  );
  await expirations.insert(
    trx,
    rowsOf(({ ref, author, kind, facts }) => (facts.expiresAt === null ? [] : [[ref, author, kind, facts.expiresAt]])),
  );
  await versions.insert(
    trx,
    rowsOf(({ ref, author, createdAt, facts: { address } }) =>
      address === null ? [] : [[ref, author, address.kind, address.identifier, createdAt]],
    ),
  );
  await deletedAddresses.insert(
    trx,
    rowsOf(({ ref, author, createdAt, facts }) =>
      facts.deletedAddresses.map(({ kind, identifier }) => [ref, author, kind, identifier, createdAt]),
    ),
  );
  await vanishRequests.insert(
    trx,
    rowsOf(({ ref, author, createdAt, facts }) => facts.vanishesFrom.map((key) => [author, key, createdAt, ref])),
  );
}

/** @returns the numbers of the events that the deletion requests among these name. */
async function writeDeletedEvents(trx: Transaction<Tables>, events: readonly CheckedEvent[]): Promise<number[]> {
  const ids = new Set(events.flatMap(({ facts }) => facts.deletedIds));
  const refs = await internEventIds(trx, [...ids]);
  const rows = events.flatMap(({ ref, author, facts }) =>
    facts.deletedIds.map((id) => [refs.get(id), author, ref] as const),
  );
  await deletedEvents.insert(trx, rows);
  return [...refs.values()];
}

async function excludeDeleted(
  trx: Transaction<Tables>,
  events: readonly CheckedEvent[],
  targets: readonly number[],
): Promise<void> {
  const refs = events.map(({ ref }) => ref);
  const exclude = (from: RawBuilder<unknown>) => sql`insert into exclusions (event_ref, author, kind, reason)
    ${from} on conflict do update set reason = excluded.reason
      where exclusions.reason in ('superseded', 'protected')`;
  await exclude(sql`select events.ref, events.author, events.kind, 'deleted'
    from json_each(${JSON.stringify([...refs, ...targets])}) as named
    cross join deleted_events on deleted_events.event_ref = named.value
    cross join events on events.ref = deleted_events.event_ref and events.author = deleted_events.author
    where events.kind not in (${sql.join(UNDELETABLE_KINDS)})`).execute(trx);
  const [here, there] = [sql.ref('versions'), sql.ref('deleted_addresses')];
  const sameAddress = sql`${there}.author = ${here}.author and ${there}.kind = ${here}.kind
    and ${there}.identifier = ${here}.identifier and ${there}.until >= ${here}.created_at`;
  const row = sql`select versions.event_ref, versions.author, versions.kind, 'deleted'`;
  if (events.some(({ facts }) => facts.address !== null)) {
    await exclude(sql`${row} from json_each(${JSON.stringify(refs)}) as checked
      cross join versions on versions.event_ref = checked.value
      where exists (select 1 from deleted_addresses where ${sameAddress})`).execute(trx);
  }
  if (events.some(({ facts }) => facts.deletedAddresses.length > 0)) {
    await exclude(sql`${row} from json_each(${JSON.stringify(refs)}) as checked
      cross join deleted_addresses on deleted_addresses.request_ref = checked.value
      cross join versions indexed by versions_by_address on ${sameAddress} where true`).execute(trx);
  }
}

/**
 * Of all versions only the newest is sent. Before these events came, all versions but the newest were excluded; so what is
 * to be excluded now is each of these that is not the newest, and the version right before each of these.
 */
async function excludeSuperseded(trx: Transaction<Tables>, events: readonly CheckedEvent[]): Promise<void> {
  const refs = events.filter(({ facts }) => facts.address !== null).map(({ ref }) => ref);
  if (refs.length === 0) return;
  const address = (other: string) => sql`${sql.ref(other)}.author = own.author and ${sql.ref(other)}.kind = own.kind
    and ${sql.ref(other)}.identifier = own.identifier`;
  const idOf = (version: string) => sql`(select id from event_ids where ref = ${sql.ref(`${version}.event_ref`)})`;
  const own = sql`json_each(${JSON.stringify(refs)}) as checked
    cross join versions as own on own.event_ref = checked.value`;
  const exclude = (from: RawBuilder<unknown>) => sql`insert into exclusions (event_ref, author, kind, reason)
    ${from} on conflict do update set reason = excluded.reason where exclusions.reason = 'protected'`;
  await exclude(sql`select own.event_ref, own.author, own.kind, 'superseded' from ${own}
    where exists (select 1 from versions as other where ${address('other')} and other.created_at > own.created_at)
      or exists (select 1 from versions as other where ${address('other')} and other.created_at = own.created_at
        and ${idOf('other')} < ${idOf('own')})`).execute(trx);
  await exclude(sql`select older.event_ref, older.author, older.kind, 'superseded' from ${own}
    cross join versions as older indexed by versions_by_address on ${address('older')}
      and older.created_at = (select max(other.created_at) from versions as other
        where ${address('other')} and other.created_at < own.created_at)
    where true`).execute(trx);
  await exclude(sql`select twin.event_ref, twin.author, twin.kind, 'superseded' from ${own}
    cross join versions as twin indexed by versions_by_address on ${address('twin')}
      and twin.created_at = own.created_at
    where ${idOf('twin')} > ${idOf('own')}`).execute(trx);
}
