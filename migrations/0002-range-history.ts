import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Range history (runs, ranges, attempts, queries, evidence, fetch state) and the packed archive.
 *
 * Nothing of the first version is dropped or changed: its tables stay, whole, beside the new ones under a `legacy_`
 * name. They took values of any type, and references to rows that are gone; what fits the new tables is carried over,
 * and the rest is in the legacy tables only. Its claims are not turned into ranges here, because the old data holds no bounds and no completion times to
 * support them.
 */
export const rangeHistory: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of FIRST_VERSION_TABLES) {
      // References follow: rows of the first version go on referring to each other.
      await sql`alter table ${sql.table(table)} rename to ${sql.table(`legacy_${table}`)}`.execute(db);
    }
    await createAccounts(db);
    await createRelays(db);
    await createArchive(db);
    await createRangeHistory(db);
    await carryAccountsOver(db);
    await carryAccountRelaysOver(db);
    await carryPublicationVersionsOver(db);
  },
};

const FIRST_VERSION_TABLES = [
  'accounts',
  'account_relays',
  'events',
  'publication_versions',
  'operations',
  'presence',
  'coverage',
];

async function createAccounts(db: Kysely<unknown>): Promise<void> {
  // A person's accounts; `signer_ref` points to the preferred signer and is never a secret. Numbers are never given
  // twice, so that a new account does not come into what the first version kept for an account that is gone or aside.
  await sql`create table accounts (
    id integer primary key autoincrement,
    pubkey text not null unique,
    label text,
    signer_ref text,
    created_at integer not null
  ) strict`.execute(db);
  // Relay lists published from the application.
  await sql`create table publication_versions (
    id integer primary key,
    account_id integer not null references accounts(id),
    kind integer not null,
    event_id text not null,
    event_json text not null,
    published_at integer not null,
    accepted_by text not null default '[]'
  ) strict`.execute(db);
}

async function createRelays(db: Kysely<unknown>): Promise<void> {
  // A relay, once, by its canonical key. The hints beside it were observed and guide how it is asked; none of them is
  // evidence about what it holds: `observed_cap` is the largest page it carried while it held more, `accepted_limit`
  // the limit it took after refusing a larger one.
  await sql`create table relays (
    id integer primary key,
    key text not null unique,
    url text not null,
    observed_cap integer,
    accepted_limit integer
  ) strict`.execute(db);
  // The roles a relay has for an account, with the URL as it was written. Read-only relays are not fetched; an extra
  // source is fetched and never written to.
  await sql`create table account_relays (
    account_id integer not null references accounts(id),
    relay_id integer not null references relays(id),
    url text not null,
    read integer not null,
    write integer not null,
    extra integer not null,
    position integer not null,
    primary key (account_id, relay_id)
  ) strict, without rowid`.execute(db);
}

async function createArchive(db: Kysely<unknown>): Promise<void> {
  // Every event ID that was ever named to us, with or without a body, interned so that evidence stays small.
  await sql`create table event_ids (
    ref integer primary key,
    id blob not null unique check (length(id) = 32)
  ) strict`.execute(db);
  // Number and time span of the author's archived events stand here, because counting a long history on every change
  // would take too long; they change in the transaction that archives.
  await sql`create table authors (
    id integer primary key,
    pubkey blob not null unique check (length(pubkey) = 32),
    events integer not null default 0,
    oldest integer,
    newest integer
  ) strict`.execute(db);
  // A row is a body whose ID and signature were verified. Columns hold the signed event losslessly: `tags` is JSON;
  // `content` is text, or, when it cannot be UTF-8 (an unpaired surrogate), the JSON string as a blob.
  await sql`create table events (
    ref integer primary key references event_ids(ref),
    author integer not null references authors(id),
    kind integer not null,
    created_at integer not null,
    sig blob not null check (length(sig) = 64),
    tags text not null,
    content any not null,
    first_seen_at integer not null
  ) strict`.execute(db);
  await sql`create index events_by_author_and_time on events (author, created_at)`.execute(db);
  await sql`create index events_by_time on events (created_at)`.execute(db);
  // Relay lists (NIP-65) are few among many events, and all versions of an account's list are looked up at once.
  await sql`create index relay_lists on events (author) where kind = 10002`.execute(db);
  // The first value of every single-letter tag; 64 hex characters are stored as 32 bytes.
  await sql`create table event_tags (
    name text not null,
    value any not null,
    event_ref integer not null references events(ref),
    primary key (name, value, event_ref)
  ) strict, without rowid`.execute(db);
  await sql`create table settings (
    name text primary key,
    value text not null
  ) strict, without rowid`.execute(db);
}

