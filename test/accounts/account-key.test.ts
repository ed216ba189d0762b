import { nprofileEncode, npubEncode, nsecEncode, noteEncode, encodeBytes } from 'nostr-tools/nip19';
import { describe, expect, test } from 'vitest';
import { parseAccountKey, toNpub } from '../../main/accounts/account-key.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice } from '../relays/event-builder.ts';

const hints = ['wss://one.example', 'wss://two.example/path'];
const nprofile = nprofileEncode({ pubkey: alice.pubkey, relays: hints });

describe('an account key', () => {
  test.each([
    ['an npub', alice.npub, []],
    ['an npub in capitals', alice.npub.toUpperCase(), []],
    ['an npub with nostr: before it', `nostr:${alice.npub}`, []],
    ['an npub with NOSTR: and blanks', `  NOSTR:${alice.npub} \n`, []],
    ['hex', alice.pubkey, []],
    ['hex in capitals', alice.pubkey.toUpperCase(), []],
    ['an nprofile', nprofile, hints],
    ['an nprofile with nostr: before it', `nostr:${nprofile}`, hints],
    ['an nprofile without relays', nprofileEncode({ pubkey: alice.pubkey }), []],
  ])('may be %s', (_, text, relays) => {
    expect(parseAccountKey(text)).toEqual({ pubkey: alice.pubkey, relays });
  });

  const nsec = nsecEncode(alice.secretKey);
  test.each([
    ['as it is', nsec],
    ['in capitals', nsec.toUpperCase()],
    ['with nostr: before it', `nostr:${nsec}`],
    ['with other text before it', `my key is ${nsec}`],
    ['in quotes', `"${nsec}"`],
    ['mistyped', `${nsec.slice(0, -1)}x`],
    [
      'encrypted',
      'ncryptsec1qgg9947rlpvqu76pj5ecreduf9jxhselq2nae2kghhvd5g7dgjtcxfqtd67p9m0w57lspw8gsq6yphnm8623nsl8xn9j4jdzz84zm3frztj3z7s35vpzmqf6ksu8r89qk5z2zxfmu5gv8th8wclt0h4p',
    ],
  ])('that is a secret key %s is named as one and never repeated', async (_, text) => {
    const fault = await thrownFault(() => parseAccountKey(text));

    expect(fault.code).toBe('invalid-argument');
    expect(fault.message).toContain('secret key');
    const shown = JSON.stringify([fault.message, fault.details, String(fault.cause)]).toLowerCase();
    for (let start = 0; start + 8 <= text.length; start += 1) {
      const piece = text.slice(start, start + 8).toLowerCase();
      if (/^[a-z0-9]{8}$/.test(piece)) expect(shown).not.toContain(piece);
    }
  });

  test.each([
    ['nothing', '', 'no public key'],
    ['a name', 'alice', 'no public key'],
    ['63 hex characters', alice.pubkey.slice(1), 'no public key'],
    ['65 hex characters', `${alice.pubkey}0`, 'no public key'],
    ['an address', 'alice@example.com', 'no public key'],
    ['a note', noteEncode(alice.pubkey), 'no public key'],
    ['an npub that was cut off', alice.npub.slice(0, -3), 'not a valid npub'],
    [
      'an npub with another letter',
      `${alice.npub.slice(0, -1)}${alice.npub.endsWith('q') ? 'p' : 'q'}`,
      'not a valid npub',
    ],
    ['an npub of too few bytes', encodeBytes('npub', new Uint8Array(31)), 'no public key'],
    ['an npub of too many bytes', encodeBytes('npub', new Uint8Array(33)), 'no public key'],
    ['an nprofile that was cut off', nprofile.slice(0, -5), 'not a valid nprofile'],
    ['an nprofile without a key', encodeBytes('nprofile', Uint8Array.of(1, 1, 65)), 'not a valid nprofile'],
  ])('is never %s', async (_, text, words) => {
    const fault = await thrownFault(() => parseAccountKey(text));

    expect(fault.code).toBe('invalid-argument');
    expect(fault.message).toContain(words);
  });

  test('that is no key is named in the refusal, shortened when long', async () => {
    expect((await thrownFault(() => parseAccountKey('bob'))).message).toContain('"bob"');
    expect((await thrownFault(() => parseAccountKey('x'.repeat(5000)))).message.length).toBeLessThan(200);
  });
});

test('a public key is shown as npub', () => {
  expect(toNpub(alice.pubkey)).toBe(npubEncode(alice.pubkey));
});
