import { describe, expect, it } from 'vitest';
import type { CandidateRelay, CandidateTree } from '../../preload/contract.ts';
import { daysInWords, daysProblem, secondsOf } from '../../renderer/sync/day-bounds.ts';
import { syncRows } from '../../renderer/sync/rows.ts';
import {
  everything,
  isNarrowed,
  isUnticked,
  kindsOf,
  kindsTogether,
  narrowingOf,
  offeredTree,
  relayTick,
  selectedCopies,
  withAllKinds,
  withAllRelays,
  withKind,
  withRelay,
  type SyncSelection,
} from '../../renderer/sync/selection.ts';
import { undeterminedRelays } from '../../renderer/sync/undetermined.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

const A = 'wss://a.example';
const B = 'wss://b.example';

function relay(url: string, counts: Record<number, number>, part: Partial<CandidateRelay> = {}): CandidateRelay {
  const kinds = Object.entries(counts).map(([kind, count]) => ({ kind: Number(kind), count, observedAt: 100 }));
  const count = kinds.reduce((sum, each) => sum + each.count, 0);
  const known = { comparison: 'compared' as const, refused: 0, refusedKinds: [], undetermined: 0 };
  return { url, count, observedAt: count === 0 ? null : 100, kinds, ...known, ...part };
}

const tree: CandidateTree = {
  account: 'a',
  total: 18,
  relays: [relay(A, { 1: 10, 7: 3 }, { observedAt: 200 }), relay(B, { 1: 4, 6: 1 })],
  excluded: [],
  computedAt: 300,
};
const urls = [A, B];
const kinds = kindsOf(tree);

describe('what is ticked', () => {
  it('is everything at first, without naming anything', () => {
    expect(narrowingOf(everything)).toEqual({});
    expect(isNarrowed(everything)).toBe(false);
    expect(selectedCopies(tree, everything)).toEqual({ copies: 18, refused: 0, relays: 2 });
    expect(syncRows(tree, everything, () => true).map(({ tick }) => tick ?? 'none')).toEqual(
      ['on', 'on', 'on', 'on', 'on', 'on', 'none', 'none', 'on', 'none', 'none'], // prettier-ignore
    );
  });

  it('takes a kind from all relays together, so that what is shown is what is sent', () => {
    const selection = withKind(everything, 1, false, kinds);
    expect(narrowingOf(selection)).toEqual({ kinds: [6, 7] });
    expect(selectedCopies(tree, selection)).toEqual({ copies: 4, refused: 0, relays: 2 });
    expect(tree.relays.map((each) => relayTick(selection, each))).toEqual(['mixed', 'mixed']);
    const rows = syncRows(tree, selection, () => true);
    expect(rows.find(({ key }) => key === 'all')).toMatchObject({ tick: 'mixed', ticked: 4, count: 18 });
    // It is ticked in the list of kinds alone; below a relay it only shows that it is left out.
    expect(
      rows.filter((row) => row.type === 'kind' && row.kind === 1).map(({ tick, ticked }) => [tick, ticked]),
    ).toEqual([
      ['off', 0],
      [null, 0],
      [null, 0],
    ]);
  });

  it('names what was ticked and nothing else, so that what turns up later is not sent unseen', () => {
    const selection = withRelay(withKind(everything, 7, false, kinds), B, false, urls);
    expect(narrowingOf(selection)).toEqual({ relays: [A], kinds: [1, 6] });
    const later = { ...tree, relays: [relay(A, { 1: 10, 30_023: 5 }), ...tree.relays.slice(1)] };
    expect(selectedCopies(later, selection)).toEqual({ copies: 10, refused: 0, relays: 1 });
  });

  it('is everything again, also what turns up later, when all is ticked again', () => {
    const without = withRelay(withKind(everything, 7, false, kinds), B, false, urls);
    const again = withRelay(withKind(without, 7, true, kinds), B, true, urls);
    expect(narrowingOf(again)).toEqual({});
    expect(again.relays).toBeNull();
    expect(again.kinds).toBeNull();
  });

  it('sends nothing when nothing is ticked', () => {
    const nothing = withAllRelays(everything, false);
    expect(narrowingOf(nothing)).toBeNull();
    expect(syncRows(tree, nothing, () => false).map(({ tick, ticked }) => [tick, ticked])).toEqual([
      ['off', 0],
      ['off', 0],
    ]);
    expect(selectedCopies(tree, nothing)).toEqual({ copies: 0, refused: 0, relays: 0 });
    const noKinds = withAllKinds(everything, false);
    expect(narrowingOf(noKinds)).toBeNull();
    expect(withAllRelays(nothing, true)).toEqual(everything);
    expect(withAllKinds(noKinds, true)).toEqual(everything);
  });

  it('counts only relays that would get something', () => {
    const selection: SyncSelection = { ...everything, kinds: new Set([7]) };
    expect(selectedCopies(tree, selection)).toEqual({ copies: 3, refused: 0, relays: 1 });
  });

  it('takes one relay alone, and shows then only the kinds and numbers of that one', () => {
    const rows = syncRows(tree, { ...everything, relays: new Set([B]) }, (key) => !key.startsWith('relay '));
    expect(rows.map(({ key, tick, ticked, count, usable }) => [key, tick, ticked, count, usable])).toEqual([
      ['all', 'on', 5, 18, true],
      ['kind 1 ', 'on', 4, 4, true],
      ['kind 7 ', 'off', 0, 0, false],
      ['kind 6 ', 'on', 1, 1, true],
      ['relays', 'mixed', 5, 18, true],
      [`relay ${A}`, 'off', 0, 13, true],
      [`relay ${B}`, 'on', 5, 5, true],
    ]);
  });

  it('is not called narrowed by ticks where only days are set', () => {
    const dated = { ...everything, from: '2024-01-01' };
    expect(isNarrowed(dated)).toBe(true);
    expect(isUnticked(dated)).toBe(false);
    expect(isUnticked(withKind(everything, 1, false, kinds))).toBe(true);
  });
});

