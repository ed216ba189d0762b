import BetterSqlite3 from 'better-sqlite3';
import { join } from 'node:path';
import { Fault } from '../platform/fault.ts';

/** A command that only looks something up holds the directory for a moment; that is no reason to refuse. */
const PATIENCE_MS = 1000;

/** Held while this process owns a data directory. */
export interface DataDirectoryLock {
  release(): void;
}

/**
 * Takes the data directory for this process. The lock is SQLite's own lock on a small file, so the operating system
 * lets go of it when the process dies, however it dies: a crash never leaves a directory locked.
 *
 * @param patienceMs how long to wait for a process that may only be looking something up
 * @throws Fault `data-directory-in-use` when another process owns it, `data-directory-unusable` when it cannot be written.
 */
export function lockDataDirectory(directory: string, patienceMs: number = PATIENCE_MS): DataDirectoryLock {
  const path = join(directory, 'holdfast.lock');
  let database: BetterSqlite3.Database | null = null;
  try {
    database = new BetterSqlite3(path, { timeout: patienceMs });
    database.pragma('journal_mode = DELETE');
    database.exec('begin exclusive');
    const held = database;
    return { release: () => held.close() };
  } catch (error) {
    database?.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new Fault(
        'data-directory-in-use',
        `Another Holdfast is using the data directory ${directory}. Close it first, or choose another with --data.`,
        { directory },
        error,
      );
    }
    throw unusable(directory, error);
  }
}

/** The one message for a directory that cannot be created, read or written. */
export function unusable(directory: string, cause: unknown): Fault {
  const words = cause instanceof Error ? cause.message : String(cause);
  return new Fault(
    'data-directory-unusable',
    `The data directory ${directory} cannot be used: ${words}`,
    { directory },
    cause,
  );
}
