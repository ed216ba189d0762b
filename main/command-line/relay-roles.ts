import type { AccountRelay } from '../../preload/contract.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';

/** Relay addresses by role; a role that is not mentioned is undefined, one that is emptied on purpose is `[]`. */
export interface RelayRoles {
  write?: string[];
  read?: string[];
  extra?: string[];
}

const ROLES = ['write', 'read', 'extra'] as const;

/**
 * The relays of an account after the mentioned roles were replaced: roles that are not mentioned stay, and a relay that
 * has no role left goes. Addresses that mean the same relay stay one entry, spelled as they were before.
 */
export function mergeRelayRoles(current: readonly AccountRelay[], roles: RelayRoles): AccountRelay[] {
  const merged = new Map<string, AccountRelay>();
  for (const relay of current) merged.set(parseRelayUrl(relay.url).key, { ...relay });
  for (const role of ROLES) {
    const urls = roles[role];
    if (urls === undefined) continue;
    for (const relay of merged.values()) relay[role] = false;
    for (const url of urls) {
      const key = parseRelayUrl(url).key;
      const relay = merged.get(key) ?? { url, read: false, write: false, extra: false };
      merged.set(key, { ...relay, [role]: true });
    }
  }
  return [...merged.values()].filter((relay) => ROLES.some((role) => relay[role]));
}