describe('what was refused before', () => {
  const refusing = relay(A, {}, { refused: 60, refusedKinds: [{ kind: 1, count: 40, observedAt: 90 }, { kind: 30_078, count: 20, observedAt: 80 }], observedAt: 300 }); // prettier-ignore
  const left: CandidateTree = { ...tree, total: 0, relays: [refusing, relay(B, {})] };
  const wanted = { ...everything, includeRefused: true };

  it('is offered, and narrowed by kind, only where it is wanted', () => {
    expect(offeredTree(left, everything)).toBe(left);
    const offered = offeredTree(left, wanted);
    expect(offered).toMatchObject({ total: 60, relays: [{ count: 60, observedAt: 80 }, { count: 0 }] });
    expect(selectedCopies(offered, wanted)).toEqual({ copies: 60, refused: 60, relays: 1 });
    const one = withKind(wanted, 1, false, kindsOf(offered));
    expect(narrowingOf(one)).toEqual({ kinds: [30_078] });
    expect(selectedCopies(offered, one)).toEqual({ copies: 20, refused: 20, relays: 1 });
  });

  it('is added to what is missing of the same kind', () => {
    const both = {
      ...left,
      total: 3,
      relays: [{ ...refusing, count: 3, kinds: [{ kind: 1, count: 3, observedAt: 95 }] }],
    };
    const offered = offeredTree(both, wanted);
    expect(offered.relays[0]?.kinds).toEqual([
      { kind: 1, count: 43, observedAt: 90 },
      { kind: 30_078, count: 20, observedAt: 80 },
    ]);
    expect(selectedCopies(offered, wanted)).toEqual({ copies: 63, refused: 60, relays: 1 });
  });
});

