import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitScope, type Scope } from '../../main/fetch/scope-split.ts';

it('cuts at the suggested second, newer part first', () => {
  expect(splitScope({ since: 10, until: 20 }, 14)).toEqual([
    { since: 15, until: 20 },
    { since: 10, until: 14 },
  ]);
});

it('keeps Beginning open in the older part', () => {
  expect(splitScope({ since: null, until: 1_700_000_000 }, null)).toEqual([
    { since: 1_650_000_001, until: 1_700_000_000 },
    { since: null, until: 1_650_000_000 },
  ]);
});

it('cannot cut a single second', () => {
  expect(splitScope({ since: 7, until: 7 }, 7)).toBeNull();
});

it('always leaves two parts that are exactly the whole, each smaller, down to single seconds', () => {
  fc.assert(
    fc.property(
      fc.option(fc.nat({ max: 5000 }), { nil: null }),
      fc.nat({ max: 5000 }),
      fc.option(fc.nat({ max: 5000 }), { nil: null }),
      (since, length, middle) => {
        const whole: Scope = { since, until: (since ?? 0) + length };
        const parts = splitScope(whole, middle);
        if (parts === null) {
          expect(length).toBe(0);
          return;
        }
        const [newer, older] = parts;
        expect(newer.until).toBe(whole.until);
        expect(older.since).toBe(whole.since);
        expect(newer.since).toBe(older.until + 1);
        expect(older.until).toBeGreaterThanOrEqual(older.since ?? 0);
        expect(newer.until).toBeGreaterThanOrEqual(newer.since ?? 0);
      },
    ),
  );
});
