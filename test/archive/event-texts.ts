import { schnorr } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { hexToBytes } from 'nostr-tools/utils';
import { computeEventId } from '../../main/nostr/event-id.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import type { SignedEvent } from '../../preload/contract.ts';

/** Text of every sort that is easily lost on the way to a disk. */
export const HARD_TEXTS: readonly string[] = [
  '',
  '"quoted" and \\back\\slashed\\',
  '\n\r\t\b\f',
  '\u0000',
  'before\u0000after',
  '\u0001\u001f\u007f\u0080\u0085',
  'a\u2028b\u2029c',
  '\ufeffwith a mark',
  '\ufffd',
  '🐟 👩‍👩‍👧 ✡️',
  'a\ud83d',
  'é, ü, 🐟 and half of one: \ud83d',
  '\udc1fb',
  '\udc1f\ud83d',
  '12345678901234567890',
  '1e3',
  '0x10',
  "x'00'",
  'null',
  ' leading and trailing ',
];

const text = fc.oneof(
  fc.constantFrom(...HARD_TEXTS),
  fc.string({ unit: 'binary' }),
  // Any UTF-16 at all, unpaired surrogates included.
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
);
const tag = fc.oneof(
  fc.array(text, { maxLength: 5 }),
  fc.tuple(fc.constantFrom('e', 'p', 't', 'E', 'd', 'long-name', ''), text).map((pair): string[] => [...pair]),
  fc.constantFrom<string[]>(['p', bob.pubkey], ['e', alice.pubkey.toUpperCase()], ['p', bob.pubkey, 'again']),
);

/** Validly signed events of every shape that NIP-01 allows. */
export const anyEvent: fc.Arbitrary<SignedEvent> = fc
  .record({
    author: fc.constantFrom(alice, bob),
    kind: fc.oneof(fc.constantFrom(0, 1, 10_002, 65_535), fc.integer({ min: 0, max: 65_535 })),
    createdAt: fc.oneof(
      fc.integer({ min: 1_600_000_000, max: 1_600_000_005 }),
      fc.maxSafeInteger(),
      fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31, -(2 ** 31) - 1),
    ),
    content: text,
    tags: fc.array(tag, { maxLength: 6 }),
  })
  .map((fields) => buildEvent(fields));

/** A validly signed note by alice, of any length; the ID as `computeId` says. */
export function signLong(
  fields: { content?: string; tags?: string[][] },
  computeId: (event: SignedEvent) => string = computeEventId,
): SignedEvent {
  const unsigned = { ...buildEvent(), ...fields };
  const id = computeId(unsigned);
  return { ...unsigned, id, sig: Buffer.from(schnorr.sign(hexToBytes(id), alice.secretKey)).toString('hex') };
}
