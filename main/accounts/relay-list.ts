import type { AccountRelay, SignedEvent } from '../../preload/contract.ts';
import { relayKeyOrNull } from '../relays/relay-key.ts';

export const RELAY_LIST_KIND = 10002;

/**
 * The read/write list of a NIP-65 event: `r` tags, both roles when no marker is given. Entries that are no relay URL,
 * or have a marker that NIP-65 does not know, are passed over: the list is a stranger's text.
 */
export function readRelayList(event: SignedEvent): AccountRelay[] {
  const relays = new Map<string, AccountRelay>();
  for (const [name, url, marker] of event.tags) {
    if (name !== 'r' || url === undefined) continue;
    if (marker !== undefined && marker !== '' && marker !== 'read' && marker !== 'write') continue;
    const key = relayKeyOrNull(url.trim());
    if (key === null) continue;
    const known = relays.get(key);
    relays.set(key, {
      url: known?.url ?? url.trim(),
      read: known?.read === true || marker !== 'write',
      write: known?.write === true || marker !== 'read',
      extra: false,
    });
  }
  return [...relays.values()];
}

/** Whether `a` is the version to keep of two replaceable events: the later one, of equals the lower ID (NIP-01). */
export function isNewerVersion(a: SignedEvent, b: SignedEvent): boolean {
  return a.created_at !== b.created_at ? a.created_at > b.created_at : a.id < b.id;
}
