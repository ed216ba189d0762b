import { describe, expect, it } from 'vitest';
import { historyOfAccount } from '../../main/coverage/history-state.ts';
import type { ActivitySnapshot, RelayProgress } from '../../preload/contract.ts';
import { saturationMarks } from '../../renderer/coverage/timeline.ts';
import { fetchingNow, isWanted } from '../../renderer/state/relay-work.ts';
import { attentionItems, resumeAllName } from '../../renderer/state/attention.ts';
import {
  accountFacts,
  activityLine,
  completenessSentence,
  countsOnRelay,
  largerLimit,
  runLength,
  unfinishedReason,
} from '../../renderer/text/sentences.ts';
import {
  accountStatus,
  endingStatus,
  healthStatus,
  historyStatus,
  relayRunStatus,
} from '../../renderer/text/status.ts';
import { sampleAccount, sampleRange, sampleRelay } from './coverage-samples.ts';

const now = Date.parse('2026-11-30T19:00:00Z') / 1000;

function progress(part: Partial<RelayProgress>): RelayProgress {
  return {
    url: 'wss://relay-a.example',
    state: 'fetching',
    pages: 1,
    found: 0,
    fetched: 0,
    newlyArchived: 0,
    rate: 0,
    reachedSecond: null,
    since: null,
    until: now,
    waitingUntil: null,
    reason: null,
    deliveries: null,
    ...part,
  };
}

const activity = (relays: RelayProgress[]): ActivitySnapshot => ({
  now,
  recent: [],
  runs: [
    {
      run: 1,
      type: 'fetch',
      account: 'a',
      startedAt: now - 5,
      found: 9,
      newlyArchived: 1204,
      rate: 412,
      relays,
      deliveries: null,
    },
  ],
});

describe('the header of an account', () => {
  it('does not claim zero events before anything was fetched', () => {
    expect(accountFacts(sampleAccount(), now, 'UTC')).toBe('Nothing fetched yet · 1 relay');
  });

  it('says what is here in one sentence', () => {
    const account = sampleAccount({
      archive: { events: 12_431, oldest: Date.parse('2022-03-01T12:00:00Z') / 1000, newest: now - 60 },
      sourceRelays: 5,
      checkedAt: now - 240,
    });
    expect(accountFacts(account, now, 'UTC')).toBe(
      '12,431 events · Mar 2022 – today · 5 relays · last checked 4 min ago',
    );
  });

  it('says how many relays were walked to the end', () => {
    expect(completenessSentence(sampleAccount({ sourceRelays: 5, completeRelays: 3 }))).toContain('3 of 5');
    expect(completenessSentence(sampleAccount({ sourceRelays: 0 }))).toContain('no relay to fetch from');
  });
});

describe('the activity bar', () => {
  it('has nothing to say without a run', () => {
    expect(activityLine({ now, runs: [], recent: [] }, now)).toBeNull();
  });

  it('counts only relays that are fetching and names the one that waits', () => {
    const line = activityLine(
      activity([
        progress({}),
        progress({ url: 'wss://b.example', state: 'complete' }),
        progress({
          url: 'wss://c.example',
          state: 'cooling-down',
          waitingUntil: now + 41,
          reason: 'rate limited by the relay',
        }),
      ]),
      now,
    );
    expect(line).toBe('1 relay fetching · 1,204 new · 412 found/s · c.example waits 41 s (rate limited)');
  });

  it('forgets a wait that is over', () => {
    expect(activityLine(activity([progress({ waitingUntil: now - 1 })]), now)).not.toContain('wait');
  });
});

describe('the length of a run', () => {
  it('is that from its start to its end, or to now, and not told where a pause lies in between', () => {
    expect(runLength({ startedAt: now - 102, finishedAt: now, resumed: false }, now + 50)).toBe('1 min 42 s');
    expect(runLength({ startedAt: now - 41, finishedAt: null, resumed: false }, now)).toBe('41 s');
    expect(runLength({ startedAt: now - 102, finishedAt: now, resumed: true }, now)).toBe('with a pause');
  });
});

