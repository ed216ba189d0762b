import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The first version's database: before range history, NIP-77, incremental fetch and Sync. A file of that version has
 * exactly these tables and no migration table, so it counts as a database at this migration.
 */
export const firstVersion: Migration = {
  async up(db: Kysely<unknown>) {
    // A person's accounts; `signer_ref` points to the preferred signer and is never a secret.
    await sql`create table accounts (
      id integer primary key,
      pubkey text not null unique,
      label text,
      signer_ref text,
      created_at integer not null
    )`.execute(db);
    // The local read/write list and extra sources, by URL as typed.
    await sql`create table account_relays (
      account_id integer not null references accounts(id),
      url text not null,
      read integer not null default 0,
      write integer not null default 0,
      extra integer not null default 0,
      primary key (account_id, url)
    )`.execute(db);
    // Signed events as JSON text.
    await sql`create table events (
      id text primary key,
      pubkey text not null,
      kind integer not null,
      created_at integer not null,
      json text not null,
      first_seen_at integer not null
    )`.execute(db);
    // Relay lists published from the application.
    await sql`create table publication_versions (
      id integer primary key,
      account_id integer not null references accounts(id),
      kind integer not null,
      event_id text not null,
      event_json text not null,
      published_at integer not null,
      accepted_by text not null default '[]'
    )`.execute(db);
    // Fetches and publications; `checkpoint` holds the pending windows of an unfinished fetch.
    await sql`create table operations (
      id text primary key,
      account_id integer not null references accounts(id),
      type text not null,
      status text not null,
      settings text not null default '{}',
      checkpoint text,
      started_at integer not null,
      finished_at integer,
      error text
    )`.execute(db);
    // An event was seen on a relay; the first version trusted that for one hour.
    await sql`create table presence (
      event_id text not null,
      relay_url text not null,
      observed_at integer not null,
      expires_at integer not null,
      primary key (event_id, relay_url)
    )`.execute(db);
    // One global line for each account and relay.
    await sql`create table coverage (
      account_id integer not null references accounts(id),
      relay_url text not null,
      status text not null,
      oldest integer,
      newest integer,
      event_count integer not null default 0,
      updated_at integer not null,
      primary key (account_id, relay_url)
    )`.execute(db);
  },
};
