import { readAccountRelays, type RoledRelay } from '../accounts/account-store.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { Fault } from '../platform/fault.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';

/**
 * The write relays of an account, in order, or those of them that are named.
 *
 * @throws Fault `unknown-relay` for one that is no write relay of the account, `invalid-argument` for what is no relay URL.
 */
export async function chooseWriteRelays(
  db: ReadableDatabase,
  accountId: number,
  urls?: readonly string[],
): Promise<RoledRelay[]> {
  const relays = await readAccountRelays(db, accountId);
  if (urls === undefined) return relays.filter(({ write }) => write);
  const keys = new Set<string>();
  for (const text of urls) {
    const { key, url } = parseRelayUrl(text);
    const relay = relays.find((candidate) => candidate.key === key);
    if (relay?.write !== true) throw noWriteRelay(url, relay);
    keys.add(key);
  }
  return relays.filter(({ key }) => keys.has(key));
}

function noWriteRelay(url: string, relay: RoledRelay | undefined): Fault {
  const what =
    relay === undefined
      ? 'is none of the relays of this account'
      : `is ${relay.extra ? 'an extra source' : 'a read relay'} of this account, which never becomes a destination`;
  return new Fault('unknown-relay', `${url} ${what}. Events are sent to write relays only.`, { relay: url });
}
