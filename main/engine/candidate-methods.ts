import type { Candidate, Methods, Narrowing } from '../../preload/contract.ts';
import { readAccount } from '../accounts/account-store.ts';
import type { ServiceTable, TopicTable } from '../ipc/service-table.ts';
import { nowSeconds } from '../platform/clock.ts';
import { readPlaceInTime } from '../sync/candidate-list.ts';
import type { CandidateSubject } from '../sync/candidate-subject.ts';
import { checkNarrowing } from '../sync/narrowing.ts';
import { chooseWriteRelays } from '../sync/write-relays.ts';
import type { Change } from './change-bus.ts';
import type { EngineParts } from './engine-parts.ts';

const CANDIDATES_PER_PAGE = 200;
/** What candidates rest on: evidence and what is archived, the account's write relays, what relays refused. */
const RESTED_ON: readonly Change[] = ['coverage', 'accounts', 'runs'];

/** The contract's methods on what Sync would offer. */
export function candidateMethods(parts: EngineParts): Pick<ServiceTable, 'candidates.tree' | 'candidates.events'> {
  return {
    'candidates.tree': async (args) => {
      const subject = await candidateSubject(parts, args);
      await parts.eligibility?.caughtUp();
      return parts.candidates.completeTree(subject);
    },
    'candidates.events': (args) => candidatePage(parts, args),
  };
}

export function candidateTopic(parts: EngineParts): Pick<TopicTable, 'candidates'> {
  const { candidates, changes, eligibility } = parts;
  for (const change of RESTED_ON) changes.on(change, () => candidates.changed());
  return {
    candidates: {
      snapshot: async (args) =>
        candidates.shownTree(await candidateSubject(parts, args), async () => eligibility?.caughtUp()),
      onDidChange: (listener) => {
        const stops = [...RESTED_ON, 'candidates' as const].map((change) => changes.on(change, listener));
        return () => {
          for (const stop of stops) stop();
        };
      },
    },
  };
}

/**
 * Whose candidates are wanted on which relays.
 *
 * @throws Fault `unknown-account`, `unknown-relay`, `invalid-argument`.
 */
export async function candidateSubject(
  { reading, clock }: EngineParts,
  { account: pubkey, relays: urls, kinds, since, until }: { account: string } & Narrowing,
): Promise<CandidateSubject> {
  checkNarrowing({ ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) });
  const account = await readAccount(reading, pubkey);
  const relays = await chooseWriteRelays(reading, account.id, urls);
  return {
    account: pubkey,
    relays: relays.map(({ relayId, key, url }) => ({ relayId, key, url })),
    kinds,
    since,
    until,
    now: nowSeconds(clock),
  };
}

async function candidatePage(
  parts: EngineParts,
  { relay: url, after, limit, ...rest }: Methods['candidates.events']['args'],
): Promise<Candidate[]> {
  const { relays, ...subject } = await candidateSubject(parts, { ...rest, relays: [url] });
  const [relay] = relays;
  if (relay === undefined) return [];
  await parts.eligibility?.caughtUp();
  return parts.candidates.page({
    ...subject,
    relay,
    after: after === undefined ? null : await readPlaceInTime(parts.reading, after),
    limit: limit ?? CANDIDATES_PER_PAGE,
  });
}
