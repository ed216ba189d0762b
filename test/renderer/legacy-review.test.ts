import { describe, expect, it } from 'vitest';
import type { LegacyCheckpoint, LegacyCheckpointStatus, RunProgress } from '../../preload/contract.ts';
import { legacyAttention } from '../../renderer/state/attention.ts';
import { choicesFor, chosenFor, groupOf, isAtWork, reviewRows } from '../../renderer/state/legacy-review.ts';
import { legacyOverview } from './fixture-legacy.ts';

function fetchOf(id: number, status: LegacyCheckpointStatus, part: Partial<LegacyCheckpoint> = {}): LegacyCheckpoint {
  return {
    id,
    account: 'a'.repeat(64),
    status,
    startedAt: null,
    stoppedAt: null,
    relays: ['wss://relay.example'],
    pendingWindows: 3,
    windows: [],
    completedWindows: 0,
    eventsSeen: 0,
    windowLimit: 500,
    archivedWithin: 0,
    run: null,
    ...part,
  };
}

const running = (run: number): RunProgress[] => [
  {
    run,
    type: 'legacy-resume',
    account: 'a'.repeat(64),
    startedAt: 0,
    found: 0,
    newlyArchived: 0,
    rate: 0,
    relays: [],
    deliveries: null,
  },
];

const keysOf = (checkpoints: readonly LegacyCheckpoint[]): string[] => reviewRows(checkpoints).map(({ key }) => key);

describe('the review', () => {
  it('shows a single fetch without a head, since there is nothing to tell it from', () => {
    expect(keysOf([fetchOf(7, 'waiting')])).toEqual(['checkpoint 7']);
  });

  it('puts what is to be decided first, and what is settled last', () => {
    const rows = keysOf([
      fetchOf(1, 'replaced'),
      fetchOf(2, 'resumed', { pendingWindows: 0 }),
      fetchOf(3, 'kept'),
      fetchOf(4, 'resumed'),
      fetchOf(5, 'waiting'),
    ]);
    expect(rows).toEqual([
      'group waiting',
      'checkpoint 5',
      'group unfinished',
      'checkpoint 4',
      'group kept',
      'checkpoint 3',
      'group settled',
      'checkpoint 1',
      'checkpoint 2',
    ]);
  });

  it('orders a group by when the fetch stopped, and those that noted no time last', () => {
    const rows = keysOf([
      fetchOf(1, 'waiting'),
      fetchOf(2, 'waiting', { stoppedAt: 100 }),
      fetchOf(3, 'waiting', { stoppedAt: 200 }),
      fetchOf(4, 'waiting'),
    ]);
    expect(rows.slice(1)).toEqual(['checkpoint 3', 'checkpoint 2', 'checkpoint 1', 'checkpoint 4']);
  });

  it('has a row for each of fifty', () => {
    const { checkpoints, waiting } = legacyOverview('many', ['a'.repeat(64), 'b'.repeat(64)], 1_700_000_000);
    expect(checkpoints).toHaveLength(50);
    expect(reviewRows(checkpoints).filter(({ type }) => type === 'checkpoint')).toHaveLength(50);
    expect(checkpoints.filter((each) => groupOf(each) === 'waiting')).toHaveLength(waiting);
  });
});

describe('what can be decided', () => {
  it('is everything about a fetch that waits, and nothing about one that is settled', () => {
    expect(choicesFor(fetchOf(1, 'waiting'), [])).toEqual(['resume', 'rescan', 'keep']);
    expect(choicesFor(fetchOf(1, 'kept'), [])).toEqual(['resume', 'rescan']);
    expect(choicesFor(fetchOf(1, 'resumed'), [])).toEqual(['resume', 'rescan']);
    expect(choicesFor(fetchOf(1, 'resumed', { pendingWindows: 0 }), [])).toEqual([]);
    expect(choicesFor(fetchOf(1, 'replaced'), [])).toEqual([]);
  });

  it('is nothing while its run is at work, and again something when another one is', () => {
    const resumed = fetchOf(1, 'resumed', { run: 4 });
    expect(isAtWork(resumed, running(4))).toBe(true);
    expect(choicesFor(resumed, running(4))).toEqual([]);
    expect(choicesFor(resumed, running(5))).toEqual(['resume', 'rescan']);
    expect(isAtWork(fetchOf(2, 'waiting'), running(4))).toBe(false);
  });

  it('leaves those out of several that a choice does not fit', () => {
    const ticked = [fetchOf(1, 'waiting'), fetchOf(2, 'kept'), fetchOf(3, 'resumed')];
    const ids = (choice: 'resume' | 'rescan' | 'keep'): number[] => chosenFor(choice, ticked, []).map(({ id }) => id);
    expect(ids('resume')).toEqual([1, 2, 3]);
    expect(ids('rescan')).toEqual([1, 2, 3]);
    expect(ids('keep')).toEqual([1]);
  });
});

describe('what needs attention', () => {
  const overview = (checkpoints: LegacyCheckpoint[]) => ({ sources: [], checkpoints, waiting: 0 });
  const account = 'a'.repeat(64);

  it('counts the fetches of this account that wait, and the windows left of those that were resumed', () => {
    const items = legacyAttention(
      account,
      overview([
        fetchOf(1, 'waiting'),
        fetchOf(2, 'waiting'),
        fetchOf(3, 'waiting', { account: 'b'.repeat(64) }),
        fetchOf(4, 'resumed', { pendingWindows: 2 }),
        fetchOf(5, 'kept'),
      ]),
    );
    expect(items.map(({ text, help }) => [text, help])).toEqual([
      ['2 unfinished fetches of the first version wait for your decision.', 'old-fetches'],
      ['1 fetch of the first version was resumed and has 2 windows left.', 'old-fetches'],
    ]);
  });

  it('is nothing about what is kept for later or settled, or before anything is known', () => {
    expect(legacyAttention(account, undefined)).toEqual([]);
    const settled = [fetchOf(1, 'kept'), fetchOf(2, 'replaced'), fetchOf(3, 'resumed', { pendingWindows: 0 })];
    expect(legacyAttention(account, overview(settled))).toEqual([]);
  });
});
