import BetterSqlite3 from 'better-sqlite3';
import { isFirstVersion, readMissingMigrations } from '../database/migrate.ts';
import { Fault } from '../platform/fault.ts';
import { FIRST_VERSION_COLUMNS, FIRST_VERSION_ORDER } from './first-version-tables.ts';

/**
 * Takes into the copy of a chosen file what lay beside it, and looks through it for damage.
 *
 * @throws Fault `invalid-argument` or `database-newer` that names the chosen file, when it is no database of the first
 * version or is damaged.
 */
export function requireFirstVersion(copy: string, path: string): void {
  let connection: BetterSqlite3.Database | null = null;
  try {
    connection = new BetterSqlite3(copy, { fileMustExist: true });
    connection.pragma('trusted_schema = OFF');
    if (isFirstVersion(connection) && hasItsColumns(connection)) {
      // Rows from a journal beside it come into the file itself, which is then all that is needed.
      connection.pragma('journal_mode = DELETE');
      if (connection.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new Error('quick_check found damage');
      return;
    }
    readMissingMigrations(connection, path);
    throw new Fault(
      'invalid-argument',
      `${path} is no database of the first version of Holdfast. An archive of this version is opened with --data.`,
      { path },
    );
  } catch (error) {
    if (error instanceof Fault && error.code !== 'database-damaged') throw error;
    const words = `${path} is not a database of the first version of Holdfast, or it is damaged.`;
    throw new Fault('invalid-argument', words, { path }, error);
  } finally {
    connection?.close();
  }
}

/** Whether every table of the first version is an ordinary one with the columns that it has there. */
function hasItsColumns(connection: BetterSqlite3.Database): boolean {
  return FIRST_VERSION_ORDER.every((table) => {
    const names = connection.prepare('select name from pragma_table_xinfo(?)').pluck().all(table).map(String);
    const isOrdinary = connection
      .prepare("select 1 from pragma_table_list(?) where schema = 'main' and type = 'table' and wr = 0")
      .get(table);
    return isOrdinary !== undefined && FIRST_VERSION_COLUMNS[table].every((column) => names.includes(column));
  });
}
