import { describe, expect, it } from 'vitest';
import type { CoverageAttempt } from '../../preload/contract.ts';
import { CoverageDetails } from '../../renderer/coverage/details.ts';
import {
  coverageRows,
  parentIndex,
  saturatedList,
  saturationSentence,
  type RowSources,
} from '../../renderer/coverage/rows.ts';
import { fixtureApi } from './fixture-api.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

function attempt(part: Partial<CoverageAttempt> = {}): CoverageAttempt {
  return {
    id: 11,
    run: 1,
    prior: null,
    continued: false,
    strategy: 'paging',
    status: 'complete',
    limit: 100,
    startedAt: 1,
    completedAt: 2,
    cursor: null,
    reason: null,
    found: 1,
    fetched: 1,
    received: 1,
    newlyArchived: 1,
    queryCount: 3,
    ...part,
  };
}

function sources(
  open: string[],
  attempts: CoverageAttempt[] | null = null,
  part: Partial<RowSources> = {},
): RowSources {
  return {
    isOpen: (key) => open.includes(key),
    attempts: () => (attempts === null ? undefined : { attempts, error: null }),
    query: () => undefined,
    months: () => null,
    gaps: () => null,
    ...part,
  };
}

const relayKey = 'relay wss://relay.example';

describe('rows of the coverage tree', () => {
  it('shows relays only until one is opened', () => {
    const relays = [sampleRelay([sampleRange()])];
    expect(coverageRows(relays, sources([])).map((row) => row.type)).toEqual(['relay']);
    expect(coverageRows(relays, sources([relayKey])).map((row) => row.type)).toEqual(['relay', 'range']);
  });

  it('stands ranges in the order of time, Beginning first', () => {
    const relay = sampleRelay([
      sampleRange({ id: 3, since: 2990, until: 4000 }),
      sampleRange({ id: 1 }),
      sampleRange({ id: 2, since: 1990, until: 3000 }),
    ]);
    const rows = coverageRows([relay], sources([relayKey]));
    const keys = rows.map((row) => row.key);
    expect(keys).toEqual([relayKey, 'range 1', 'range 2', 'range 3', 'overlap wss://relay.example']);
    expect(rows.at(-1)).toMatchObject({ text: expect.stringContaining('An event counts in each that covers it') });
  });

  it('keeps the reason of an unfinished range before its facts, with Resume when that is possible', () => {
    const range = sampleRange({ status: 'partial', reason: 'It closed.', resumable: true });
    const rows = coverageRows([sampleRelay([range])], sources([relayKey, 'range 1']));
    expect(rows[2]).toMatchObject({ type: 'note', text: 'It closed.', offers: ['resume'], tone: 'warn' });
    expect(rows[3]?.type).toBe('range-facts');
  });

  it('tells a range that a later one covers as history that wants nothing', () => {
    const range = sampleRange({
      status: 'partial',
      reason: 'It closed.',
      resumable: true,
      notFetched: 2,
      saturatedSeconds: [1500],
      closedBy: 2,
    });
    const rows = coverageRows(
      [sampleRelay([range, sampleRange({ id: 2, until: 4000 })])],
      sources([relayKey, 'range 1']),
    );
    const notes = rows.flatMap((row) => (row.type === 'note' && row.level === 3 ? [row] : []));
    expect(notes.map((note) => note.key)).toEqual(['closed 1', 'reason 1', 'saturated 1', 'bodies 1']);
    expect(notes[0]?.text).toContain('covers all of this one and is complete');
    for (const note of notes) expect(note).toMatchObject({ tone: 'quiet', offers: [] });
  });

  it('offers a larger page once, on the row that names the reason', () => {
    const range = sampleRange({ status: 'partial', reason: 'Second 1500 is saturated.', saturatedSeconds: [1500] });
    const notes = coverageRows([sampleRelay([range])], sources([relayKey, 'range 1'])).filter(
      (row) => row.type === 'note',
    );
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatchObject({ offers: ['larger-page', 'compare'] });
  });

  it('says that a relay without ranges was never asked', () => {
    const rows = coverageRows([sampleRelay([])], sources([relayKey]));
    expect(rows[1]).toMatchObject({ type: 'note', tone: 'quiet' });
  });

  it('has a row for every query before any of them is loaded', () => {
    const open = [relayKey, 'range 1', 'attempts 1', 'attempt 11'];
    const rows = coverageRows([sampleRelay([sampleRange()])], sources(open, [attempt()]));
    expect(rows.filter((row) => row.type === 'query').map((row) => row.key)).toEqual([
      'query 11 0',
      'query 11 1',
      'query 11 2',
    ]);
  });

  it('names the attempt that was repeated by its recorded number', () => {
    const open = [relayKey, 'range 1', 'attempts 1', 'attempt 12'];
    const rows = coverageRows(
      [sampleRelay([sampleRange()])],
      sources(open, [attempt({ id: 12, prior: 11, queryCount: 0 }), attempt()]),
    );
    expect(rows.find((row) => row.type === 'attempt-facts')).toMatchObject({
      relation: { prior: { number: 11, how: 'repeats' }, replacedBy: null },
    });
  });

  it('finds the parent that Left goes to', () => {
    const rows = coverageRows([sampleRelay([sampleRange()])], sources([relayKey, 'range 1']));
    expect(parentIndex(rows, 2)).toBe(1);
    expect(parentIndex(rows, 1)).toBe(0);
    expect(parentIndex(rows, 0)).toBe(-1);
  });

  it('has no limit on the number of queries', () => {
    const open = [relayKey, 'range 1', 'attempts 1', 'attempt 11'];
    const rows = coverageRows([sampleRelay([sampleRange()])], sources(open, [attempt({ queryCount: 20_000 })]));
    expect(rows.length).toBeGreaterThan(20_000);
  });

  it('lists every saturated second in the facts of its range', () => {
    const seconds = [4, 3, 2, 1, 0];
    expect(saturatedList({ saturatedSeconds: seconds }, 'UTC').split(', ')).toEqual(
      [0, 1, 2, 3, 4].map((second) => `1 Jan 1970 00:00:0${second}`),
    );
  });

  it('names at most three saturated seconds', () => {
    expect(saturationSentence({ saturatedSeconds: [1] }, 'UTC')).toContain('The second 1 Jan 1970 00:00:01 holds');
    expect(saturationSentence({ saturatedSeconds: [1, 2, 3, 4, 5] }, 'UTC')).toContain('5 seconds');
    expect(saturationSentence({ saturatedSeconds: [1, 2, 3, 4, 5] }, 'UTC')).toContain('and 2 more');
  });
});

