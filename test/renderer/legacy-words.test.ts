import { describe, expect, it } from 'vitest';
import type { LegacySource, LegacyTableCount } from '../../preload/contract.ts';
import {
  addsUp,
  carryingLine,
  checkpointStatus,
  choiceName,
  choiceSentences,
  legacyLine,
  legacyProblems,
  notedTime,
  operationStatus,
  outcomeSentence,
  problemSentence,
  reportSentence,
  sourceName,
  stoppedAdvice,
  tableName,
  waitingSentence,
  windowsSpan,
} from '../../renderer/text/legacy.ts';
import { strategyName, strategyWord, runTypeName } from '../../renderer/text/sentences.ts';

const counts = (part: Partial<LegacyTableCount> = {}): LegacyTableCount => ({
  table: 'events',
  before: 10,
  carried: 10,
  merged: 0,
  aside: 0,
  information: 0,
  ...part,
});

const source = (part: Partial<LegacySource> = {}): LegacySource => ({
  id: 1,
  file: null,
  state: 'done',
  done: 10,
  total: 10,
  startedAt: 1_700_000_000,
  finishedAt: 1_700_000_010,
  tables: [counts()],
  remarks: 0,
  copy: '/data/copy.db',
  stoppedBecause: null,
  ...part,
});

describe('what waits', () => {
  it('is said with its number, and not at all when nothing does', () => {
    expect(waitingSentence(0)).toBeNull();
    expect(waitingSentence(1)).toBe(
      '1 unfinished fetch of the first version waits for your decision. Nothing starts by itself.',
    );
    expect(waitingSentence(50)).toMatch(/^50 unfinished fetches of the first version wait for your decision\./);
  });
});

describe('the status of an old fetch', () => {
  const at = (status: Parameters<typeof checkpointStatus>[0]['status'], pendingWindows: number, running = false) =>
    checkpointStatus({ status, pendingWindows }, running);

  it('tells what was decided, and whether anything is left', () => {
    expect(at('waiting', 3)).toMatchObject({ word: 'To decide', tone: 'warn' });
    expect(at('kept', 3)).toMatchObject({ word: 'Kept for later', tone: 'quiet' });
    expect(at('resumed', 3)).toMatchObject({ word: 'Resumed in part', tone: 'warn' });
    expect(at('resumed', 0)).toMatchObject({ word: 'Resumed to its end', tone: 'good' });
    expect(at('replaced', 3)).toMatchObject({ word: 'Replaced by a scan', tone: 'quiet' });
  });

  it('is that of the run while one is at work', () => {
    expect(at('resumed', 3, true)).toMatchObject({ word: 'Resuming', tone: 'busy' });
    expect(at('resumed', 0, true)).toMatchObject({ word: 'Resuming', tone: 'busy' });
    expect(at('replaced', 3, true)).toMatchObject({ word: 'Being scanned', tone: 'busy' });
  });
});

describe('the choices', () => {
  it('name how many fetches they are for', () => {
    expect(choiceName('resume', 0)).toBe('Resume');
    expect(choiceName('resume', 1)).toBe('Resume');
    expect(choiceName('resume', 3)).toBe('Resume 3');
    expect(choiceName('rescan', 12)).toBe('New scan for 12');
    expect(choiceName('keep', 2)).toBe('Keep 2 for later');
  });

  it('are each explained in one sentence', () => {
    for (const sentence of Object.values(choiceSentences)) {
      expect(sentence).toMatch(/^[A-Z].*\.$/);
      expect(sentence.match(/\./g)).toHaveLength(1);
    }
  });
});

describe('times', () => {
  it('that the first version did not note are unknown, and never invented', () => {
    expect(notedTime(null)).toBe('not recorded');
    expect(notedTime(1_700_000_000, 'UTC')).toBe('14 Nov 2023 22:13:20');
  });

  it('of windows go from the oldest to the newest of them', () => {
    const url = 'wss://relay.example';
    expect(windowsSpan([])).toBe('');
    expect(windowsSpan([{ url, since: 1_609_500_000, until: 1_609_600_000 }], 'UTC')).toBe('Jan 2021');
    expect(
      windowsSpan(
        [
          { url, since: 1_670_000_000, until: 1_680_000_000 },
          { url, since: 1_609_500_000, until: 1_609_600_000 },
        ],
        'UTC',
      ),
    ).toBe('Jan 2021 – Mar 2023');
  });
});

