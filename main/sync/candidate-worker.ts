import { dirname } from 'node:path';
import type { Candidate, CandidateTree } from '../../preload/contract.ts';
import { openDatabaseForReading } from '../database/database-file.ts';
import { serveRequests } from '../platform/serve-requests.ts';
import { readCandidatePage, type CandidatePage } from './candidate-list.ts';
import type { CandidateSubject } from './candidate-subject.ts';
import { readCandidateTree } from './candidate-tree.ts';
import { countUndetermined } from './undetermined-copies.ts';

/** Something to read about candidates, through a connection of the thread's own to the database file at `path`. */
export type CandidateRequest = { path: string } & (
  { type: 'tree' | 'undetermined'; subject: CandidateSubject } | { type: 'page'; page: CandidatePage }
);

export type CandidateAnswer = CandidateTree | number[] | Candidate[];

serveRequests(async (request: CandidateRequest): Promise<CandidateAnswer> => {
  const now = request.type === 'page' ? request.page.now : request.subject.now;
  const database = openDatabaseForReading({ directory: dirname(request.path), nowMs: now * 1000 });
  try {
    // Everything in one answer is of one moment.
    return await database.db.transaction().execute((trx): Promise<CandidateAnswer> => {
      switch (request.type) {
        case 'tree':
          return readCandidateTree(trx, request.subject);
        case 'undetermined':
          return countUndetermined(trx, request.subject);
        case 'page':
          return readCandidatePage(trx, request.page);
      }
    });
  } finally {
    await database.close();
  }
});
