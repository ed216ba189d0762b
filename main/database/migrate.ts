import type BetterSqlite3 from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { renameSync } from 'node:fs';
import { migrationList } from '../../migrations/migration-list.ts';
import { Fault } from '../platform/fault.ts';
import type { Tables } from './tables.ts';

const FIRST_VERSION = '0001-first-version';
/** A first-version file is recognised by these, together with the absence of a migration table. */
const FIRST_VERSION_TABLES = ['accounts', 'events', 'operations', 'presence', 'coverage'];

interface MigrateOptions {
  db: Kysely<Tables>;
  connection: BetterSqlite3.Database;
  path: string;
  nowMs: number;
  log: ((line: string) => void) | undefined;
}

/**
 * Brings the schema to the newest migration. A database that has rows is copied beside itself first.
 *
 * @returns the path of the copy, or null when none was needed.
 * @throws Fault `database-newer` when a later version of Holdfast migrated it, `database-damaged` when it is some other database.
 */
export async function migrateToNewest(options: MigrateOptions): Promise<string | null> {
  const { db, connection, path } = options;
  const { applied, missing } = readAppliedMigrations(connection);
  refuseNewerDatabase(applied, path);
  if (missing.length === 0) return null;
  if (applied.length === 0 && !isEmpty(connection) && !isFirstVersion(connection)) {
    throw new Fault('database-damaged', `${path} is a database of some other program.`, { path });
  }
  const copy = hasRows(connection) ? await copyBeside(options) : null;
  if (isFirstVersion(connection)) markFirstVersion(connection, options.nowMs);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrationList) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return copy;
}

/** Which known migrations a database has and lacks, by name; read without writing. */
export function readAppliedMigrations(connection: BetterSqlite3.Database): { applied: string[]; missing: string[] } {
  const known = Object.keys(migrationList);
  const applied = hasTable(connection, 'kysely_migration')
    ? connection.prepare('select name from kysely_migration order by name').pluck().all().map(String)
    : isFirstVersion(connection)
      ? [FIRST_VERSION]
      : [];
  return { applied, missing: known.filter((name) => !applied.includes(name)) };
}

/** @throws Fault `database-newer` when a migration was applied that this version does not know. */
export function refuseNewerDatabase(applied: readonly string[], path: string): void {
  const unknown = applied.filter((name) => !(name in migrationList));
  if (unknown.length > 0) {
    throw new Fault(
      'database-newer',
      `${path} was written by a newer version of Holdfast. Use that version, or another data directory.`,
      { path, unknown },
    );
  }
}

function isFirstVersion(connection: BetterSqlite3.Database): boolean {
  return !hasTable(connection, 'kysely_migration') && FIRST_VERSION_TABLES.every((name) => hasTable(connection, name));
}

/** The bookkeeping that Kysely would have written, had it created this file. */
function markFirstVersion(connection: BetterSqlite3.Database, nowMs: number): void {
  connection.transaction(() => {
    connection.exec('create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)');
    connection
      .prepare('insert into kysely_migration (name, timestamp) values (?, ?)')
      .run(FIRST_VERSION, new Date(nowMs).toISOString());
  })();
}

/** A consistent copy next to the database; it gets its final name only when it is whole. */
async function copyBeside(options: MigrateOptions): Promise<string> {
  const stamp = new Date(options.nowMs).toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '');
  const copy = `${options.path}.before-migration-${stamp}`;
  await options.connection.backup(`${copy}.partial`);
  renameSync(`${copy}.partial`, copy);
  options.log?.(`copied the database to ${copy} before migrating it`);
  return copy;
}

function isEmpty(connection: BetterSqlite3.Database): boolean {
  return tableNames(connection).length === 0;
}

function hasRows(connection: BetterSqlite3.Database): boolean {
  return tableNames(connection)
    .filter((name) => !name.startsWith('kysely_'))
    .some((name) => connection.prepare(`select 1 from "${name.replaceAll('"', '""')}" limit 1`).get() !== undefined);
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