describe('counts of a relay', () => {
  it('never adds overlapping ranges up', () => {
    const relay = sampleRelay([
      sampleRange({ found: 100, fetched: 99 }),
      sampleRange({ id: 2, since: 1990, until: 3000, found: 30 }),
    ]);
    expect(countsOnRelay(relay, undefined)).toEqual({ found: 100, fetched: 99, exact: false });
  });

  it('are exact from presence, however many ranges there are, and grow with every later fetch', () => {
    const relay = sampleRelay([
      sampleRange({ found: 100, fetched: 99 }),
      sampleRange({ id: 2, since: 1990, until: 3000, found: 30 }),
    ]);
    const held = (present: number) => ({
      url: relay.url,
      present,
      absent: 3,
      undetermined: 1,
      past: { present: 0, absent: 0 },
    });
    expect(countsOnRelay(relay, held(128))).toEqual({ found: 128, fetched: 128, exact: true });
    expect(countsOnRelay(relay, held(140))?.found).toBe(140);
    const lacking = sampleRelay([
      ...relay.ranges,
      sampleRange({ id: 3, since: 2990, found: 9, fetched: 7, notFetched: 2 }),
    ]);
    expect(countsOnRelay(lacking, held(128))).toEqual({ found: 130, fetched: 128, exact: true });
  });

  it('is exact for one complete range and unknown when the only range failed', () => {
    const exactly = { found: 7, fetched: 10, exact: true };
    const counts = (...ranges: ReturnType<typeof sampleRange>[]) => countsOnRelay(sampleRelay(ranges), undefined);
    expect(counts(sampleRange({ found: 7 }))).toEqual(exactly);
    const nothingSince = sampleRange({ id: 2, since: 1990, until: 3000, found: 0 });
    expect(counts(sampleRange({ found: 7 }), nothingSince)).toEqual(exactly);
    expect(counts(sampleRange({ status: 'failed', found: 0 }))).toBeNull();
    expect(counts(sampleRange({ status: 'active', found: 0 }))).toBeNull();
    expect(counts()).toBeNull();
  });
});

describe('states', () => {
  it('shows a run before anything else, then the word that its relays have', () => {
    expect(accountStatus(sampleAccount({ activeRun: 3, unfinishedRanges: 2 })).word).toBe('Fetching');
    for (const ranges of [
      [],
      [sampleRange()],
      [sampleRange({ status: 'failed' })],
      [sampleRange(), sampleRange({ id: 2, status: 'partial' })],
    ]) {
      const relay = sampleRelay(ranges);
      expect(accountStatus(sampleAccount({ history: historyOfAccount([relay.history]) }))).toEqual(
        historyStatus(relay),
      );
    }
    expect(accountStatus(sampleAccount({ history: historyOfAccount(['complete', 'never-asked']) })).word).toBe(
      'Partial',
    );
  });

  it('does not call a relay complete while one of its ranges is not', () => {
    const complete = sampleRange();
    expect(historyStatus(sampleRelay([complete])).word).toBe('Complete');
    expect(historyStatus(sampleRelay([complete, sampleRange({ status: 'failed' })])).word).toBe('Partial');
    expect(historyStatus(sampleRelay([sampleRange({ status: 'failed' })])).word).toBe('Failed');
    expect(historyStatus(undefined)).toEqual(historyStatus(sampleRelay([])));
    expect(historyStatus(undefined).word).toBe('Never asked');
  });

  it('keeps a query under way apart from every ending', () => {
    expect(endingStatus(null).word).toBe('Fetching');
    expect(endingStatus('auth-required').tone).toBe('warn');
  });
});

