import BetterSqlite3 from 'better-sqlite3';
import { dirname } from 'node:path';
import { Fault } from '../platform/fault.ts';

/**
 * What SQLite throws when the disk or the file fails it, as a Fault that says what was kept and what to do: `storage`
 * for a disk that is full, broken, gone or not to be written, `database-damaged` for a file whose pages make no sense.
 * Anything else, such as a broken constraint, is a matter of whoever asked and is returned as it is.
 *
 * @param path the database file.
 */
export function storageFaultOr(error: unknown, path: string): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const directory = dirname(path);
  const { code, message } = error;
  if (code === 'SQLITE_FULL') {
    return new Fault(
      'storage',
      `The disk that holds ${directory} is full. Everything archived until now is kept; make room and try again.`,
      { path },
      error,
    );
  }
  if (/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)/.test(code)) {
    return new Fault(
      'storage',
      `The disk that holds ${directory} cannot be read or written (${message}). What was archived before is kept as ` +
        'far as the disk allows; check it and try again.',
      { path },
      error,
    );
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new Fault(
      'storage',
      `The database ${path} was held by another process for too long. Nothing was changed; try again.`,
      { path },
      error,
    );
  }
  return isDamage(code) ? damaged(path, message, error) : error;
}

/** Whether a result code of SQLite says that the file itself is broken. */
function isDamage(code: string): boolean {
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT');
}

function damaged(path: string, words: string, cause: unknown): Fault {
  return new Fault(
    'database-damaged',
    `${path} is not a readable Holdfast database: ${words}. Put a copy of it in its place, or use another data directory.`,
    { path },
    cause,
  );
}
