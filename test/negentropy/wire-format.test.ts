import { describe, expect, it } from 'vitest';
import { INFINITE_BOUND, readBound, writeBound } from '../../main/negentropy/bound.ts';
import type { Bound } from '../../main/negentropy/bound.ts';
import { ByteReader } from '../../main/negentropy/byte-reader.ts';
import { ByteWriter } from '../../main/negentropy/byte-writer.ts';
import { Initiator } from '../../main/negentropy/initiator.ts';
import { payloadFromHex, payloadToHex } from '../../main/negentropy/payload-hex.ts';
import { Responder } from '../../main/negentropy/responder.ts';
import type { Uint64 } from '../../main/negentropy/varint.ts';
import { readVarint, writeVarint } from '../../main/negentropy/varint.ts';
import { bytes, hex, itemSet } from './conversation.ts';

/*
 * Every expected byte below is worked out by hand from the appendix of NIP-77; only SHA-256 itself was left to `sha256sum`.
 */

function encodedVarint(value: Uint64): string {
  const writer = new ByteWriter();
  writeVarint(writer, value);
  return hex(writer.toBytes());
}

describe('A varint', () => {
  // Base 128, most significant digit first, the high bit on all digits but the last.
  const cases: [Uint64, string][] = [
    [0, '00'],
    [127, '7f'],
    [128, '81 00'], // 1·128 + 0
    [300, '82 2c'], // 2·128 + 44
    [16_383, 'ff 7f'], // 127·128 + 127
    [16_384, '81 80 00'], // 1·128² + 0 + 0
    [1_700_000_000, '86 aa cf e2 00'], // 6·128⁴ + 42·128³ + 79·128² + 98·128 + 0
    [2 ** 49 - 1, 'ff ff ff ff ff ff 7f'], // seven digits of 127
    [2 ** 49, '81 80 80 80 80 80 80 00'],
    [Number.MAX_SAFE_INTEGER, '8f ff ff ff ff ff ff 7f'], // 53 bits: 4 in front of 7 · 7
    [2n ** 53n, '90 80 80 80 80 80 80 00'],
    [2n ** 63n, '81 80 80 80 80 80 80 80 80 00'],
    [2n ** 64n - 1n, '81 ff ff ff ff ff ff ff ff 7f'], // 64 bits: 1 in front of 9 · 7
  ];
  it.each(cases)('of %s is %s', (value, expected) => {
    expect(encodedVarint(value)).toBe(expected.replaceAll(' ', ''));
    const reader = new ByteReader(bytes(expected));
    expect(readVarint(reader)).toBe(value);
    expect(reader.remaining).toBe(0);
  });

  it.each([
    ['a zero digit in front', '80 01', 'bad-varint'],
    ['only continued digits', '80', 'bad-varint'],
    ['65 bits', '83 ff ff ff ff ff ff ff ff 7f', 'bad-varint'],
    ['eleven digits', '81 80 80 80 80 80 80 80 80 80 00', 'bad-varint'],
    ['no end', 'ff ff', 'truncated'],
    ['nothing', '', 'truncated'],
  ])('with %s is refused', (_, text, code) => {
    expect(() => readVarint(new ByteReader(bytes(text)))).toThrow(expect.objectContaining({ code }) as Error);
  });
});

describe('Bounds', () => {
  function encoded(...bounds: Bound[]): string {
    const writer = new ByteWriter();
    let previous: Uint64 = 0;
    for (const bound of bounds) previous = writeBound(writer, bound, previous);
    return hex(writer.toBytes());
  }
  const at = (timestamp: Uint64, prefix = ''): Bound => ({ timestamp, prefix: bytes(prefix) });

  it('are encoded as 1 + the distance from the one before, then the prefix with its length', () => {
    expect(encoded(at(0), at(0, 'ab'), at(5), at(133, '0102'), INFINITE_BOUND)).toBe(
      [
        '01 00', // 1 + (0 - 0), no prefix
        '01 01 ab', // 1 + (0 - 0), one byte
        '06 00', // 1 + (5 - 0)
        '81 01 02 01 02', // 1 + (133 - 5) = 129 = 1·128 + 1, two bytes
        '00 00', // infinity
      ]
        .join('')
        .replaceAll(' ', ''),
    );
  });

  it('come back as they were, up to the largest timestamp of 64 bits', () => {
    const bounds = [
      at(0, '00ff'),
      at(7),
      at(2 ** 53 - 1, 'aa'.repeat(32)),
      at(2n ** 53n),
      at(2n ** 64n - 2n),
      INFINITE_BOUND,
    ];
    const reader = new ByteReader(bytes(encoded(...bounds)));
    let previous = at(0);
    for (const bound of bounds) {
      previous = readBound(reader, previous);
      expect(previous).toEqual(bound);
    }
    expect(reader.remaining).toBe(0);
  });
});

/** An ID whose bytes are all the same. */
const idOfByte = (byte: string): string => byte.repeat(32);