describe('one state has one name', () => {
  it('says what a relay waits for, in a run and on the list of relays', () => {
    const word = (state: RelayProgress['state'], waitingUntil: number | null) =>
      relayRunStatus({ state, waitingUntil }).word;
    expect(word('cooling-down', now)).toBe('Waits (rate limited)');
    expect(word('connecting', now)).toBe('Waits to reconnect');
    expect(word('connecting', null)).toBe('Connecting');
    expect(word('waiting', null)).toBe('Waiting');
    expect(healthStatus({ state: 'rate-limited', connected: true }, true).word).toBe('Waits (rate limited)');
    expect(healthStatus({ state: 'degraded', connected: false }, true).word).toBe('Waits to reconnect');
  });

  it('waits for nothing when no run wants anything of the relay', () => {
    expect(healthStatus({ state: 'rate-limited', connected: true }, false).word).toBe('Rate limited');
    expect(healthStatus({ state: 'degraded', connected: false }, false).word).toBe('Unreachable');
    const { runs } = activity([
      progress({ state: 'connecting', waitingUntil: now }),
      progress({ url: 'wss://b.example', state: 'complete' }),
    ]);
    expect(isWanted(runs, 'wss://relay-a.example')).toBe(true);
    expect(isWanted(runs, 'wss://b.example')).toBe(false);
    expect(isWanted([], 'wss://relay-a.example')).toBe(false);
  });

  it('tells of a relay what a fetch does there now, of the account and range that it is for', () => {
    const { runs } = activity([progress({ state: 'cooling-down', since: 5, until: 9 })]);
    const url = 'wss://relay-a.example';
    expect(fetchingNow(runs, 'a', url)?.state).toBe('cooling-down');
    expect(fetchingNow(runs, 'a', url, { since: 5, until: 9 })?.state).toBe('cooling-down');
    expect(fetchingNow(runs, 'a', url, { since: null, until: 9 })).toBeNull();
    expect(fetchingNow(runs, 'b', url)).toBeNull();
    expect(
      fetchingNow(
        runs.map((run) => ({ ...run, type: 'sync' as const })),
        'a',
        url,
      ),
    ).toBeNull();
  });

  it('calls work in progress the same for ranges, runs and relays', () => {
    expect(relayRunStatus(progress({}))).toBe(relayRunStatus(progress({ state: 'active' })));
    expect(historyStatus(sampleRelay([sampleRange({ status: 'active' })])).word).toBe('Fetching');
  });

  it('never tells a comparison that paging took over from as a failure', () => {
    for (const ending of ['neg-err', 'closed', 'notice', 'timeout', 'disconnect', 'failed'] as const) {
      expect(endingStatus(ending, true).tone).toBe('quiet');
    }
    expect(endingStatus('neg-complete', true).tone).toBe('good');
  });
});

describe('what needs attention', () => {
  it('stands failures first and keeps the reason with them', () => {
    const items = attentionItems(sampleAccount(), {
      account: 'a',
      archive: { events: 1, oldest: null, newest: null },
      relays: [
        sampleRelay([sampleRange({ status: 'partial', reason: 'It closed.', resumable: true })]),
        sampleRelay([sampleRange({ id: 2, status: 'failed', found: 0, reason: 'It is down.', resumable: true })], {
          url: 'wss://down.example',
        }),
        sampleRelay([sampleRange({ id: 3, status: 'failed' })], { url: 'wss://former.example', role: 'former' }),
      ],
    });
    expect(items.map((item) => item.key)).toEqual(['range 2', 'range 1']);
    expect(items[0]?.text).toContain('It is down.');
    expect(items[0]?.text).not.toContain('0 event');
    expect(items[1]?.text).toContain('So far 10 events were seen there.');
    expect(resumeAllName(items)).toBe('Resume all 2');
  });

  it('offers to go on with what was cancelled, whatever second it also named', () => {
    const range = sampleRange({ status: 'partial', saturatedSeconds: [1500], resumable: true });
    const tree = { account: 'a', archive: { events: 1, oldest: null, newest: null }, relays: [sampleRelay([range])] };
    expect(attentionItems(sampleAccount(), tree)[0]?.help).toBe('resume');
  });

  it('offers a larger page for a saturated second', () => {
    const items = attentionItems(sampleAccount(), {
      account: 'a',
      archive: { events: 1, oldest: null, newest: null },
      relays: [sampleRelay([sampleRange({ status: 'partial', saturatedSeconds: [1500] })])],
    });
    expect(items[0]?.help).toBe('larger-page');
    expect([largerLimit(100), largerLimit(20), largerLimit(4000)]).toEqual([500, 500, 5000]);
  });

  it('does not ask for what a later range closed', () => {
    const closed = [
      sampleRange({ status: 'partial', saturatedSeconds: [1500], closedBy: 4 }),
      sampleRange({ id: 2, status: 'failed', resumable: true, closedBy: 4 }),
      sampleRange({ id: 3, notFetched: 2, resumable: true, closedBy: 4 }),
    ];
    const relay = sampleRelay([...closed, sampleRange({ id: 4, until: 3000 })]);
    const tree = { account: 'a', archive: { events: 1, oldest: null, newest: null }, relays: [relay] };
    expect(attentionItems(sampleAccount(), tree)).toEqual([]);
    expect(historyStatus(relay).word).toBe('Complete');
    expect(saturationMarks(closed, { start: 1000, end: 2000 })).toEqual([]);
  });

  it('asks for relays when there is none', () => {
    const tree = { account: 'a', archive: { events: 0, oldest: null, newest: null }, relays: [] };
    expect(attentionItems(sampleAccount({ sourceRelays: 0 }), tree)[0]?.help).toBe('edit-relays');
  });

  it('says so when no reason was recorded', () => {
    expect(unfinishedReason(sampleRange({ status: 'failed' }))).toContain('no reason was recorded');
  });
});
