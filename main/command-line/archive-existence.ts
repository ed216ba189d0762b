import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE_FILE } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';

/** Whether the data directory holds an archive. Throws `data-directory-unusable` when that cannot be found out. */
export async function holdsArchive(dataDirectory: string): Promise<boolean> {
  try {
    const directory = await stat(dataDirectory);
    if (!directory.isDirectory()) {
      throw new Fault('data-directory-unusable', `The data directory ${dataDirectory} is not a directory.`);
    }
    await stat(join(dataDirectory, DATABASE_FILE));
    return true;
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault('data-directory-unusable', `The data directory ${dataDirectory} cannot be read: ${why}.`);
  }
}
