import type { Narrowing } from '../../preload/contract.ts';
import type { Account } from '../accounts/account-store.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { selectCandidates } from './candidate-selection.ts';
import type { Selection } from './delivery-snapshot.ts';
import { chooseWriteRelays } from './write-relays.ts';

/**
 * Exactly the candidates of now, as far as they are within the narrowing.
 *
 * @param request.now Unix seconds.
 * @param eligibilityCaughtUp waits until what may be sent is known for everything archived so far.
 * @throws Fault `unknown-relay`.
 */
export async function selectForSync(
  db: ReadableDatabase,
  request: { account: Account; narrowing: Narrowing; includeRefused: boolean; now: number },
  eligibilityCaughtUp: () => Promise<void>,
): Promise<Selection> {
  const { account, narrowing, includeRefused, now } = request;
  const relays = await chooseWriteRelays(db, account.id, narrowing.relays);
  await eligibilityCaughtUp();
  const shares: Selection['shares'][number][] = [];
  for (const { relayId, key } of relays) {
    const { kinds, since, until } = narrowing;
    const choice = { account, relayId, relayKey: key, kinds, since, until, includeRefused, now };
    const candidates = await selectCandidates(db, choice);
    if (candidates.length > 0) shares.push({ relayId, key, candidates });
  }
  return { accountId: account.id, boundary: now, narrowing, shares };
}
