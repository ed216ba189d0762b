import { describe, expect, it } from 'vitest';
import type { CandidateRelay, CandidateTree } from '../../preload/contract.ts';
import { daysInWords, daysProblem, secondsOf } from '../../renderer/sync/day-bounds.ts';
import { kindsTogether, syncRows } from '../../renderer/sync/rows.ts';
import {
  everything,
  isNarrowed,
  kindsOf,
  narrowingOf,
  relayTick,
  selectedCopies,
  treeTick,
  withAll,
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
    expect(selectedCopies(tree, everything)).toEqual({ copies: 18, relays: 2 });
    expect(treeTick(everything, tree)).toBe('on');
  });

  it('takes a kind from all relays together, so that what is shown is what is sent', () => {
    const selection = withKind(everything, 1, false, kinds);
    expect(narrowingOf(selection)).toEqual({ kinds: [6, 7] });
    expect(selectedCopies(tree, selection)).toEqual({ copies: 4, relays: 2 });
    expect(tree.relays.map((each) => relayTick(selection, each))).toEqual(['mixed', 'mixed']);
    expect(treeTick(selection, tree)).toBe('mixed');
    const rows = syncRows(tree, selection, () => true);
    expect(rows.filter((row) => row.type === 'kind' && row.kind === 1).map((row) => row.tick)).toEqual([
      'off',
      'off',
      'off',
    ]);
  });

  it('names what was ticked and nothing else, so that what turns up later is not sent unseen', () => {
    const selection = withRelay(withKind(everything, 7, false, kinds), B, false, urls);
    expect(narrowingOf(selection)).toEqual({ relays: [A], kinds: [1, 6] });
    const later = { ...tree, relays: [relay(A, { 1: 10, 30_023: 5 }), ...tree.relays.slice(1)] };
    expect(selectedCopies(later, selection)).toEqual({ copies: 10, relays: 1 });
  });

  it('is everything again, also what turns up later, when all is ticked again', () => {
    const without = withRelay(withKind(everything, 7, false, kinds), B, false, urls);
    const again = withRelay(withKind(without, 7, true, kinds), B, true, urls);
    expect(narrowingOf(again)).toEqual({});
    expect(again.relays).toBeNull();
    expect(again.kinds).toBeNull();
  });

  it('sends nothing when nothing is ticked', () => {
    const nothing = withAll(everything, false);
    expect(narrowingOf(nothing)).toBeNull();
    expect(treeTick(nothing, tree)).toBe('off');
    expect(selectedCopies(tree, nothing)).toEqual({ copies: 0, relays: 0 });
    const noKinds: SyncSelection = { ...everything, kinds: new Set() };
    expect(narrowingOf(noKinds)).toBeNull();
    expect(withAll(nothing, true)).toEqual(everything);
  });

  it('counts only relays that would get something', () => {
    const selection: SyncSelection = { ...everything, kinds: new Set([7]) };
    expect(selectedCopies(tree, selection)).toEqual({ copies: 3, relays: 1 });
  });
});

describe('the rows of the Sync tree', () => {
  it('put kinds together with the oldest observation, the most frequent first', () => {
    const relays = [relay(A, { 1: 10 }), relay(B, { 1: 4, 6: 20 })];
    const [a, b] = relays;
    if (a?.kinds[0] !== undefined) a.kinds[0].observedAt = 50;
    expect(b?.kinds[0]?.observedAt).toBe(100);
    expect(kindsTogether({ relays })).toEqual([
      { kind: 6, count: 20, observedAt: 100 },
      { kind: 1, count: 14, observedAt: 50 },
    ]);
  });

  it('hide what is collapsed and count it all the same', () => {
    const rows = syncRows(tree, everything, () => false);
    expect(rows.map(({ key, count, open, observedAt }) => [key, count, open, observedAt])).toEqual([
      ['all', 18, false, 100],
      [`relay ${A}`, 13, false, 200],
      [`relay ${B}`, 5, false, 100],
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

  it('offer no tick on kinds of a relay that is left out', () => {
    const rows = syncRows(tree, withRelay(everything, A, false, urls), () => true);
    const under = (url: string) => rows.filter((row) => row.type === 'kind' && row.relay === url);
    expect(under(A).map((row) => row.type === 'kind' && row.usable)).toEqual([false, false]);
    expect(under(B).map(({ tick }) => tick)).toEqual(['on', 'on']);
  });

  it('have nothing to open under a relay without missing copies', () => {
    const rows = syncRows({ ...tree, relays: [relay(A, {}), relay(B, { 1: 1 })] }, everything, () => false);
    expect(rows.find((row) => row.key === `relay ${A}`)).toMatchObject({ open: null, count: 0, observedAt: null });
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
