import type { CoverageTree, RunSummary } from '../../preload/contract.ts';
import { readAccount, readAccountRelays } from '../accounts/account-store.ts';
import { summarizeArchive } from '../archive/event-reader.ts';
import { readAttempts, readQueries } from '../coverage/attempt-list.ts';
import { readCoverageTree } from '../coverage/coverage-tree.ts';
import { listRuns } from '../coverage/run-list.ts';
import type { ServiceTable, TopicTable } from '../ipc/service-table.ts';
import type { EngineParts } from './engine-parts.ts';

const QUERIES_PER_ANSWER = 200;
const RUNS_SHOWN = 200;

/** The contract's methods on what was established. */
export function coverageMethods(
  parts: EngineParts,
): Pick<ServiceTable, 'coverage.tree' | 'coverage.attempts' | 'coverage.queries'> {
  const { db } = parts;
  return {
    'coverage.tree': ({ account }) => tree(parts, account),
    'coverage.attempts': ({ range }) => readAttempts(db, range),
    'coverage.queries': ({ attempt, offset, limit }) =>
      readQueries(db, attempt, { offset: offset ?? 0, limit: limit ?? QUERIES_PER_ANSWER }),
  };
}

export function coverageTopic(parts: EngineParts): Pick<TopicTable, 'coverage' | 'runs'> {
  const { db, changes } = parts;
  const runs = async (account: string | undefined): Promise<RunSummary[]> =>
    listRuns(db, {
      limit: RUNS_SHOWN,
      ...(account === undefined ? {} : { accountId: (await readAccount(db, account)).id }),
    });
  return {
    coverage: {
      snapshot: ({ account }) => tree(parts, account),
      onDidChange: (listener) => changes.on('coverage', listener),
    },
    runs: { snapshot: ({ account }) => runs(account), onDidChange: (listener) => changes.on('runs', listener) },
  };
}

async function tree({ db }: EngineParts, pubkey: string): Promise<CoverageTree> {
  const account = await readAccount(db, pubkey);
  return readCoverageTree(db, {
    id: account.id,
    pubkey,
    archive: await summarizeArchive(db, pubkey),
    relays: await readAccountRelays(db, account.id),
  });
}
