import type { CopiesSummary, CoverageTree, RunSummary } from '../../preload/contract.ts';
import { isSource, readAccount, readAccountRelays } from '../accounts/account-store.ts';
import { summarizeArchive } from '../archive/event-reader.ts';
import { readAttempts, readQueries } from '../coverage/attempt-list.ts';
import type { SummarySubject } from '../coverage/coverage-summary.ts';
import { readCoverageTree } from '../coverage/coverage-tree.ts';
import { listRuns } from '../coverage/run-list.ts';
import { readWhereabouts } from '../coverage/whereabouts.ts';
import type { ServiceTable, TopicTable } from '../ipc/service-table.ts';
import { nowSeconds } from '../platform/clock.ts';
import type { EngineParts } from './engine-parts.ts';
import { readEventReference } from './event-reference.ts';

const QUERIES_PER_ANSWER = 200;
const RUNS_SHOWN = 200;

/** The contract's methods on what was established. */
export function coverageMethods(
  parts: EngineParts,
): Pick<
  ServiceTable,
  'coverage.tree' | 'coverage.attempts' | 'coverage.queries' | 'coverage.copies' | 'coverage.timeline' | 'events.find'
> {
  const { reading, summaries } = parts;
  return {
    'events.find': ({ id }) => readWhereabouts(reading, readEventReference(id)),
    'coverage.copies': ({ account }) => readCopies(parts, account),
    'coverage.timeline': async ({ account }) => summaries.timeline(await summarySubject(parts, account)),
    'coverage.tree': ({ account }) => tree(parts, account),
    'coverage.attempts': ({ range }) => readAttempts(reading, range),
    'coverage.queries': ({ attempt, offset, limit }) =>
      readQueries(reading, attempt, { offset: offset ?? 0, limit: limit ?? QUERIES_PER_ANSWER }),
  };
}

export function coverageTopic(parts: EngineParts): Pick<TopicTable, 'coverage' | 'copies' | 'timeline' | 'runs'> {
  const { reading, changes, summaries } = parts;
  const runs = async (account: string | undefined): Promise<RunSummary[]> =>
    listRuns(reading, {
      limit: RUNS_SHOWN,
      ...(account === undefined ? {} : { accountId: (await readAccount(reading, account)).id }),
    });
  return {
    coverage: {
      snapshot: ({ account }) => tree(parts, account),
      onDidChange: (listener) => changes.on('coverage', listener),
    },
    copies: {
      snapshot: ({ account }) => readCopies(parts, account),
      onDidChange: (listener) => changes.on('coverage', listener),
    },
    timeline: {
      snapshot: async ({ account }) => summaries.timeline(await summarySubject(parts, account)),
      onDidChange: (listener) => changes.on('coverage', listener),
    },
    runs: { snapshot: ({ account }) => runs(account), onDidChange: (listener) => changes.on('runs', listener) },
  };
}

async function tree({ reading }: EngineParts, pubkey: string): Promise<CoverageTree> {
  const account = await readAccount(reading, pubkey);
  return readCoverageTree(reading, {
    id: account.id,
    pubkey,
    archive: await summarizeArchive(reading, pubkey),
    relays: await readAccountRelays(reading, account.id),
  });
}

/** Which events relays are not meant to keep is known once what may be sent was checked. */
async function readCopies(parts: EngineParts, account: string): Promise<CopiesSummary> {
  const subject = await summarySubject(parts, account);
  await parts.eligibility?.caughtUp();
  return parts.summaries.copies(subject);
}

async function summarySubject({ reading, clock }: EngineParts, pubkey: string): Promise<SummarySubject> {
  const account = await readAccount(reading, pubkey);
  const relays = (await readAccountRelays(reading, account.id)).filter(isSource);
  return { account: pubkey, relays: relays.map(({ relayId, url }) => ({ relayId, url })), now: nowSeconds(clock) };
}
