/**
 * The tables of the first version in the order in which they are carried over: what others refer to goes first, and
 * bodies go before what was seen of them.
 */
export const FIRST_VERSION_ORDER = [
  'accounts',
  'account_relays',
  'publication_versions',
  'events',
  'presence',
  'coverage',
  'operations',
] as const;

export type FirstVersionTable = (typeof FIRST_VERSION_ORDER)[number];

/** How many rows each table has. */
export type RowCounts = { table: FirstVersionTable; before: number }[];

/** Their columns, as `migrations/0001-first-version.ts` makes them. */
export const FIRST_VERSION_COLUMNS: Record<FirstVersionTable, readonly string[]> = {
  accounts: ['id', 'pubkey', 'label', 'signer_ref', 'created_at'],
  account_relays: ['account_id', 'url', 'read', 'write', 'extra'],
  publication_versions: ['id', 'account_id', 'kind', 'event_id', 'event_json', 'published_at', 'accepted_by'],
  events: ['id', 'pubkey', 'kind', 'created_at', 'json', 'first_seen_at'],
  presence: ['event_id', 'relay_url', 'observed_at', 'expires_at'],
  coverage: ['account_id', 'relay_url', 'status', 'oldest', 'newest', 'event_count', 'updated_at'],
  operations: ['id', 'account_id', 'type', 'status', 'settings', 'checkpoint', 'started_at', 'finished_at', 'error'],
};

/** What names a row of a table. */
export const ROW_KEYS: Record<FirstVersionTable, readonly string[]> = {
  accounts: ['id'],
  account_relays: ['account_id', 'url'],
  publication_versions: ['id'],
  events: ['id'],
  presence: ['event_id', 'relay_url'],
  coverage: ['account_id', 'relay_url'],
  operations: ['id'],
};
