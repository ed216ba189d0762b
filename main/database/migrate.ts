import type BetterSqlite3 from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { migrationList } from '../../migrations/migration-list.ts';
import { Fault } from '../platform/fault.ts';
import type { Tables } from './tables.ts';

const FIRST_VERSION = '0001-first-version';
/** The first migration that changes a database of the first version. */
const SECOND_MIGRATION = '0002-range-history';
const MIGRATION_TABLE = 'kysely_migration';
/** Stands between the database's name and what a copy was made before. */
const COPY_MARK = '.before-migration-';
const PARTIAL = '.partial';
/** A first-version file is recognised by these, together with the absence of a migration table. */
const FIRST_VERSION_TABLES = [
  'accounts',
  'account_relays',
  'events',
  'publication_versions',
  'operations',
  'presence',
  'coverage',
];

interface MigrateOptions {
  db: Kysely<Tables>;
  connection: BetterSqlite3.Database;
  path: string;
  nowMs: number;
  log: ((line: string) => void) | undefined;
}

/**
 * Brings the schema to the newest migration. A database that has rows is copied beside itself first; a migration that
 * fails leaves it as it was, and the next try replaces that copy.
 *
 * @returns the path of the copy, or null when none was needed.
 * @throws Fault as {@link readMissingMigrations}, before anything was written.
 */
export async function migrateToNewest(options: MigrateOptions): Promise<string | null> {
  const { db, connection, path } = options;
  const [next] = readMissingMigrations(connection, path);
  removePartialCopies(path);
  if (next === undefined) return null;
  const copy = hasRows(connection) ? await copyBeside(options, next) : null;
  if (isFirstVersion(connection)) markFirstVersion(connection, options.nowMs);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrationList) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error instanceof Error ? error : new Error('a migration failed', { cause: error });
  return copy;
}

/**
 * Which migrations a database lacks, by name; read without writing.
 *
 * @throws Fault `database-newer` when a later version of Holdfast migrated it, `database-damaged` when some other
 * program made it.
 */
export function readMissingMigrations(connection: BetterSqlite3.Database, path: string): string[] {
  const applied = readAppliedMigrations(connection);
  const isOurs = applied.length === 0 ? isEmpty(connection) : applied.includes(FIRST_VERSION);
  if (!isOurs) throw new Fault('database-damaged', `${path} is a database of some other program.`, { path });
  const unknown = applied.filter((name) => !(name in migrationList));
  if (unknown.length > 0) {
    throw new Fault(
      'database-newer',
      `${path} was written by a newer version of Holdfast. Use that version, or another data directory.`,
      { path, unknown },
    );
  }
  return Object.keys(migrationList).filter((name) => !applied.includes(name));
}

function readAppliedMigrations(connection: BetterSqlite3.Database): string[] {
  if (!hasTable(connection, MIGRATION_TABLE)) return isFirstVersion(connection) ? [FIRST_VERSION] : [];
  return connection.prepare(`select name from ${MIGRATION_TABLE} order by name`).pluck().all().map(String);
}

/** Whether a database is one of the first version, recognised by its tables and by having no migration table. */
export function isFirstVersion(connection: BetterSqlite3.Database): boolean {
  const tables = tableNames(connection);
  return !tables.includes(MIGRATION_TABLE) && FIRST_VERSION_TABLES.every((name) => tables.includes(name));
}

/** The bookkeeping that Kysely would have written, had it created this file. */
function markFirstVersion(connection: BetterSqlite3.Database, nowMs: number): void {
  connection.transaction(() => {
    connection.exec(
      `create table ${MIGRATION_TABLE} (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
    );
    connection
      .prepare(`insert into ${MIGRATION_TABLE} (name, timestamp) values (?, ?)`)
      .run(FIRST_VERSION, new Date(nowMs).toISOString());
  })();
}

/**
 * A consistent copy next to the database; it gets its final name only when it is whole. The name is that of the first
 * migration that follows, so that however often a migration is tried, there is one copy of the state before it.
 */
async function copyBeside(options: MigrateOptions, next: string): Promise<string> {
  const copy = `${options.path}${COPY_MARK}${next}`;
  try {
    await options.connection.backup(`${copy}${PARTIAL}`);
    renameSync(`${copy}${PARTIAL}`, copy);
  } catch (error) {
    removePartialCopies(options.path);
    throw uncopied(options.path, error);
  }
  options.log?.(`copied the database to ${copy} before migrating it`);
  return copy;
}

function uncopied(path: string, cause: unknown): Fault {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new Fault(
    'storage',
    `${path} has to be copied before it is brought to this version, and the copy could not be made: ${words}. ` +
      'Nothing was changed; make room for a second file of its size and try again.',
    { path },
    cause,
  );
}

/** What is left of copies that were cut off, with the journals beside them. Only the owner may call this. */
function removePartialCopies(path: string): void {
  const directory = dirname(path);
  const beginning = `${basename(path)}${COPY_MARK}`;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const isPartial = entry.name.startsWith(beginning) && /\.partial(-journal|-wal|-shm)?$/.test(entry.name);
    if (isPartial && entry.isFile()) rmSync(join(directory, entry.name), { force: true });
  }
}

/** Without tables; a first start that was cut off may have left the bookkeeping of migrations alone. */
function isEmpty(connection: BetterSqlite3.Database): boolean {
  return tableNames(connection).every((name) => name.startsWith('kysely_'));
}

function hasRows(connection: BetterSqlite3.Database): boolean {
  return tableNames(connection)
    .filter((name) => !name.startsWith('kysely_'))
    .some((name) => connection.prepare(`select 1 from "${name.replaceAll('"', '""')}" limit 1`).get() !== undefined);
}

/** Where the copy of a first-version database lies that was made before it was migrated, whether or not it is there. */
export function copyOfFirstVersion(path: string): string {
  return `${path}${COPY_MARK}${SECOND_MIGRATION}`;
}

function hasTable(connection: BetterSqlite3.Database, name: string): boolean {
  return tableNames(connection).includes(name);
}

function tableNames(connection: BetterSqlite3.Database): string[] {
  return connection
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'")
    .pluck()
    .all()
    .map(String);
}
