import { dirname } from 'node:path';
import type { CopiesSummary, CoverageTimeline } from '../../preload/contract.ts';
import { openDatabaseForReading } from '../database/database-file.ts';
import { serveRequests } from '../platform/serve-requests.ts';
import { computeCopies, computeTimeline, type SummarySubject } from './coverage-summary.ts';

/** One summary to compute, through a connection of the thread's own to the database file at `path`. */
export interface SummaryRequest {
  type: 'copies' | 'timeline';
  path: string;
  subject: SummarySubject;
}

serveRequests(async ({ type, path, subject }: SummaryRequest): Promise<CopiesSummary | CoverageTimeline> => {
  const database = openDatabaseForReading({ directory: dirname(path), nowMs: subject.now * 1000 });
  try {
    return type === 'copies' ? await computeCopies(database.db, subject) : await computeTimeline(database.db, subject);
  } finally {
    await database.close();
  }
});
