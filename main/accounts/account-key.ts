import { decode, npubEncode } from 'nostr-tools/nip19';
import { Fault } from '../platform/fault.ts';

/** A public key as 64 lower-case hex characters, with the relay hints that came with it. */
export interface AccountKey {
  pubkey: string;
  relays: string[];
}

/**
 * Reads an account's key: npub, nprofile (NIP-19, also with a `nostr:` prefix) or 64 hex characters.
 *
 * @throws Fault `invalid-argument` that says what was wrong; a secret key is named as such and never echoed.
 */
export function parseAccountKey(text: string): AccountKey {
  const trimmed = text.trim().replace(/^nostr:/i, '');
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return { pubkey: trimmed.toLowerCase(), relays: [] };
  // Wherever it stands: a refusal repeats what it refuses, and a secret must not be repeated.
  if (/n(crypt)?sec1/i.test(trimmed)) {
    throw new Fault(
      'invalid-argument',
      'This is a secret key (nsec). Holdfast never needs it: give the public key (npub).',
    );
  }
  const lower = trimmed.toLowerCase();
  if (/^(npub|nprofile)1/.test(lower)) {
    try {
      const decoded = decode(lower);
      if (decoded.type === 'npub' && decoded.data.length === 64) return { pubkey: decoded.data, relays: [] };
      if (decoded.type === 'nprofile') return { pubkey: decoded.data.pubkey, relays: decoded.data.relays ?? [] };
    } catch {
      throw new Fault(
        'invalid-argument',
        `"${shorten(trimmed)}" is not a valid ${lower.startsWith('npub') ? 'npub' : 'nprofile'}: it was mistyped or cut off.`,
      );
    }
  }
  throw new Fault(
    'invalid-argument',
    `"${shorten(trimmed)}" is no public key. Give an npub, an nprofile or 64 hex characters.`,
  );
}

/** The npub (NIP-19) of a public key given as 64 hex characters. */
export function toNpub(pubkey: string): string {
  return npubEncode(pubkey);
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 36)}…` : text;
}
