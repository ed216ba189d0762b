import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Sync: which archived events may be sent, what was sent where, and what reading it back showed. */
export const sync: Migration = {
  async up(db: Kysely<unknown>) {
    await createReadBackRanges(db);
    await createEligibility(db);
    await createDeliveries(db);
  },
};

async function createReadBackRanges(db: Kysely<unknown>): Promise<void> {
  // 'read-back' holds the queries of one sync run to one relay, each for certain IDs. Such a range tells nothing about any
  // span of time: it is no part of coverage, is never resumed or fetched again, and never becomes an inventory. What its
  // queries returned is positive evidence like any other.
  await sql`alter table ranges add column purpose text not null default 'history'
    check (purpose in ('history', 'read-back'))`.execute(db);
  // Of a sync: what a person narrowed it to, as JSON. The exact selection is its deliveries.
  await sql`alter table runs add column narrowing text`.execute(db);
}

/**
 * Why events are not sent. These tables follow from the archived events alone, whatever the order in which those were
 * archived, up to `checked_up_to`, a sequence number; they can be computed again at any time. What depends on the time or on
 * the relay is decided when it is asked for: an expiration that has come, a request to vanish that names the relay.
 */
async function createEligibility(db: Kysely<unknown>): Promise<void> {
  await sql`create table eligibility_state (
    only_row integer primary key check (only_row = 1),
    checked_up_to integer not null
  ) strict`.execute(db);
  await sql`insert into eligibility_state values (1, 0)`.execute(db);
  // An event that is never sent, to no relay. A kind that is no relay's business is its only reason; of the others the first
  // one counts, in the order of the list.
  await sql`create table exclusions (
    event_ref integer primary key references events(ref),
    author integer not null references authors(id),
    kind integer not null,
    reason text not null check (reason in ('ephemeral', 'never-sent', 'deleted', 'superseded', 'protected'))
  ) strict`.execute(db);
  await sql`create index exclusions_by_author on exclusions (author)`.execute(db);
  // Events with a time from which on they are not to be sent any more (NIP-40), Unix seconds.
  await sql`create table expirations (
    event_ref integer primary key references events(ref),
    author integer not null references authors(id),
    kind integer not null,
    expires_at integer not null
  ) strict`.execute(db);
  await sql`create index expirations_by_author on expirations (author, expires_at)`.execute(db);
  // Events that deletion requests name (NIP-09), archived or not, with the author of the request: another author's request
  // deletes nothing.
  await sql`create table deleted_events (
    event_ref integer not null references event_ids(ref),
    author integer not null references authors(id),
    request_ref integer not null references events(ref),
    primary key (event_ref, author, request_ref)
  ) strict, without rowid`.execute(db);
  // Addresses of the request's own author that deletion requests name: versions up to `until`, the request's time, are
  // deleted.
  await sql`create table deleted_addresses (
    request_ref integer not null references events(ref),
    author integer not null references authors(id),
    kind integer not null,
    identifier text not null,
    until integer not null,
    primary key (request_ref, kind, identifier)
  ) strict, without rowid`.execute(db);
  await sql`create index deleted_addresses_by_address on deleted_addresses (author, kind, identifier, until)`.execute(
    db,
  );
  // Every archived version of every replaceable and addressable event. The newest one is sent; of two of the same second
  // that is the one with the lower ID (NIP-01). `identifier` is empty for replaceable kinds.
  await sql`create table versions (
    event_ref integer primary key references events(ref),
    author integer not null references authors(id),
    kind integer not null,
    identifier text not null,
    created_at integer not null
  ) strict`.execute(db);
  await sql`create index versions_by_address on versions (author, kind, identifier, created_at)`.execute(db);
  // Requests to vanish (NIP-62): everything the author signed up to `until` is gone from the relay with this key; an
  // empty key stands for every relay.
  await sql`create table vanish_requests (
    author integer not null references authors(id),
    relay_key text not null,
    until integer not null,
    request_ref integer not null references events(ref),
    primary key (author, relay_key, request_ref)
  ) strict, without rowid`.execute(db);
  // From an excluded event to the relays that lack it.
  await sql`create index presence_absent_by_event on presence (event_ref, kind, observed_at_ms) where present = 0`.execute(
    db,
  );
}

async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  // One event on its way to one relay, in one run. All rows of a run are written when it begins: they are the selection.
  // `position` is the order of sending within the relay. `reason` is of a closed set, `message` the relay's words or ours.
  // `lasting`: rejected for a reason that time does not change. `looks`: conclusive read-backs since it was last sent that did
  // not return it. `answered`: an OK came for the latest sending. Times in Unix milliseconds.
  await sql`create table deliveries (
    id integer primary key,
    run_id integer not null references runs(id),
    relay_id integer not null references relays(id),
    event_ref integer not null references events(ref),
    kind integer not null,
    created_at integer not null,
    position integer not null,
    state text not null
      check (state in ('pending', 'sent', 'accepted', 'rejected', 'verified', 'unverified', 'withdrawn')),
    reason text,
    message text,
    duplicate integer not null default 0,
    lasting integer not null default 0,
    answered integer not null default 0,
    attempts integer not null default 0,
    looks integer not null default 0,
    sent_at_ms integer,
    verified_at_ms integer,
    unique (run_id, relay_id, event_ref)
  ) strict`.execute(db);
  await sql`create index deliveries_in_order on deliveries (run_id, relay_id, state, position)`.execute(db);
  await sql`create index deliveries_by_state on deliveries (run_id, state, reason)`.execute(db);
  // A copy that a relay refused for good is not offered again by itself.
  await sql`create index deliveries_refused on deliveries (relay_id, event_ref) where state = 'rejected' and lasting = 1`.execute(
    db,
  );
  // Whether a later run had to do with the same copy.
  await sql`create index deliveries_by_copy on deliveries (relay_id, event_ref)`.execute(db);
  // Everything that was done for a delivery. A sending is written before the event leaves, and completed by its outcome; a
  // read-back is written with its outcome.
  await sql`create table delivery_steps (
    id integer primary key,
    delivery_id integer not null references deliveries(id),
    type text not null check (type in ('send', 'read-back', 'withdraw')),
    at_ms integer not null,
    completed_at_ms integer,
    outcome text check (outcome in ('accepted', 'duplicate', 'rejected', 'unanswered', 'interrupted', 'found',
      'not-found', 'inconclusive', 'withdrawn')),
    message text,
    query_id integer references queries(id)
  ) strict`.execute(db);
  await sql`create index delivery_steps_by_delivery on delivery_steps (delivery_id, id)`.execute(db);
}
