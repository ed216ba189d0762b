import BetterSqlite3 from 'better-sqlite3';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildHistory, type TestKey } from '../relays/event-builder.ts';
import { dirtyRows } from './dirty-rows.ts';
import {
  accountKey,
  checkpointOf,
  eventRow,
  LAST_USED,
  OLDEST,
  operationRow,
  presenceRow,
  relayUrl,
  type GivenRow,
  type GivenRows,
} from './first-version-rows.ts';

const SCHEMA = readFileSync(new URL('../fixtures/first-version-schema.sql', import.meta.url), 'utf8');

export interface GeneratedFields {
  /** Accounts, each with its relays, its history and its operations. Default 2. */
  accounts?: number;
  /** Signed events of each account. Default 40. */
  events?: number;
  /** Relays of each account. Default 3. */
  relays?: number;
  /** On how many of them each event was seen. Default 2. */
  sightings?: number;
  /** Unfinished fetches of each account, and windows left of each. Default 1 and 3. */
  checkpoints?: number;
  windows?: number;
  /** Also rows that cannot be right, of every kind in every table. */
  dirty?: boolean;
}

/** Rows of a first-version database, as that version would have written them. */
export function generateRows(fields: GeneratedFields = {}): GivenRows {
  const { accounts = 2, dirty = false } = fields;
  const rows: GivenRows = {};
  for (let number = 0; number < accounts; number += 1) addTo(rows, accountRows(number, fields));
  if (dirty) addTo(rows, dirtyRows());
  return rows;
}

/** A first-version database `holdfast.db` in `directory`, or the one at `path`; returns its path. */
export function writeFirstVersion(directory: string, rows: GivenRows, name = 'holdfast.db'): string {
  const path = join(directory, name);
  const connection = new BetterSqlite3(path);
  connection.exec(SCHEMA);
  // That version never looked where a reference leads.
  connection.pragma('foreign_keys = OFF');
  connection.transaction(() => insertRows(connection, rows))();
  connection.close();
  return path;
}

/** Inserts rows by their columns. */
export function insertRows(connection: BetterSqlite3.Database, rows: GivenRows): void {
  const statements = new Map<string, BetterSqlite3.Statement>();
  for (const [table, list] of Object.entries(rows)) {
    for (const row of list) {
      const names = Object.keys(row);
      const places = names.map((name) => `@${name}`);
      const text = `insert into ${table} (${names.join()}) values (${places.join()})`;
      const statement = statements.get(text) ?? connection.prepare(text);
      statements.set(text, statement);
      statement.run(row);
    }
  }
}

function addTo(rows: GivenRows, more: GivenRows): void {
  for (const [table, list] of Object.entries(more)) (rows[table] ??= []).push(...list);
}

function accountRows(number: number, fields: GeneratedFields): GivenRows {
  const { events = 40, relays = 3, sightings = 2, checkpoints = 1, windows = 3 } = fields;
  const author = accountKey(number);
  const id = number + 1;
  const history = buildHistory({ author, count: events, from: OLDEST, to: LAST_USED - 1000, kinds: [1, 7, 6] });
  const urls = Array.from({ length: relays }, (_, relay) => relayUrl(relay));
  return {
    accounts: [{ id, pubkey: author.pubkey, label: `Account ${id}`, signer_ref: null, created_at: OLDEST }],
    account_relays: urls.map((url, place) => ({
      account_id: id,
      url,
      read: 1,
      write: place < 2 ? 1 : 0,
      extra: place < 2 ? 0 : 1,
    })),
    events: history.map(eventRow),
    publication_versions: publicationRows(id, author, urls),
    operations: [
      operationRow(`finished ${number}`, id, { status: 'completed', checkpoint: null }),
      operationRow(`published ${number}`, id, { type: 'publish', status: 'completed', checkpoint: null }),
      ...Array.from({ length: checkpoints }, (_, index) =>
        operationRow(`left ${number} ${index}`, id, {
          status: index % 2 === 0 ? 'partial' : 'running',
          finished_at: index % 2 === 0 ? LAST_USED - 100 : null,
          checkpoint: JSON.stringify(checkpointOf(urls, windows)),
        }),
      ),
    ],
    presence: history.flatMap((event, index) =>
      urls
        .slice(0, sightings)
        .map((url, place) => presenceRow(event.id, url, LAST_USED - 5000 + (index % 1000) + place)),
    ),
    coverage: urls.map((url, place) => ({
      account_id: id,
      relay_url: url,
      status: (['complete', 'partial', 'failed'] as const)[place % 3],
      oldest: place % 3 === 2 ? null : OLDEST,
      newest: place % 3 === 2 ? null : LAST_USED - 1000,
      event_count: events,
      updated_at: LAST_USED - 200,
    })),
  };
}

function publicationRows(accountId: number, author: TestKey, urls: readonly string[]): GivenRow[] {
  const [list] = buildHistory({ author, count: 1, from: LAST_USED - 4000, to: LAST_USED - 4000, kinds: [10002] });
  if (list === undefined) return [];
  return [
    {
      account_id: accountId,
      kind: list.kind,
      event_id: list.id,
      event_json: JSON.stringify(list),
      published_at: LAST_USED - 4000,
      accepted_by: JSON.stringify(urls),
    },
  ];
}
