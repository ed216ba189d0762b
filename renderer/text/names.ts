import { npubEncode } from 'nostr-tools/nip19';
import type { AccountSummary } from '../../preload/contract.ts';
import { isolate, visibleControls } from './foreign.ts';

/** A host on this machine, where an unencrypted connection says nothing. */
const LOOPBACK = /^ws:\/\/(?=(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$))/i;

/** A relay by the part of its URL that a person tells it by. An unencrypted scheme to another machine stays visible. */
export function relayName(url: string): string {
  return visibleControls(
    url
      .replace(/^wss:\/\//i, '')
      .replace(LOOPBACK, '')
      .replace(/\/$/, ''),
  );
}

/** The same inside a sentence. */
export function relayInSentence(url: string): string {
  return isolate(relayName(url));
}

/** The first and last letters of a long identifier; the whole one belongs in a title or in the details. */
export function shorten(text: string, head = 10, tail = 6): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

/** An account by its label, else by its short npub. */
export function accountName(account: Pick<AccountSummary, 'label' | 'npub'>): string {
  return account.label === null ? shorten(account.npub) : visibleControls(account.label);
}

/** Two letters that tell an account where there is no room for its name: of its words, or of its key behind `npub1`. */
export function accountInitials({ label, npub }: Pick<AccountSummary, 'label' | 'npub'>): string {
  const words = (label === null ? npub.replace(/^npub1/, '') : visibleControls(label)).trim().split(/\s+/u);
  const [first = [], second] = words.map((word) =>
    [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment),
  );
  const letters = second === undefined ? first.slice(0, 2) : [first[0] ?? '', second[0] ?? ''];
  return letters.join('');
}

/** The name of an account known by its public key, for lists that only carry the key. */
export function accountNameByKey(pubkey: string, accounts: readonly AccountSummary[] | undefined): string {
  const account = accounts?.find((candidate) => candidate.pubkey === pubkey);
  return account === undefined ? shorten(npubEncode(pubkey)) : accountName(account);
}

/** A name in two pieces, so that a narrow column leaves out its middle: hosts begin alike, and ports end the name. */
export function splitName(name: string): { head: string; tail: string } {
  const characters = [...name];
  if (characters.length <= 24) return { head: name, tail: '' };
  return { head: characters.slice(0, -12).join(''), tail: characters.slice(-12).join('') };
}