describe('Messages', () => {
  it('list a tiny set by its IDs, in order', () => {
    const set = itemSet([
      { at: 20, id: idOfByte('01') },
      { at: 10, id: idOfByte('ff') },
      { at: 20, id: idOfByte('00') },
    ]);
    expect(hex(new Initiator(set).initiate())).toBe(
      [
        '61', // version 1
        '0000', // up to infinity, no prefix
        '02', // IdList
        '03', // three IDs: by timestamp, then by ID
        idOfByte('ff') + idOfByte('00') + idOfByte('01'),
      ].join(''),
    );
  });

  it('say of an empty set that it is empty', () => {
    expect(hex(new Initiator(itemSet([])).initiate())).toBe('6100000200');
  });

  it('carry a fingerprint over the sum of the IDs and their count', () => {
    // As little-endian numbers: ff…ff + 03 00…00 overflows 2^256 and leaves 02 00…00; adding 00…00 80 and 01 00…00 gives
    // 03 00…00 80. Hashed are these 32 bytes and the varint 04:
    // printf '03%060d8004' 0 | xxd -r -p | sha256sum → begins with the 16 bytes below.
    const set = itemSet([
      { at: 1, id: idOfByte('ff') },
      { at: 2, id: `03${'00'.repeat(31)}` },
      { at: 3, id: `${'00'.repeat(31)}80` },
      { at: 4, id: `01${'00'.repeat(31)}` },
    ]);
    expect(hex(new Initiator(set).initiate())).toBe(`61${'0000'}${'01'}${'f5fd2b542fd42522855ab65e7640afe2'}`);
  });

  it('split 32 items into 16 ranges of two, with the shortest bounds that separate them', () => {
    // Item k is at second 100 + floor(k / 4) with an ID that starts with k: so every second bound falls between two items of one second.
    const items = Array.from({ length: 32 }, (_, k) => ({
      at: 100 + Math.floor(k / 4),
      id: `${k.toString(16).padStart(2, '0')}${'00'.repeat(31)}`,
    }));
    const message = hex(new Initiator(itemSet(items)).initiate());
    // Bound 1 lies before item 2: second 100, the same as item 1, whose ID shares no first byte: 1 + 100, prefix 02.
    // Bound 2 lies before item 4: second 101 after second 100: 1 + 1, no prefix.
    // Bound 3 lies before item 6: the same second as the bound before: 1 + 0, prefix 06.
    // The first fingerprint is over 00…00 + 01 00…00 and the count 2:
    // printf '01%062d02' 0 | xxd -r -p | sha256sum; the second over 02… + 03… = 05…: printf '05%062d02' 0.
    expect(message.slice(0, 2 + 40 + 38)).toBe(
      `61${'65'}01${'02'}01${'6092a26dea6bc7bdc57a942f1df2d0d7'}${'02'}00${'01'}${'d27c48779563ae9b8f7bfc1ba05462c8'}`,
    );
    expect(message.slice(2 + 40 + 38, 2 + 40 + 38 + 6)).toBe('010106');
    // The last goes to infinity.
    expect(message.slice(-38, -32)).toBe('000001');
  });
});

describe('A responder', () => {
  const a = { at: 10, id: idOfByte('aa') };
  const b = { at: 20, id: idOfByte('bb') };
  const c = { at: 30, id: idOfByte('cc') };

  it('answers a list that equals its own, and a skip, by skipping, which at the end is left out', () => {
    const responder = new Responder(itemSet([a, b]));
    expect(hex(responder.respond(bytes(`61 0000 02 02 ${a.id} ${b.id}`)))).toBe('61');
    expect(hex(responder.respond(bytes('61 0000 00')))).toBe('61');
    expect(hex(responder.respond(bytes('61')))).toBe('61');
  });

  it('answers a list that differs with its own, after one skip for all that was settled before', () => {
    // Up to second 10 skipped, up to 20 with the right list, up to 30 with an empty one, the rest skipped.
    const query = `61 0b00 00 0b00 02 01 ${a.id} 0b00 02 00 0000 00`;
    // One skip up to 20 (1 + 20 = 0x15), then up to 30 (1 + 10 = 0x0b) the list of b.
    expect(hex(new Responder(itemSet([a, b, c])).respond(bytes(query)))).toBe(`6115000${'0'}0b00${'02'}01${b.id}`);
  });

  it('answers an unknown version with the byte of its own', () => {
    const responder = new Responder(itemSet([a]));
    for (const version of ['60', '62', '6f']) {
      expect(hex(responder.respond(bytes(`${version} ff ff ff`)))).toBe('61');
    }
  });

  it('names what did not fit by one fingerprint to infinity', () => {
    const items = Array.from({ length: 1_000 }, (_, k) => ({ at: 1 + k, id: k.toString(16).padStart(64, '0') }));
    const set = itemSet(items);
    const answer = new Responder(set, { frameLimit: 4096 }).respond(bytes('61 0000 02 00'));
    // 4,096 bytes less what the last range and the largest possible head need, in whole IDs.
    const listed = 123;
    expect(answer.length).toBeLessThanOrEqual(4096);
    // Up to the first item left out (second 124: 1 + 124 = 0x7d), IdList, 123 IDs; then infinity and a fingerprint.
    expect(hex(answer)).toBe(
      `617d00027b${items
        .slice(0, listed)
        .map(({ id }) => id)
        .join('')}000001${Buffer.from(set.fingerprint(listed, 1_000).slice(0, 16), 'latin1').toString('hex')}`,
    );
  });
});

describe('A payload', () => {
  it('is lower-case hex, read in either case', () => {
    expect(payloadToHex(bytes('61 ab'))).toBe('61ab');
    expect(hex(payloadFromHex('61AB'))).toBe('61ab');
  });

  it.each([
    ['', 'empty-message'],
    ['6', 'bad-hex'],
    ['61zz', 'bad-hex'],
    ['61 00', 'bad-hex'],
    [null, 'bad-hex'],
    [['61'], 'bad-hex'],
  ])('of %j is refused', (payload, code) => {
    expect(() => payloadFromHex(payload)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