describe('the rows of the Sync tree', () => {
  it('put kinds together with the oldest observation', () => {
    const copies = [
      { kind: 6, count: 20, observedAt: 100 },
      { kind: 1, count: 10, observedAt: 50 },
      { kind: 1, count: 4, observedAt: 100 },
    ];
    expect(kindsTogether(copies)).toEqual([
      { kind: 1, count: 14, observedAt: 50 },
      { kind: 6, count: 20, observedAt: 100 },
    ]);
  });

  it('hide what is collapsed and count it all the same', () => {
    const rows = syncRows(tree, everything, () => false);
    expect(rows.map(({ key, count, open, observedAt }) => [key, count, open, observedAt])).toEqual([
      ['all', 18, false, 100],
      ['relays', 18, false, 100],
    ]);
  });

  it('leave out the row of all relays where there is one', () => {
    const one = { ...tree, relays: tree.relays.slice(0, 1), total: 13 };
    expect(syncRows(one, everything, () => true).map(({ key }) => key)).toEqual([
      `relay ${A}`,
      `kind 1 ${A}`,
      `kind 7 ${A}`,
    ]);
  });

  it('offer ticks on kinds in one place only: of one relay below it, of several in a list of their own', () => {
    const several = syncRows(tree, everything, () => true);
    expect(several.filter((row) => row.type === 'kind' && row.tick !== null).map(({ key }) => key)).toEqual([
      'kind 1 ',
      'kind 7 ',
      'kind 6 ',
    ]);
    const one = syncRows({ ...tree, relays: tree.relays.slice(0, 1) }, everything, () => true);
    expect(one.filter((row) => row.type === 'kind').map(({ tick }) => tick)).toEqual(['on', 'on']);
  });

  it('have nothing to open under a relay without missing copies', () => {
    const rows = syncRows(
      { ...tree, relays: [relay(A, {}, { observedAt: 70 }), relay(B, { 1: 1 })] },
      everything,
      (key) => key === 'relays',
    );
    expect(rows.find((row) => row.key === `relay ${A}`)).toMatchObject({ open: null, count: 0, observedAt: 70 });
    // As old as what is missing; a relay without anything missing makes that no older.
    expect(rows[0]).toMatchObject({ key: 'all', observedAt: 100 });
  });
});

describe('the days', () => {
  const days = (from: string, to: string, incomplete = false) => ({ from, to, incomplete });

  it('include both, from the first second to the last', () => {
    const bounds = secondsOf(days('2024-03-01', '2024-03-01'));
    expect((bounds.until ?? 0) - (bounds.since ?? 0)).toBe(86_399);
    expect(new Date((bounds.since ?? 0) * 1000).getHours()).toBe(0);
    expect(secondsOf(days('', ''))).toEqual({});
    expect(secondsOf(days('1950-01-01', ''))).toEqual({});
  });

  it('are refused at once when they end before they begin, or when one is not whole', () => {
    expect(daysProblem(days('2024-03-02', '2024-03-01'))).toBe(
      'The end, 1 Mar 2024, lies before the beginning, 2 Mar 2024.',
    );
    expect(daysProblem(days('2024-03-01', '2024-03-01'))).toBeNull();
    expect(daysProblem(days('', '1960-01-01'))).toBe('Nothing is dated before 1970.');
    expect(daysProblem(days('', '', true))).not.toBeNull();
    expect(narrowingOf({ ...everything, from: '2024-03-02', to: '2024-03-01' })).toBeNull();
    expect(narrowingOf({ ...everything, incomplete: true })).toBeNull();
  });

  it('are said in words', () => {
    expect(daysInWords(days('2024-03-01', ''))).toBe('from 1 Mar 2024');
    expect(daysInWords(days('', ''))).toBeNull();
  });
});

describe('what is undetermined', () => {
  it('comes with what would bring it to light', () => {
    const unasked = 'wss://c.example';
    const found = undeterminedRelays(
      [
        relay(A, {}, { undetermined: 5 }),
        relay(B, {}, { undetermined: 9 }),
        relay(unasked, {}, { undetermined: null }),
        relay('wss://known.example', {}),
      ],
      [
        sampleRelay([sampleRange()], { url: A }),
        sampleRelay([sampleRange({ id: 4, status: 'partial', resumable: true })], { url: B }),
      ],
    );
    expect(found.map(({ url, events, help, range }) => [url, events, help, range])).toEqual([
      [B, 9, 'resume', 4],
      [A, 5, 'recheck', null],
      [unasked, null, 'fetch', null],
    ]);
  });
});