async function createRangeHistory(db: Kysely<unknown>): Promise<void> {
  // One user command. `boundary` is T, the fixed upper bound; `page_limit`, `strategy` and `sources` are the snapshot
  // that Resume goes by. `cancel_requested_at` is how another process asks the owner to stop it.
  await sql`create table runs (
    id integer primary key,
    account_id integer not null references accounts(id),
    type text not null check (type in ('fetch', 'recheck', 'refetch', 'sync', 'legacy-resume')),
    status text not null check (status in ('active', 'complete', 'partial', 'failed', 'cancelled')),
    strategy text not null,
    page_limit integer not null,
    boundary integer not null,
    sources text not null,
    warnings text not null default '[]',
    started_at integer not null,
    finished_at integer,
    cancel_requested_at integer
  ) strict`.execute(db);
  await sql`create index runs_by_account on runs (account_id, id)`.execute(db);
  // A logical scope on one relay: filter, since (null is Beginning), until. It has no status of its own: the latest
  // attempt tells how it stands.
  await sql`create table ranges (
    id integer primary key,
    account_id integer not null references accounts(id),
    relay_id integer not null references relays(id),
    filter text not null,
    since integer,
    until integer not null
  ) strict`.execute(db);
  await sql`create index ranges_by_scope on ranges (account_id, relay_id, until)`.execute(db);
  // One try at a range. A try that goes on from the cursor of an interrupted one belongs to the same walk: `walk_id`
  // is the first attempt of the chain, `prior_id` the attempt continued or repeated. Counters are those of the walk
  // up to this attempt, except received and newly_archived, which are this attempt's own.
  // status 'complete' means that the whole scope was covered by the walk: only then it is an inventory.
  await sql`create table attempts (
    id integer primary key,
    range_id integer not null references ranges(id),
    run_id integer not null references runs(id),
    walk_id integer not null,
    prior_id integer references attempts(id),
    continued integer not null,
    strategy text not null check (strategy in ('negentropy', 'paging', 'legacy-windows')),
    status text not null check (status in ('active', 'complete', 'partial', 'failed')),
    page_limit integer not null,
    cursor integer,
    checkpoint text not null,
    reason text,
    pages integer not null default 0,
    found integer not null default 0,
    fetched integer not null default 0,
    received integer not null default 0,
    newly_archived integer not null default 0,
    invalid integer not null default 0,
    started_at integer not null,
    completed_at integer
  ) strict`.execute(db);
  await sql`create index attempts_by_range on attempts (range_id, id)`.execute(db);
  await sql`create index attempts_by_run on attempts (run_id)`.execute(db);
  await sql`create index attempts_active on attempts (status) where status = 'active'`.execute(db);
  // One REQ or NEG session: exactly what was sent, when, how it ended, in the relay's own words. Times in
  // milliseconds, because evidence is ordered by them.
  await sql`create table queries (
    id integer primary key,
    attempt_id integer not null references attempts(id),
    type text not null check (type in ('REQ', 'NEG')),
    request text not null,
    sent_at_ms integer not null,
    completed_at_ms integer not null,
    ending text not null,
    message text,
    received integer not null,
    valid integer not null,
    unique_count integer not null,
    new_count integer not null
  ) strict`.execute(db);
  await sql`create index queries_by_attempt on queries (attempt_id, id)`.execute(db);
  // Positive evidence: in this walk, this query returned the event in a matching, validly signed body. Rows are kept
  // once per walk; a repeat on the boundary second is no second find.
  await sql`create table evidence (
    walk_id integer not null references attempts(id),
    event_ref integer not null references event_ids(ref),
    query_id integer not null references queries(id),
    primary key (walk_id, event_ref)
  ) strict, without rowid`.execute(db);
  await sql`create index evidence_by_event on evidence (event_ref)`.execute(db);
  // Found events of a walk by kind.
  await sql`create table walk_kinds (
    walk_id integer not null references attempts(id),
    kind integer not null,
    found integer not null,
    primary key (walk_id, kind)
  ) strict, without rowid`.execute(db);
  // Per account and source relay: whether initial history finished, and up to which second everything was asked.
  // The two are apart: finished history does not make later fetching needless.
  await sql`create table fetch_state (
    account_id integer not null references accounts(id),
    relay_id integer not null references relays(id),
    history_complete integer not null default 0,
    forward_boundary integer,
    primary key (account_id, relay_id)
  ) strict, without rowid`.execute(db);
}

/** Numbers of rows that the program can hold exactly, with room for new ones above them. */
const HIGHEST_CARRIED_NUMBER = 0x7fff_ffff;

