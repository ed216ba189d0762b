import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Reconciliation by sets (NIP-77) and the projection: what is known, by now, about each event on each relay. */
export const presence: Migration = {
  async up(db: Kysely<unknown>) {
    // `sequence` counts bodies in the order in which they were archived. A NEG session compared the relay with exactly
    // the bodies up to its own number, so what both sides had in common need not be written down event by event.
    await sql`alter table events add column sequence integer not null default 0`.execute(db);
    await sql`update events set sequence = ref`.execute(db);
    await sql`create table archive_sequence (
      only_row integer primary key check (only_row = 1),
      last integer not null
    ) strict`.execute(db);
    await sql`insert into archive_sequence select 1, coalesce(max(sequence), 0) from events`.execute(db);

    // Which seconds a finished query covered (both inclusive; null from is Beginning): only for those seconds may
    // something be concluded from what it did not return. Null until: the query covered nothing.
    // `compared_up_to` is the sequence number up to which a NEG session compared; null for a REQ.
    await sql`alter table queries add column covered_from integer`.execute(db);
    await sql`alter table queries add column covered_until integer`.execute(db);
    await sql`alter table queries add column compared_up_to integer`.execute(db);
    await sql`alter table queries add column walk_id integer references attempts(id)`.execute(db);
    await sql`update queries set walk_id = (select walk_id from attempts where attempts.id = queries.attempt_id)`.execute(
      db,
    );
    await sql`create index queries_by_cover on queries (walk_id, covered_until) where covered_until is not null`.execute(
      db,
    );

    // present = 0: a NEG session said that the relay lacks this event, which we had. Such a row is no find.
    await sql`alter table evidence add column present integer not null default 1`.execute(db);
    // `query_id` found the event first in this walk; the query that showed it again latest stands here, when there is one,
    // because later evidence wins.
    await sql`alter table evidence add column latest_query_id integer references queries(id)`.execute(db);

    // Whether NIP-77 works on a relay, and until when (Unix milliseconds) that is believed without asking again.
    await sql`alter table relays add column negentropy text`.execute(db);
    await sql`alter table relays add column negentropy_until_ms integer`.execute(db);

    // A kind that a relay refused to show when asked for it alone. From then on nothing is concluded there from what
    // an answer without authentication leaves out of that kind. `refused = 0`: it was asked and answered.
    await sql`create table kind_probes (
      relay_id integer not null references relays(id),
      kind integer not null,
      refused integer not null,
      query_id integer not null references queries(id),
      primary key (relay_id, kind)
    ) strict, without rowid`.execute(db);

    // Projection, part 1: walks that finished their whole scope, with the seconds they cover (inclusive; null from is
    // Beginning). The query that covered a second is found among the walk's queries. An inventory within a later one
    // adds nothing and is left out. `first_observed_at_ms` is that of the walk's first query, `last_observed_at_ms` that of
    // the last one that covered anything.
    await sql`create table inventories (
      walk_id integer primary key references attempts(id),
      account_id integer not null references accounts(id),
      relay_id integer not null references relays(id),
      covered_from integer,
      covered_until integer not null,
      first_observed_at_ms integer not null,
      last_observed_at_ms integer not null
    ) strict`.execute(db);
    await sql`create index inventories_by_account on inventories (account_id, relay_id, covered_until)`.execute(db);

    // Projection, part 2: the latest applicable evidence about an event on a relay. No row: undetermined. `kind` is
    // null while no body is archived. `author` stands only where present = 0, which says something about archived events
    // alone: missing copies are counted by author and kind without a look at the events. Everything here can be computed
    // again from the evidence.
    await sql`create table presence (
      relay_id integer not null references relays(id),
      event_ref integer not null references event_ids(ref),
      present integer not null,
      observed_at_ms integer not null,
      query_id integer not null references queries(id),
      kind integer,
      author integer references authors(id),
      primary key (relay_id, event_ref)
    ) strict, without rowid`.execute(db);
    await sql`create index presence_absent on presence (relay_id, author, kind, observed_at_ms) where present = 0`.execute(
      db,
    );
    await sql`create index presence_by_event on presence (event_ref, present)`.execute(db);
  },
};
