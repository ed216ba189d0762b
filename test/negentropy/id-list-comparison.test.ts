import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdCollector } from '../../main/negentropy/id-collector.ts';
import { compareWithList } from '../../main/negentropy/id-list-comparison.ts';
import { bytes, idOf, itemSet, missingFrom } from './conversation.ts';

function compare(ours: readonly string[], theirs: readonly string[]): { have: string[]; need: string[] } {
  const items = itemSet(ours.map((id, at) => ({ at, id })));
  const have = new IdCollector();
  const need = new IdCollector();
  compareWithList(items, 0, items.size, bytes(theirs.join('')), have, need);
  return { have: have.toBatch().toHex(), need: need.toBatch().toHex() };
}

const asItems = (ids: readonly string[]): { at: number; id: string }[] => ids.map((id) => ({ at: 0, id }));

describe('A comparison with a list of IDs', () => {
  it('tells apart IDs that differ in any one byte, in short and in long lists', () => {
    const base = idOf('base');
    const variants = Array.from({ length: 32 }, (_, place) => {
      const changed = bytes(base);
      changed[place] = (changed[place] ?? 0) ^ 1;
      return Buffer.from(changed).toString('hex');
    });
    for (const variant of variants) expect(compare([base], [variant])).toEqual({ have: [base], need: [variant] });
    const others = Array.from({ length: 6_000 }, (_, index) => idOf(index));
    expect(compare([base, ...others], [...others, ...variants])).toEqual({ have: [base], need: variants });
  });

  it('gives both differences in the order of their side, whatever order the list has', () => {
    const id = fc.integer({ min: 0, max: 120 }).map(idOf);
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 70 }), fc.array(id, { maxLength: 140 }), (ours, theirs) => {
        const { have, need } = compare(ours, theirs);
        expect([...have].sort()).toEqual(missingFrom(asItems(ours), asItems(theirs)));
        expect([...need].sort()).toEqual(missingFrom(asItems(theirs), asItems(ours)));
        expect(have).toEqual(ours.filter((one) => have.includes(one)));
        expect(need).toEqual([...new Set(theirs)].filter((one) => need.includes(one)));
      }),
      { numRuns: 300, seed: 5 },
    );
  });
});
