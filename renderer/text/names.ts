import type { AccountSummary } from '../../preload/contract.ts';

/** A relay by the part of its URL that a person tells it by. An unencrypted scheme stays visible. */
export function relayName(url: string): string {
  return url.replace(/^wss:\/\//i, '').replace(/\/$/, '');
}

/** The first and last letters of a long identifier; the whole one belongs in a title or in the details. */
export function shorten(text: string, head = 10, tail = 6): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

/** An account by its label, else by its short npub. */
export function accountName(account: Pick<AccountSummary, 'label' | 'npub'>): string {
  return account.label ?? shorten(account.npub, 10, 4);
}

/** The name of an account known by its public key, for lists that only carry the key. */
export function accountNameByKey(pubkey: string, accounts: readonly AccountSummary[] | undefined): string {
  const account = accounts?.find((candidate) => candidate.pubkey === pubkey);
  return account === undefined ? shorten(pubkey, 8, 4) : accountName(account);
}
