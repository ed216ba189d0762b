import { dirname } from 'node:path';
import { openDatabaseForReading } from '../database/database-file.ts';
import { serveRequests } from '../platform/serve-requests.ts';
import { countArchivedWithin, type WindowsOfAccount } from './archived-within.ts';

/** Counts to make through a connection of the thread's own to the database file at `path`. */
export interface ArchivedWithinRequest {
  path: string;
  nowMs: number;
  entries: WindowsOfAccount[];
}

serveRequests(async ({ path, nowMs, entries }: ArchivedWithinRequest): Promise<number[]> => {
  const database = openDatabaseForReading({ directory: dirname(path), nowMs });
  try {
    return await countArchivedWithin(database.db, entries);
  } finally {
    await database.close();
  }
});
