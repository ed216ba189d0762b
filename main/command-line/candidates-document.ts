import type { CandidateRelay, CandidateTree, Narrowing } from '../../preload/contract.ts';
import { objectPieces } from './json-object.ts';
import type { Session } from './session.ts';

const CANDIDATES_AT_A_TIME = 1000;

/**
 * The candidates document of the command line, piece by piece: there may be hundreds of thousands of IDs. Times are Unix
 * seconds; `observedAt` is null of a relay that was never compared, of which a count of zero says nothing.
 */
export async function* candidatesDocument(
  session: Session,
  tree: CandidateTree,
  narrowing: Narrowing,
): AsyncGenerator<string> {
  const { account, total, relays, excluded, unchecked } = tree;
  const members = {
    account,
    total,
    undetermined: relays.map(({ url, undetermined }) => ({ url, count: undetermined })),
    excluded: Object.fromEntries(excluded.map(({ reason, events }) => [reason, events])),
    ...(unchecked === undefined ? {} : { unchecked }),
  };
  yield* objectPieces(members, 'relays', relays, (relay) => relayPieces(session, account, relay, narrowing));
  yield '\n';
}

function relayPieces(
  session: Session,
  account: string,
  relay: CandidateRelay,
  narrowing: Narrowing,
): AsyncIterable<string> {
  const { url, count, observedAt, comparison, refused } = relay;
  const kinds = Object.fromEntries(relay.kinds.map((entry) => [entry.kind, entry.count]));
  const ids = count === 0 ? [] : candidateIds(session, account, url, narrowing);
  return objectPieces({ url, count, observedAt, comparison, refused, kinds }, 'events', ids, (id) => [
    JSON.stringify(id),
  ]);
}

/** Newest first, without those that the relay refused before. */
async function* candidateIds(
  session: Session,
  account: string,
  relay: string,
  { relays: _, ...narrowing }: Narrowing,
): AsyncGenerator<string> {
  const args = { account, relay, ...narrowing, limit: CANDIDATES_AT_A_TIME };
  let page = await session.call('candidates.events', args);
  for (;;) {
    for (const { event, refused } of page) if (!refused) yield event;
    const last = page.at(-1);
    if (last === undefined || page.length < CANDIDATES_AT_A_TIME) return;
    page = await session.call('candidates.events', { ...args, after: last.event });
  }
}
