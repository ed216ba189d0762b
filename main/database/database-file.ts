import BetterSqlite3 from 'better-sqlite3';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, type LogEvent } from 'kysely';
import { createDirectory } from '../platform/create-directory.ts';
import { Fault } from '../platform/fault.ts';
import { BackgroundCheckpoint } from './background-checkpoint.ts';
import { lockDataDirectory, unusable, type DataDirectoryLock } from './data-directory-lock.ts';
import { FilePresence } from './file-presence.ts';
import { HoldfastDialect } from './kysely-dialect.ts';
import { migrateToNewest, readMissingMigrations } from './migrate.ts';
import { StatementCache } from './statement-cache.ts';
import { storageFaultOr } from './storage-fault.ts';
import type { Tables } from './tables.ts';

/** A handle that may write. Only the owner of the data directory has one. */
export type WritableDatabase = Kysely<Tables>;

/** A handle that only answers: the type leaves out everything that changes rows. */
export type ReadableDatabase = Pick<Kysely<Tables>, 'selectFrom' | 'selectNoFrom' | 'with' | 'fn' | 'getExecutor'>;

export interface OpenDatabase {
  db: WritableDatabase;
  path: string;
  /** The copy made before a database with rows was migrated, when one was made now. */
  copyBeforeMigration: string | null;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  directory: string;
  /** Unix milliseconds, for what is noted about migrations. */
  nowMs: number;
  log?: (line: string) => void;
}

export const DATABASE_FILE = 'holdfast.db';
const SLOW_QUERY_MS = 100;
const NOTHING_TO_DO = { beforeCommit: () => undefined, onCommit: () => undefined };

/**
 * Opens the archive as its owner: creates the directory and the file when missing, takes the lock, brings the schema
 * to the newest migration (after copying a database that has rows).
 *
 * @throws Fault `data-directory-unusable`, `data-directory-in-use`, `database-newer`, `database-damaged`; nothing was changed then.
 */
export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  const { directory } = options;
  try {
    createDirectory(directory);
  } catch (error) {
    throw unusable(directory, error);
  }
  const lock = lockDataDirectory(directory);
  const path = join(directory, DATABASE_FILE);
  try {
    const connection = connect(path, directory, false);
    return await prepare(connection, path, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function prepare(
  connection: BetterSqlite3.Database,
  path: string,
  lock: DataDirectoryLock,
  options: DatabaseOptions,
): Promise<OpenDatabase> {
  const checkpoint = new BackgroundCheckpoint(path);
  const presence = new FilePresence(path);
  const db = kyselyOver(connection, options.log, {
    beforeCommit: () => presence.require(),
    onCommit: () => checkpoint.committed(),
  });
  try {
    const copyBeforeMigration = await migrateToNewest({ db, connection, path, nowMs: options.nowMs, log: options.log });
    // Written into the file, so only now that it is known to be ours.
    connection.pragma('journal_mode = WAL');
    // With WAL, NORMAL survives a crash of the process at any point and keeps transactions whole on power loss.
    connection.pragma('synchronous = NORMAL');
    return {
      db,
      path,
      copyBeforeMigration,
      async close() {
        // The last connection to close writes the whole log back; that has to be this one.
        await checkpoint.close();
        await db.destroy();
        if (connection.open) connection.close();
        lock.release();
      },
    };
  } catch (error) {
    await checkpoint.close();
    if (connection.open) connection.close();
    throw openingFault(error, path);
  }
}

/**
 * Opens the archive beside its owner, read only.
 *
 * @throws Fault `not-found` when there is no archive yet, `database-newer`, `database-damaged`, and `data-directory-in-use` while
 * the owner still migrates it.
 */
export function openDatabaseForReading(options: DatabaseOptions): OpenDatabase {
  return openBesideOwner(options, true);
}

/**
 * Opens the archive beside its owner for one small write, such as leaving word that a run should be cancelled. SQLite
 * keeps the two apart; the schema is never touched.
 *
 * @throws Fault as {@link openDatabaseForReading}.
 */
export function openDatabaseToLeaveWord(options: DatabaseOptions): OpenDatabase {
  return openBesideOwner(options, false);
}

function openBesideOwner(options: DatabaseOptions, readonly: boolean): OpenDatabase {
  const path = join(options.directory, DATABASE_FILE);
  if (!existsSync(path)) {
    throw new Fault('not-found', `There is no archive in ${options.directory} yet.`, { directory: options.directory });
  }
  const connection = connect(path, options.directory, readonly);
  try {
    if (readMissingMigrations(connection, path).length > 0) throw beingMigrated(null);
  } catch (error) {
    connection.close();
    throw openingFault(error, path);
  }
  const db = kyselyOver(connection, options.log);
  return {
    db,
    path,
    copyBeforeMigration: null,
    async close() {
      await db.destroy();
      if (connection.open) connection.close();
    },
  };
}

/** A connection with the settings that leave the file as it is. */
function connect(path: string, directory: string, readonly: boolean): BetterSqlite3.Database {
  let connection: BetterSqlite3.Database;
  try {
    connection = new BetterSqlite3(path, { timeout: 5000, readonly });
  } catch (error) {
    throw unusable(directory, error);
  }
  try {
    connection.pragma('foreign_keys = ON');
    connection.pragma('cache_size = -65536');
    connection.pragma('temp_store = MEMORY');
    return connection;
  } catch (error) {
    connection.close();
    throw openingFault(error, path);
  }
}

function kyselyOver(
  connection: BetterSqlite3.Database,
  log: ((line: string) => void) | undefined,
  { beforeCommit, onCommit }: { beforeCommit: () => void; onCommit: () => void } = NOTHING_TO_DO,
): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: new HoldfastDialect(new StatementCache(connection, beforeCommit), onCommit),
    ...(log === undefined ? {} : { log: (event: LogEvent) => reportSlowQuery(event, log) }),
  });
}

function reportSlowQuery(event: LogEvent, log: (line: string) => void): void {
  if (event.level === 'query' && event.queryDurationMillis > SLOW_QUERY_MS) {
    log(`slow query, ${Math.round(event.queryDurationMillis)} ms: ${event.query.sql.slice(0, 200)}`);
  }
}

/** What keeps a database from being opened, as a Fault. */
function openingFault(error: unknown, path: string): unknown {
  if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) return beingMigrated(error);
  const fault = storageFaultOr(error, path);
  if (fault instanceof Fault || !(fault instanceof BetterSqlite3.SqliteError)) return fault;
  return new Fault('storage', `The database ${path} could not be opened: ${fault.message}`, { path }, fault);
}

function beingMigrated(cause: unknown): Fault {
  return new Fault(
    'data-directory-in-use',
    'The archive is being brought to a newer version by another Holdfast. Try again when it is done.',
    null,
    cause,
  );
}
