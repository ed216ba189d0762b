import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What the first version left: sources to carry over, what was seen on relays without a query, rows kept aside, and
 * fetches that stopped with windows left. Only the tables are made here; rows are carried over in slices afterwards.
 */
export const legacy: Migration = {
  async up(db: Kysely<unknown>) {
    await createSources(db);
    await createHistory(db);
    await createCheckpoints(db);
    await letPresenceStandWithoutQuery(db);
  },
};

async function createSources(db: Kysely<unknown>): Promise<void> {
  // A database of the first version. `file` null: this very database, whose tables of that version are named legacy_….
  // `fingerprint`: SHA-256 of a chosen file's contents, by which it is known again wherever it lies.
  // `cursor_table` and `cursor_row` say which row was looked at last; they move in the transaction of the rows, so that
  // a carry-over that was cut off neither loses a row nor takes one twice. `copy` is the copy made before migrating, `stopped_because` what went wrong
  // when carrying over last stopped before its end. Accounts with numbers above `accounts_before` came with it.
  await sql`create table legacy_sources (
    id integer primary key,
    file text,
    fingerprint text unique,
    state text not null check (state in ('carrying', 'done')),
    total integer not null,
    done integer not null default 0,
    cursor_table text,
    cursor_row integer,
    copy text,
    stopped_because text,
    accounts_before integer not null default 0,
    started_at integer not null,
    finished_at integer
  ) strict`.execute(db);
  // What became of each table's rows. `before` is the sum of the four counts that follow it once a source is done.
  await sql`create table legacy_counts (
    source_id integer not null references legacy_sources(id),
    table_name text not null,
    before integer not null,
    carried integer not null default 0,
    merged integer not null default 0,
    aside integer not null default 0,
    information integer not null default 0,
    primary key (source_id, table_name)
  ) strict, without rowid`.execute(db);
  // Rows that cannot be right, whole, as JSON; and remarks on rows that were carried over or merged all the same. Values
  // that JSON cannot hold are written as {"blob": hex}, {"real": text} or {"integer": text}.
  await sql`create table legacy_remarks (
    id integer primary key,
    source_id integer not null references legacy_sources(id),
    table_name text not null,
    row_key text not null,
    problem text not null,
    detail text not null,
    outcome text not null check (outcome in ('aside', 'merged', 'carried')),
    row_json text not null
  ) strict`.execute(db);
  await sql`create index legacy_remarks_in_order on legacy_remarks (source_id, table_name, problem, id)`.execute(db);
  // The first version saw an event on a relay: positive evidence with its own time, and with neither a query nor bounds.
  await sql`create table legacy_sightings (
    relay_id integer not null references relays(id),
    event_ref integer not null references event_ids(ref),
    observed_at integer not null,
    source_id integer not null references legacy_sources(id),
    primary key (relay_id, event_ref, observed_at)
  ) strict, without rowid`.execute(db);
  // What the first version said of a relay as a whole. It is shown as that, and nothing follows from it.
  await sql`create table legacy_coverage_lines (
    account_id integer not null references accounts(id),
    relay_id integer not null references relays(id),
    status text not null,
    oldest integer,
    newest integer,
    event_count integer not null,
    updated_at integer,
    source_id integer not null references legacy_sources(id),
    primary key (account_id, relay_id)
  ) strict, without rowid`.execute(db);
}

async function createHistory(db: Kysely<unknown>): Promise<void> {
  // What the first version did, as it noted it. No run is made of it: it has neither a boundary nor ranges. Times are null
  // where the old data had none that can be right.
  await sql`create table legacy_operations_kept (
    source_id integer not null references legacy_sources(id),
    operation_id text not null,
    account_id integer not null references accounts(id),
    type text not null,
    status text not null,
    settings text not null,
    started_at integer,
    finished_at integer,
    error text,
    primary key (source_id, operation_id)
  ) strict, without rowid`.execute(db);
  await sql`create index legacy_operations_kept_by_id on legacy_operations_kept (operation_id)`.execute(db);
}

async function createCheckpoints(db: Kysely<unknown>): Promise<void> {
  // A fetch of the first version that stopped with windows left, to be decided about. `windows` is JSON,
  // [{relay, since, until}], as the old checkpoint had them. `stopped_at` is null where the old data had no such time.
  await sql`create table legacy_checkpoints (
    id integer primary key,
    source_id integer not null references legacy_sources(id),
    operation_id text not null,
    account_id integer not null references accounts(id),
    status text not null check (status in ('waiting', 'resumed', 'replaced', 'kept')),
    window_limit integer not null,
    completed_windows integer not null,
    events_seen integer not null,
    windows text not null,
    started_at integer,
    stopped_at integer,
    run_id integer references runs(id),
    decided_at integer,
    unique (source_id, operation_id)
  ) strict`.execute(db);
  // The checkpoint whose windows a run goes on with.
  await sql`alter table runs add column checkpoint_id integer references legacy_checkpoints(id)`.execute(db);
  // A range that is made of a checkpoint's windows. What was seen in it is positive evidence, and never an inventory.
  await sql`alter table ranges add column checkpoint_id integer references legacy_checkpoints(id)`.execute(db);
}

/** Sightings of the first version have no query; the table is a projection, so copying it row by row loses nothing. */
async function letPresenceStandWithoutQuery(db: Kysely<unknown>): Promise<void> {
  await sql`create table presence_without_query (
    relay_id integer not null references relays(id),
    event_ref integer not null references event_ids(ref),
    present integer not null,
    observed_at_ms integer not null,
    query_id integer references queries(id),
    kind integer,
    author integer references authors(id),
    primary key (relay_id, event_ref)
  ) strict, without rowid`.execute(db);
  await sql`insert into presence_without_query select relay_id, event_ref, present, observed_at_ms, query_id, kind, author
    from presence`.execute(db);
  await sql`drop table presence`.execute(db);
  await sql`alter table presence_without_query rename to presence`.execute(db);
  await sql`create index presence_absent on presence (relay_id, author, kind, observed_at_ms) where present = 0`.execute(
    db,
  );
  await sql`create index presence_by_event on presence (event_ref, present)`.execute(db);
  await sql`create index presence_absent_by_event on presence (event_ref, kind, observed_at_ms) where present = 0`.execute(
    db,
  );
}
