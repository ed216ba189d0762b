import { describe, expect, it } from 'vitest';
import type { CoverageTree, RunProgress } from '../../preload/contract.ts';
import { rangesToLookUp, walkPositions } from '../../renderer/coverage/walks.ts';
import { toggled } from '../../renderer/state/toggled.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

const tree: CoverageTree = {
  account: 'a',
  archive: { events: 1, oldest: null, newest: null },
  relays: [
    sampleRelay([
      sampleRange({ id: 1 }),
      sampleRange({ id: 2, since: 1990, until: 3000, status: 'partial', cursor: 2002 }),
      sampleRange({ id: 3, since: 2990, until: 4000, status: 'active', cursor: 2003 }),
    ]),
  ],
};
const run: RunProgress = {
  run: 1,
  type: 'fetch',
  account: 'a',
  startedAt: 1,
  found: 0,
  newlyArchived: 0,
  rate: 0,
  deliveries: null,
  relays: [
    {
      url: 'wss://relay.example',
      state: 'fetching',
      pages: 1,
      found: 1,
      fetched: 1,
      newlyArchived: 1,
      rate: 1,
      reachedSecond: 3500,
      since: 2990,
      until: 4000,
      waitingUntil: null,
      reason: null,
      deliveries: null,
    },
  ],
};

describe('where walks stand', () => {
  it('takes the live second of a running range, and the saved cursor otherwise', () => {
    expect([...walkPositions(tree, [run])]).toEqual([
      [2, 2002],
      [3, 3500],
    ]);
    expect([...walkPositions(tree, [])]).toEqual([
      [2, 2002],
      [3, 2003],
    ]);
  });

  it('leaves runs of other accounts out', () => {
    expect(walkPositions(tree, [{ ...run, account: 'b' }]).get(3)).toBe(2003);
  });

  it('looks up the attempts of ranges whose list of attempts was opened', () => {
    expect(rangesToLookUp(tree, new Set(['range 1']))).toEqual([]);
    expect(rangesToLookUp(tree, new Set(['attempts 1', 'attempts 2'])).map((range) => range.id)).toEqual([1, 2]);
  });
});

describe('a set of opened rows', () => {
  it('changes by copy, so that what depends on it notices', () => {
    const before: ReadonlySet<string> = new Set(['a']);
    expect([...toggled(before, 'a')]).toEqual([]);
    expect([...toggled(before, 'b')]).toEqual(['a', 'b']);
    expect([...toggled(before, 'a', true)]).toEqual(['a']);
    expect([...before]).toEqual(['a']);
  });
});