describe('what the first version said of a relay', () => {
  const line = {
    status: 'complete',
    oldest: 1_609_500_000,
    newest: 1_680_000_000,
    events: 1204,
    updatedAt: 1_690_000_000,
  };

  it('is told as what it said, with its ground left open', () => {
    expect(legacyLine(line, 'UTC')).toBe(
      'The first version said on 22 Jul 2023: complete, 1,204 events, 2021–2023. It did not record how it knew, so nothing follows from it.',
    );
  });

  it('leaves out what it did not note', () => {
    const bare = { ...line, status: 'failed', oldest: null, newest: null, events: 0, updatedAt: null };
    expect(legacyLine(bare, 'UTC')).toMatch(/^The first version said: failed, 0 events\. It did not record/);
    expect(legacyLine({ ...line, oldest: null }, 'UTC')).toContain('up to 2023.');
    expect(legacyLine({ ...line, newest: null }, 'UTC')).toContain('from 2021 on.');
    expect(legacyLine({ ...line, newest: 1_610_000_000 }, 'UTC')).toContain(', 2021.');
  });

  it('isolates a status that it does not know', () => {
    expect(legacyLine({ ...line, status: 'a\u202eb' }, 'UTC')).not.toContain('\u202e');
  });
});

describe('the report', () => {
  it('says that nothing was wrong only where nothing was', () => {
    expect(reportSentence(source())).toEqual({
      tone: 'good',
      text: 'All 10 rows are accounted for. None of them had a problem.',
    });
    expect(reportSentence(source({ remarks: 1 }))).toMatchObject({ tone: 'good' });
    expect(reportSentence(source({ remarks: 1 })).text).toContain('1 remark says');
    const aside = source({ remarks: 2, tables: [counts({ carried: 8, aside: 2 })] });
    expect(reportSentence(aside)).toMatchObject({ tone: 'warn' });
    expect(reportSentence(aside).text).toContain('2 rows were kept aside, whole.');
  });

  it('is bad when a table does not add up, however few rows it is about', () => {
    expect(addsUp(counts({ carried: 4, merged: 3, aside: 2, information: 1 }))).toBe(true);
    expect(addsUp(counts({ carried: 9 }))).toBe(false);
    expect(addsUp(counts({ carried: 11 }))).toBe(false);
    expect(reportSentence(source({ tables: [counts(), counts({ carried: 9 })] })).tone).toBe('bad');
    // Too many in one table do not make up for too few in another.
    expect(reportSentence(source({ tables: [counts({ carried: 11 }), counts({ carried: 9 })] })).tone).toBe('bad');
  });

  it('names tables by what they hold, and an unknown one by itself', () => {
    expect(tableName('presence')).toBe('Events seen on relays');
    expect(tableName('other')).toBe('other');
  });

  it('has words for every problem and outcome', () => {
    for (const problem of legacyProblems) expect(problemSentence(problem)).toMatch(/\.$/);
    for (const outcome of ['aside', 'merged', 'carried'] as const) expect(outcomeSentence(outcome)).toMatch(/\.$/);
  });
});

describe('bringing over', () => {
  it('says how far it is, all databases together, and nothing when none is at work', () => {
    expect(carryingLine([])).toBeNull();
    expect(carryingLine([source()])).toBeNull();
    const half = source({ state: 'carrying', done: 1000, total: 4000 });
    expect(carryingLine([source(), half, { ...half, id: 3 }])).toBe(
      'Bringing over the first version: 2,000 of 8,000 rows (25 %)',
    );
  });

  it('is not said to go on where it stopped', () => {
    expect(carryingLine([source({ state: 'carrying', done: 1, stoppedBecause: 'The disk is full.' })])).toBeNull();
  });

  it('says what helps where it stopped', () => {
    expect(stoppedAdvice({ file: null })).not.toContain('Settings');
    expect(stoppedAdvice({ file: '/old.db' })).toContain('Settings');
  });

  it('shows a path without what cannot be seen in it', () => {
    expect(sourceName({ file: '/a\u202eb.db' })).not.toContain('\u202e');
  });
});

describe('runs', () => {
  it('of the first version keep their own words, and unknown ones too', () => {
    expect(operationStatus({ status: 'running' }).word).toBe('Ended while it ran');
    expect(operationStatus({ status: 'odd' }).word).toBe('odd');
  });

  it('that go on with its windows are named plainly', () => {
    expect(runTypeName('legacy-resume')).toBe('Resume of an old fetch');
    expect(strategyWord('legacy-windows')).toBe('first-version windows');
    expect(strategyName('legacy-windows')).toMatch(/^Windows of the first version/);
  });
});
