import type { SignedEvent } from '../../preload/contract.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import { matchesFilter } from '../nostr/filter-match.ts';
import { Fault } from '../platform/fault.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { RelayDirectory } from '../relays/relay-directory.ts';
import { relayKeyOrNull } from '../relays/relay-key.ts';
import { RELAY_LIST_KIND } from './relay-list.ts';

const LOOKUP_TIMEOUT_MS = 10_000;

/** The valid relay lists that were found, and which relays could not be asked. */
export interface RelayListLookup {
  events: SignedEvent[];
  answered: number;
  failures: { url: string; reason: string }[];
}

/**
 * Asks relays, side by side, for an account's NIP-65 list. Every valid version found is returned: which one is the
 * newest is for the caller to say.
 *
 * @param urls index relays and hints; what is no relay URL is passed over.
 * @throws Fault `network` when not one relay answered, so that nobody takes silence for "no list".
 */
export async function lookUpRelayLists(
  relays: RelayDirectory,
  verifier: EventVerifier,
  pubkey: string,
  urls: readonly string[],
  signal?: AbortSignal,
): Promise<RelayListLookup> {
  const distinct = new Map<string, string>();
  for (const url of urls) {
    const key = relayKeyOrNull(url);
    if (key !== null && !distinct.has(key)) distinct.set(key, url);
  }
  if (distinct.size === 0) {
    throw new Fault(
      'network',
      'There is no index relay to ask for the relay list. Set one in Settings, or give the relays yourself.',
    );
  }
  const lookup: RelayListLookup = { events: [], answered: 0, failures: [] };
  await Promise.all([...distinct.values()].map((url) => askOne(relays, verifier, pubkey, url, lookup, signal)));
  if (lookup.answered === 0 && lookup.events.length === 0) {
    const words = lookup.failures.map(({ url, reason }) => `${url}: ${reason}`).join('; ');
    throw new Fault(
      'network',
      `The relay list could not be looked up, because no relay answered (${words}). Give the relays yourself, or try again later.`,
      { failures: lookup.failures },
    );
  }
  return lookup;
}

async function askOne(
  relays: RelayDirectory,
  verifier: EventVerifier,
  pubkey: string,
  url: string,
  lookup: RelayListLookup,
  signal: AbortSignal | undefined,
): Promise<void> {
  const filter = { authors: [pubkey], kinds: [RELAY_LIST_KIND], limit: 10 };
  const arrived: SignedEvent[] = [];
  const result = await relays.connection(url).query(filter, {
    onEvent: (event) => {
      if (matchesFilter(filter, event)) arrived.push(event);
    },
    idleTimeoutMs: LOOKUP_TIMEOUT_MS,
    connectAttempts: 1,
    ...(signal === undefined ? {} : { signal }),
  });
  const verdicts = await verifier.verify(arrived);
  lookup.events.push(...arrived.filter((_, index) => verdicts[index] === 'valid'));
  if (result.sent && isFinished(result.outcome.ending)) {
    lookup.answered += 1;
  } else {
    const reason = result.sent ? (result.outcome.message ?? result.outcome.ending) : result.failure.message;
    lookup.failures.push({ url, reason });
  }
}