/** Accounts with a public key of 64 lower-case hex characters; what else a row holds is taken where it has its type. */
async function carryAccountsOver(db: Kysely<unknown>): Promise<void> {
  await sql`insert into accounts (id, pubkey, label, signer_ref, created_at)
    select id, pubkey, iif(typeof(label) = 'text', label, null), iif(typeof(signer_ref) = 'text', signer_ref, null),
      iif(typeof(created_at) = 'integer' and abs(created_at) <= 9007199254740991, created_at, 0)
    from legacy_accounts
    where id between 1 and ${HIGHEST_CARRIED_NUMBER} and typeof(pubkey) = 'text' and length(cast(pubkey as blob)) = 64
      and pubkey not glob '*[^0-9a-f]*'`.execute(db);
  const { rows } = await sql<{ highest: number | null }>`select max(id) as highest from (
      select id from legacy_accounts
      union all select account_id from legacy_account_relays union all select account_id from legacy_publication_versions
      union all select account_id from legacy_operations union all select account_id from legacy_coverage)
    where typeof(id) = 'integer' and id between 1 and ${HIGHEST_CARRIED_NUMBER}`.execute(db);
  const highest = rows[0]?.highest ?? null;
  if (highest === null) return;
  await sql`delete from sqlite_sequence where name = 'accounts'`.execute(db);
  await sql`insert into sqlite_sequence (name, seq) values ('accounts', ${highest})`.execute(db);
}

/** Relay URLs that parse get their canonical relay, where their account was carried over. */
async function carryAccountRelaysOver(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{
    account_id: number;
    url: string;
    read: number;
    write: number;
    extra: number;
  }>`select accounts.id as account_id, given.url, ${isSet('read')}, ${isSet('write')}, ${isSet('extra')}
    from legacy_account_relays as given join accounts on accounts.id = given.account_id
    where typeof(given.account_id) = 'integer' and typeof(given.url) = 'text'
    order by accounts.id, given.rowid`.execute(db);
  let position = 0;
  for (const row of rows) {
    const url = row.url.trim();
    const key = canonicalKey(url);
    if (key === null) continue;
    await sql`insert into relays (key, url) values (${key}, ${url}) on conflict do nothing`.execute(db);
    await sql`insert into account_relays (account_id, relay_id, url, read, write, extra, position)
      select ${row.account_id}, id, ${url}, ${row.read}, ${row.write}, ${row.extra}, ${position++}
      from relays where key = ${key}
      on conflict do update set read = max(read, excluded.read), write = max(write, excluded.write),
        extra = max(extra, excluded.extra)`.execute(db);
  }
}

/** A role is a number other than 0; text or bytes in its place say nothing. */
function isSet(role: string): RawBuilder<number> {
  const column = sql.ref(`given.${role}`);
  return sql<number>`iif(typeof(${column}) in ('integer', 'real') and ${column} <> 0, 1, 0) as ${sql.ref(role)}`;
}

/** Published lists of accounts that were carried over, where every value has its type. */
async function carryPublicationVersionsOver(db: Kysely<unknown>): Promise<void> {
  await sql`insert into publication_versions (id, account_id, kind, event_id, event_json, published_at, accepted_by)
    select given.id, accounts.id, given.kind, given.event_id, given.event_json, given.published_at, given.accepted_by
    from legacy_publication_versions as given join accounts on accounts.id = given.account_id
    where given.id between 1 and ${HIGHEST_CARRIED_NUMBER} and typeof(given.account_id) = 'integer'
      and typeof(given.kind) = 'integer' and given.kind between 0 and 65535
      and typeof(given.event_id) = 'text' and length(cast(given.event_id as blob)) = 64
      and given.event_id not glob '*[^0-9a-f]*'
      and typeof(given.event_json) = 'text' and json_valid(given.event_json)
      and typeof(given.published_at) = 'integer' and abs(given.published_at) <= 9007199254740991
      and typeof(given.accepted_by) = 'text' and json_valid(given.accepted_by)
      and json_type(given.accepted_by) = 'array'`.execute(db);
}

/**
 * The relay key as this migration defined it; frozen here so that the migration never changes its result. Null for
 * what is no relay URL.
 */
function canonicalKey(text: string): string | null {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  if (text.length > 2048 || /[\s\u0000-\u001f\u007f\u0085\u200b\ufeff]/u.test(text)) return null;
  const parts = /^(wss?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?$/i.exec(text);
  if (parts === null) return null;
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  if (authority === '' || /^:|[@\\]/.test(authority) || path.includes('\\')) return null;
  const origin = URL.parse(`${scheme.toLowerCase()}://${authority}`);
  if (origin === null || origin.host === '') return null;
  return `${origin.protocol}//${origin.host}${path === '/' ? '' : path}${query}`;
}
