import { describe, expect, it } from 'vitest';
import {
  anyOverlap,
  gapSentence,
  gapsOf,
  segmentsOf,
  stateAt,
  timeAxis,
  uncovered,
} from '../../renderer/coverage/timeline.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

const DAY = 86_400;
const now = 100 * DAY;
const none = new Map<number, number>();

describe('what is not covered', () => {
  it('is nothing for a history that was walked to today', () => {
    expect(gapsOf([sampleRange({ until: now - 3600 })], none, now)).toEqual([]);
    expect(gapSentence([])).toBeNull();
  });

  it('is everything before the first walk, and after a failed one', () => {
    const all = [{ since: null, until: null }];
    expect(gapsOf([], none, now)).toEqual(all);
    expect(gapsOf([sampleRange({ status: 'failed', until: now })], none, now)).toEqual(all);
    expect(gapSentence(all)).toBe('Nothing is covered yet.');
  });

  it('is nothing for a walk to its end that left only single seconds open', () => {
    const range = sampleRange({ status: 'partial', saturatedSeconds: [5 * DAY], until: now, reachedEnd: true });
    expect(gapsOf([range], none, now)).toEqual([]);
    expect(gapsOf([{ ...range, reachedEnd: false }], none, now)).toHaveLength(1);
  });

  it('names every stretch between ranges, and none where they touch or overlap', () => {
    const ranges = [
      sampleRange({ until: 10 * DAY }),
      sampleRange({ id: 2, since: 10 * DAY - 10, until: 20 * DAY }),
      sampleRange({ id: 3, since: 20 * DAY + 1, until: 30 * DAY }),
      sampleRange({ id: 4, since: 40 * DAY, until: now }),
    ];
    expect(gapsOf(ranges, none, now)).toEqual([{ since: 30 * DAY, until: 40 * DAY }]);
    expect(gapSentence(gapsOf(ranges, none, now), 'UTC')).toBe('Not covered: 31 Jan 1970 00:00 → 10 Feb 1970 00:00.');
  });

  it('counts the walked part of an unfinished range only', () => {
    const range = sampleRange({ status: 'partial', until: now });
    expect(gapsOf([range], new Map([[1, 60 * DAY]]), now)).toEqual([{ since: null, until: 60 * DAY }]);
    expect(gapsOf([range], none, now)).toEqual([{ since: null, until: null }]);
  });

  it('lists three stretches and counts the rest', () => {
    const gaps = [1, 2, 3, 4, 5].map((day) => ({ since: day * DAY, until: day * DAY + 9 }));
    expect(gapSentence(gaps, 'UTC')).toContain(' and 2 more stretches.');
  });

  it('is drawn over never asked, not reached and failed parts', () => {
    const axis = { start: 1000, end: 2000 };
    const segments = segmentsOf(
      [sampleRange({ since: 1200, until: 1600, status: 'partial' })],
      axis,
      new Map([[1, 1400]]),
    );
    expect(uncovered(segments).map((part) => [part.left, Math.round(part.width * 10) / 10])).toEqual([
      [0, 0.4],
      [0.6, 0.4],
    ]);
    expect([0.1, 0.3, 0.5, 0.9].map((at) => stateAt(segments, at))).toEqual([
      'never asked',
      'not reached',
      'partial',
      'never asked',
    ]);
  });
});

describe('overlapping ranges', () => {
  it('are noticed by one shared second', () => {
    const first = sampleRange({ until: 100 });
    expect(anyOverlap([first, sampleRange({ id: 2, since: 100, until: 200 })])).toBe(true);
    expect(anyOverlap([first, sampleRange({ id: 2, since: 101, until: 200 })])).toBe(false);
    expect(anyOverlap([first, sampleRange({ id: 2, until: 200 })])).toBe(true);
  });
});

describe('an axis that stays calm', () => {
  const archive = (oldest: number) => ({ events: 1, oldest, newest: now });
  const today = Date.UTC(2026, 10, 30) / 1000;

  it('stands still while a walk reaches older seconds of the same year', () => {
    const walking = [sampleRelay([sampleRange()]), sampleRelay([sampleRange({ id: 2, status: 'active' })])];
    const at = (text: string) => timeAxis(archive(Date.parse(text) / 1000), walking, today).start;
    expect(at('2022-08-01T00:00:00Z')).toBe(at('2022-03-04T00:00:00Z'));
  });

  it('is not stretched by an event that claims an implausible time', () => {
    const first = Date.UTC(2024, 0, 1) / 1000;
    expect(timeAxis(archive(5), [], today, first).start).toBeGreaterThan(first - 60 * DAY);
  });
});