describe('details of the coverage tree', () => {
  const api = fixtureApi({ now: 1_800_000_000, scene: 'rich', theme: 'system' });
  /** Details that count their calls; `arrival` resolves when the next answer is in. */
  const watched = (nowMs: () => number) => {
    const calls: string[] = [];
    let arrived: () => void = () => undefined;
    const counting: typeof api = {
      ...api,
      call: (method, args) => {
        calls.push(method);
        return api.call(method, args);
      },
    };
    const details = new CoverageDetails(counting, nowMs, () => arrived());
    const arrival = (): Promise<void> => new Promise((resolve) => (arrived = resolve));
    return { calls, details, arrival };
  };

  it('asks for the attempts of a range once while it stays as it is, newest first', async () => {
    const { calls, details, arrival } = watched(() => 0);
    const range = sampleRange({ id: 2, attemptCount: 200, queryCount: 6400, status: 'partial' });
    details.wantAttempts(range);
    details.wantAttempts(range);
    await arrival();
    details.wantAttempts(range);
    expect(calls).toEqual(['coverage.attempts']);
    const ids = details.attempts(2)?.attempts?.map((each) => each.id) ?? [];
    expect(ids).toHaveLength(200);
    expect(ids[0]).toBeGreaterThan(ids[199] ?? Infinity);
  });

  it('asks again for a running range, but not with every snapshot', async () => {
    let now = 0;
    const { calls, details, arrival } = watched(() => now);
    const range = (queryCount: number) => sampleRange({ id: 5, status: 'active', queryCount });
    details.wantAttempts(range(1));
    await arrival();
    details.wantAttempts(range(2));
    expect(calls).toHaveLength(1);
    now = 3000;
    details.wantAttempts(range(3));
    expect(calls).toHaveLength(2);
  });

  it('loads queries by the page that is looked at', async () => {
    const { calls, details, arrival } = watched(() => 0);
    const [newest] = await api.call('coverage.attempts', { range: 2 }).then((all) => all.slice(-1));
    if (newest === undefined) throw new Error('The fixture has no attempt.');
    details.wantQuery(newest, 250);
    details.wantQuery(newest, 251);
    await arrival();
    expect(calls).toEqual(['coverage.queries']);
    expect(details.query(newest.id, 299)).toMatchObject({ type: 'REQ' });
    expect(details.query(newest.id, 300)).toBeUndefined();
  });
});
