import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { compareBounds, INFINITE_BOUND } from '../../main/negentropy/bound.ts';
import { ItemSetBuilder } from '../../main/negentropy/item-set-builder.ts';
import type { ItemSet } from '../../main/negentropy/item-set.ts';
import type { TestItem } from './conversation.ts';
import { bytes, hex, idOf, itemSet } from './conversation.ts';

const time = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 1_600_000_000, max: 1_800_000_000 }),
  fc.maxSafeNat(),
);
// Few different bytes, so that IDs share prefixes and repeat.
const id = fc
  .array(fc.constantFrom('00', '01', '7f', '80', 'ff'), { minLength: 1, maxLength: 3 })
  .map((parts) => `${'00'.repeat(parts.length)}${parts.join('')}`.padEnd(64, parts[0]));
const items = fc.array(fc.record({ at: time, id }), { maxLength: 200 });

function sortedDistinct(list: readonly TestItem[]): TestItem[] {
  const distinct = new Map(list.map((item) => [`${item.at}/${item.id}`, item]));
  return [...distinct.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

function contents(set: ItemSet): TestItem[] {
  return Array.from({ length: set.size }, (_, index) => ({
    at: set.timestampAt(index),
    id: hex(set.idBytes(index, index + 1)),
  }));
}

/** The fingerprint as the protocol words it, with big integers. */
function plainFingerprint(list: readonly TestItem[]): string {
  const reversed = (text: string): string => hex(bytes(text).reverse());
  const sum = list.reduce((total, item) => (total + BigInt(`0x${reversed(item.id)}`)) % 2n ** 256n, 0n);
  const count = list.length < 128 ? [list.length] : [0x80 | (list.length >> 7), list.length & 0x7f];
  const sumBytes = bytes(reversed(sum.toString(16).padStart(64, '0')));
  return createHash('sha256').update(sumBytes).update(Uint8Array.from(count)).digest('hex').slice(0, 32);
}

describe('An item set', () => {
  it('is sorted by timestamp, then ID, without repeats, in whatever order the items came', () => {
    fc.assert(
      fc.property(items, (given) => {
        expect(contents(itemSet(given))).toEqual(sortedDistinct(given));
        expect(contents(itemSet(sortedDistinct(given)))).toEqual(sortedDistinct(given));
      }),
      { seed: 1 },
    );
  });

  it('gives every range the fingerprint that the protocol defines', () => {
    fc.assert(
      fc.property(items, fc.nat(), fc.nat(), (given, one, other) => {
        const all = sortedDistinct(given);
        const [from, to] = [one % (all.length + 1), other % (all.length + 1)].sort((a, b) => a - b) as [number, number];
        const digest = itemSet(given).fingerprint(from, to);
        expect(Buffer.from(digest.slice(0, 16), 'latin1').toString('hex')).toBe(plainFingerprint(all.slice(from, to)));
      }),
      { seed: 2 },
    );
  });

  it('gives the same fingerprints whichever ranges were asked about before', () => {
    const cuts = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 10 });
    fc.assert(
      fc.property(items, cuts, (given, asked) => {
        const all = sortedDistinct(given);
        const set = itemSet(given);
        for (const cut of asked) {
          const [a, b, c] = cut.map((at) => at % (all.length + 1)).sort((x, y) => x - y) as [number, number, number];
          // The second range begins where the first one ends; the third does not.
          for (const [from, to] of [
            [a, b],
            [b, c],
            [a, c],
          ] as const) {
            const digest = set.fingerprint(from, to);
            expect(Buffer.from(digest.slice(0, 16), 'latin1').toString('hex')).toBe(
              plainFingerprint(all.slice(from, to)),
            );
          }
        }
      }),
      { seed: 4, numRuns: 50 },
    );
  });

  it('is the same in memory that another set has left, whose own items nobody can read any more', () => {
    fc.assert(
      fc.property(items, items, (before, given) => {
        const released = itemSet(before);
        const oldIds = released.idBytes(0, released.size);
        released.release();
        const set = itemSet(given);
        // Releasing a set twice must not hand the memory out twice.
        released.release();
        const other = itemSet(before);
        const all = sortedDistinct(given);
        expect(contents(set)).toEqual(all);
        expect(contents(other)).toEqual(sortedDistinct(before));
        const digest = set.fingerprint(0, set.size);
        expect(Buffer.from(digest.slice(0, 16), 'latin1').toString('hex')).toBe(plainFingerprint(all));
        expect(oldIds.length).toBe(0);
        set.release();
        other.release();
      }),
      { seed: 5 },
    );
  });

  it('finds with the shortest bound between two neighbours the later one', () => {
    fc.assert(
      fc.property(items, (given) => {
        const set = itemSet(given);
        for (let index = 1; index < set.size; index += 1) {
          const bound = set.boundBefore(index);
          for (const from of [0, index >> 1, index]) expect(set.lowerBound(bound, from)).toBe(index);
          const sameSecond = set.timestampAt(index - 1) === set.timestampAt(index);
          const shorter = { ...bound, prefix: bound.prefix.subarray(0, -1) };
          if (sameSecond) expect(set.lowerBound(shorter, 0)).toBeLessThan(index);
          else expect(bound.prefix.length).toBe(0);
          if (index > 1) expect(compareBounds(set.boundBefore(index - 1), bound)).toBeLessThan(0);
        }
        expect(set.lowerBound(INFINITE_BOUND, 0)).toBe(set.size);
        expect(set.lowerBound({ timestamp: 2n ** 60n, prefix: new Uint8Array(0) }, 0)).toBe(set.size);
      }),
      { seed: 3 },
    );
  });

  it('grows with what is added and is filled from rows', () => {
    const rows = Array.from({ length: 5_000 }, (_, index): [number, Uint8Array] => [index, bytes(idOf(index))]);
    const set = new ItemSetBuilder().addAll(rows).build();
    expect(contents(set)).toEqual(rows.map(([at, row]) => ({ at, id: hex(row) })));
  });

  it.each([
    ['a negative timestamp', -1, idOf(1)],
    ['half a second', 0.5, idOf(1)],
    ['a timestamp above 2^53 - 1', 2 ** 53, idOf(1)],
    ['no number', Number.NaN, idOf(1)],
    ['a short ID', 1, idOf(1).slice(2)],
    ['a long ID', 1, `${idOf(1)}00`],
  ])('refuses %s and keeps what it had', (_, at, text) => {
    const builder = new ItemSetBuilder();
    builder.addHex(1, idOf('kept'));
    const refused = expect.objectContaining({ name: 'NegentropyError', code: 'bad-item' }) as Error;
    expect(() => builder.add(at, bytes(text))).toThrow(refused);
    expect(() => builder.addHex(at, text)).toThrow(refused);
    expect(() => builder.addHex(2, `zz${idOf(1).slice(2)}`)).toThrow(refused);
    expect(contents(builder.build())).toEqual([{ at: 1, id: idOf('kept') }]);
  });

  it('is built once', () => {
    const builder = new ItemSetBuilder();
    builder.build();
    const refused = expect.objectContaining({ code: 'wrong-order' }) as Error;
    expect(() => builder.build()).toThrow(refused);
    expect(() => builder.addHex(1, idOf(1))).toThrow(refused);
  });
});
