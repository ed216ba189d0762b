import BetterSqlite3 from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAccount, readAccountRelays } from '../../main/accounts/account-store.ts';
import { indexedTagValue } from '../../main/archive/indexed-tags.ts';
import { DATABASE_FILE, openDatabase } from '../../main/database/database-file.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import { migrationList } from '../../migrations/migration-list.ts';
import { alice } from '../relays/event-builder.ts';
import { FETCH_INTERVAL, FIRST_BOUNDARY, GeneratedHistory, LATER_FETCHES, RELAYS } from './generated-history.ts';
import { GeneratedWalks, inOrderOf } from './generated-walks.ts';

/** Tables that are filled faster when their indexes are made afterwards. */
const FILLED_FIRST = ['events', 'evidence', 'presence', 'queries'];
const GENERATORS = ['generated-history.ts', 'generated-knowledge.ts', 'generated-walks.ts', 'large-archive.ts'];
/** What may be sent is found out by the application itself. */
const RULES = ['check-next-events.ts', 'eligibility-facts.ts', 'kind-rules.ts'];

/**
 * The data directory of an archive of alice's with `count` events, all fetched from ten relays; made once per machine and
 * schema. An archive of another schema is of no use any more and gives way.
 */
export async function largeArchive(count: number): Promise<string> {
  const parent = join(tmpdir(), 'holdfast-large-archives');
  mkdirSync(parent, { recursive: true });
  const name = `${count}-${await fingerprint()}`;
  const path = join(parent, name);
  if (existsSync(path)) return path;
  for (const other of readdirSync(parent)) {
    if (other.startsWith(`${count}-`)) rmSync(join(parent, other), { recursive: true, force: true });
  }
  const unfinished = mkdtempSync(join(parent, 'unfinished-'));
  try {
    await generateArchive(unfinished, count);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  return path;
}

/** Changes with the schema and with what is generated. */
async function fingerprint(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-schema-'));
  try {
    await (await openDatabase({ directory, nowMs: 0 })).close();
    const db = new BetterSqlite3(join(directory, DATABASE_FILE), { readonly: true });
    const schema = db.prepare('select name, sql from sqlite_schema order by name').all();
    db.close();
    const sources = [
      ...GENERATORS.map((file) => join(import.meta.dirname, file)),
      ...RULES.map((file) => join(import.meta.dirname, '..', '..', 'main', 'sync', file)),
    ].map((path) => readFileSync(path, 'utf8'));
    const everything = JSON.stringify([Object.keys(migrationList), schema, sources]);
    return createHash('sha256').update(everything).digest('hex').slice(0, 16);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Fills an empty data directory; see {@link largeArchive}. */
export async function generateArchive(directory: string, count: number): Promise<void> {
  const account = await prepare(directory);
  const db = new BetterSqlite3(join(directory, DATABASE_FILE));
  try {
    db.pragma('foreign_keys = OFF');
    // One transaction: a log would hold everything once more.
    db.pragma('journal_mode = DELETE');
    db.pragma('synchronous = OFF');
    db.pragma('cache_size = -500000');
    db.exec('begin');
    const indexes = takeIndexesOff(db);
    const history = new GeneratedHistory(count);
    const walks = new GeneratedWalks(history, db, account);
    walks.play();
    const author = writeBodies(db, history, walks);
    writePresence(db, history, walks, { author, relayIds: account.relayIds });
    for (const index of indexes) db.exec(index);
    db.exec('commit');
    db.pragma('journal_mode = WAL');
  } finally {
    db.close();
  }
  await checkWhatMayBeSent(directory);
}

async function checkWhatMayBeSent(directory: string): Promise<void> {
  const database = await openDatabase({ directory, nowMs: FIRST_BOUNDARY * 1000 });
  while ((await checkNextEvents(database.db)) !== null);
  await database.close();
}

async function prepare(directory: string): Promise<{ id: number; pubkey: string; relayIds: number[] }> {
  const database = await openDatabase({ directory, nowMs: FIRST_BOUNDARY * 1000 });
  try {
    const relays = RELAYS.map(({ url }) => ({ url, read: false, write: true, extra: false }));
    const { pubkey } = alice;
    const { id } = await addAccount(database.db, { pubkey, label: 'alice', relays, createdAt: FIRST_BOUNDARY });
    const listed = await readAccountRelays(database.db, id);
    const relayIds = RELAYS.map(({ url }) => listed.find((relay) => relay.url === url)?.relayId ?? 0);
    return { id, pubkey, relayIds };
  } finally {
    await database.close();
  }
}

/** @returns the statements that make the indexes again. */
function takeIndexesOff(db: BetterSqlite3.Database): string[] {
  const indexes = db
    .prepare<[], { name: string; table: string; sql: string }>(
      "select name, tbl_name as 'table', sql from sqlite_schema where type = 'index' and sql is not null",
    )
    .all()
    .filter(({ table }) => FILLED_FIRST.includes(table));
  for (const { name } of indexes) db.exec(`drop index ${name}`);
  return indexes.map(({ sql }) => sql);
}

/** @returns the author's number. */
function writeBodies(db: BetterSqlite3.Database, history: GeneratedHistory, walks: GeneratedWalks): number {
  const { lastInsertRowid } = db
    .prepare('insert into authors (pubkey, events, oldest, newest) values (unhex(?), ?, ?, ?)')
    .run(alice.pubkey, history.count, history.createdAt[0], history.createdAt.at(-1));
  const author = Number(lastInsertRowid);
  const idInsertion = db.prepare('insert into event_ids (ref, id) values (?, ?)');
  const bodyInsertion = db.prepare(
    `insert into events (ref, author, kind, created_at, sig, tags, content, first_seen_at, sequence)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const tagInsertion = db.prepare('insert or ignore into event_tags (name, value, event_ref) values (?, ?, ?)');
  for (const index of inOrderOf(walks.refs)) {
    const ref = walks.refs[index];
    const kind = history.kinds[index] ?? 0;
    const createdAt = history.createdAt[index] ?? 0;
    const { id, sig, tags, content } = history.bodyOf(index);
    idInsertion.run(ref, id);
    bodyInsertion.run(
      ...[ref, author, kind, createdAt, sig, JSON.stringify(tags), content],
      ...[walks.firstSeenAt[index], walks.sequences[index]],
    );
    for (const [name = '', first = ''] of tags) {
      if (name.length > 1) continue;
      const { value, isHex } = indexedTagValue(first);
      tagInsertion.run(name, isHex ? Buffer.from(value, 'hex') : value, ref);
    }
  }
  db.prepare('update archive_sequence set last = ?').run(history.count);
  db.prepare('update tag_index_state set indexed_up_to = ?').run(history.count);
  return author;
}

function writePresence(
  db: BetterSqlite3.Database,
  history: GeneratedHistory,
  walks: GeneratedWalks,
  { author, relayIds }: { author: number; relayIds: readonly number[] },
): void {
  const insertion = db.prepare(
    `insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
      values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const order = inOrderOf(walks.refs);
  for (const [place, { state, observedAtMs, query }] of walks.known.entries()) {
    const experience = RELAYS[place]?.strategy === 'negentropy' ? 'works' : 'refused';
    const until = experience === 'works' ? null : (FIRST_BOUNDARY + LATER_FETCHES * FETCH_INTERVAL + 86_400) * 1000;
    db.prepare('update relays set negentropy = ?, negentropy_until_ms = ? where id = ?').run(
      ...[experience, until, relayIds[place]],
    );
    for (const index of order) {
      if (state[index] === 0) continue;
      insertion.run(
        ...[relayIds[place], walks.refs[index], (state[index] ?? 1) - 1],
        ...[observedAtMs[index], query[index], history.kinds[index], state[index] === 1 ? author : null],
      );
    }
  }
}
