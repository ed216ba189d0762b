import type { AccountRelay } from '../../preload/contract.ts';
import { isolate } from '../text/foreign.ts';
import { relayInSentence } from '../text/names.ts';
import { sayList } from '../text/numbers.ts';

/**
 * A relay address as typed, made a URL: `wss://` is added when no scheme was typed. Null when it cannot be one; a
 * bare word without a scheme and a dot is a slip, not a host.
 */
export function relayUrl(text: string): string | null {
  const trimmed = text.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed);
  if (!hasScheme && !/^[^/?#]*\./.test(trimmed)) return null;
  const withScheme = hasScheme ? trimmed : `wss://${trimmed}`;
  if (!/^wss?:\/\//i.test(withScheme) || /\s/.test(withScheme)) return null;
  return URL.canParse(withScheme) && new URL(withScheme).hostname !== '' ? withScheme : null;
}

/**
 * The identity of a relay for comparing lists here: scheme and host in lower case, no default port, no empty path.
 * The engine has its own, authoritative one.
 */
export function relayIdentity(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}${parsed.search}`;
}

/** The roles of a relay in words: "read, write", "extra source". */
export function rolesOf(relay: AccountRelay): string {
  const roles = [relay.read ? 'read' : '', relay.write ? 'write' : '', relay.extra ? 'extra source' : ''];
  return roles.filter((role) => role !== '').join(', ') || 'no role';
}

/** Whether two lists hold the same relays in the same roles, whatever their order. */
export function sameRelays(left: readonly AccountRelay[], right: readonly AccountRelay[]): boolean {
  const keys = (relays: readonly AccountRelay[]): string =>
    relays
      .map((relay) => `${relayIdentity(relay.url)} ${rolesOf(relay)}`)
      .sort()
      .join('\n');
  return keys(left) === keys(right);
}

/** What is wrong with a text that should be a relay address, in one sentence; null when it is one. */
export function addressProblem(text: string): string | null {
  return relayUrl(text) === null
    ? `“${isolate(text.trim())}” is not a relay address; one looks like wss://relay.example.`
    : null;
}

/** What is wrong with each row of a list, in one sentence, or null; in the order of the list. */
export function rowProblems(relays: readonly AccountRelay[]): (string | null)[] {
  const seen = new Set<string>();
  return relays.map((relay) => {
    if (relay.url.trim() === '') return 'One relay has no address. Fill it in or remove the row.';
    const url = relayUrl(relay.url);
    if (url === null) return addressProblem(relay.url);
    if (!relay.read && !relay.write && !relay.extra)
      return `${relayInSentence(url)} has no role. Choose one or remove the row.`;
    const identity = relayIdentity(url);
    if (seen.has(identity)) return `${relayInSentence(url)} stands in the list twice.`;
    seen.add(identity);
    return null;
  });
}

/** What stands in the way of saving a list: one sentence, or null when it can be saved. */
export function listProblem(relays: readonly AccountRelay[]): string | null {
  return rowProblems(relays).find((problem) => problem !== null) ?? null;
}

/** The list with every address completed; call it after {@link listProblem} found nothing. */
export function completedList(relays: readonly AccountRelay[]): AccountRelay[] {
  return relays.map((relay) => ({ ...relay, url: relayUrl(relay.url) ?? relay.url.trim() }));
}

/** One change that Reset to published relays would make, as a sentence. */
export function resetChanges(local: readonly AccountRelay[], published: readonly AccountRelay[]): string[] {
  const changes: string[] = [];
  const byIdentity = new Map(local.map((relay) => [relayIdentity(relay.url), relay]));
  const roles = (relay: Pick<AccountRelay, 'read' | 'write'>): string =>
    sayList([relay.read ? 'read' : '', relay.write ? 'write' : ''].filter((role) => role !== ''));
  for (const relay of published) {
    const current = byIdentity.get(relayIdentity(relay.url));
    byIdentity.delete(relayIdentity(relay.url));
    if (current === undefined) changes.push(`Adds ${relayInSentence(relay.url)} (${roles(relay)}).`);
    else if (current.read !== relay.read || current.write !== relay.write) {
      changes.push(`Changes ${relayInSentence(relay.url)} from ${roles(current) || 'extra only'} to ${roles(relay)}.`);
    }
  }
  for (const relay of byIdentity.values()) {
    if (!relay.read && !relay.write) continue;
    changes.push(
      relay.extra
        ? `Keeps ${relayInSentence(relay.url)} as an extra source only.`
        : `Removes ${relayInSentence(relay.url)} (${roles(relay)}).`,
    );
  }
  return changes;
}
