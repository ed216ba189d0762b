import { serveRequests } from '../platform/serve-requests.ts';
import { requireFirstVersion } from './first-version-check.ts';
import { FirstVersionReader } from './first-version-reader.ts';
import { FIRST_VERSION_ORDER, type RowCounts } from './first-version-tables.ts';

/**
 * Counts the rows of a first version: of this archive's own, or of the copy of a chosen file, which is looked through for
 * damage before. `path` names the chosen file in what is said about it.
 */
export type FirstVersionRequest = { type: 'own'; archive: string } | { type: 'chosen'; copy: string; path: string };

// Reading a million rows takes seconds, so it is done here.
serveRequests((request: FirstVersionRequest): RowCounts => {
  if (request.type === 'chosen') requireFirstVersion(request.copy, request.path);
  const reader =
    request.type === 'own' ? FirstVersionReader.ofArchive(request.archive) : FirstVersionReader.ofCopy(request.copy);
  try {
    return FIRST_VERSION_ORDER.map((table) => ({ table, before: reader.count(table) }));
  } finally {
    reader.close();
  }
});
