import { describe, expect, it } from 'vitest';
import type { CoverageTimeline } from '../../preload/contract.ts';
import {
  columnPaths,
  columnScale,
  describeArchive,
  describeMonths,
  monthAt,
  monthFound,
  monthLine,
  monthSentence,
  monthsOfRelay,
  type MonthCount,
} from '../../renderer/coverage/month-columns.ts';

const month = (index: number): number => Date.UTC(2024, index, 1) / 1000;
const timeline: CoverageTimeline = {
  account: 'a',
  months: [month(0), month(1), month(2)],
  archived: [100, 0, 420],
  relays: [{ url: 'wss://r.example', present: [90, 0, 400], absent: [10, 0, 1] }],
  implausible: 0,
  computedAt: 1,
};
const axis = { start: month(0), end: month(3) };
const months = monthsOfRelay(timeline, 'wss://r.example') ?? [];

/** Rectangles of a path as [left, top, width, height]. */
const boxes = (path: string): number[][] =>
  [...path.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z/g)].map((match) => match.slice(1).map(Number));

describe('months of a relay', () => {
  it('leaves undetermined what is neither present nor absent', () => {
    expect(months.map((each) => each.undetermined)).toEqual([0, 0, 19]);
    expect(monthsOfRelay(timeline, 'wss://other.example')).toBeNull();
  });

  it('says a month in words, without a zero that reads as an answer', () => {
    expect(months.map(monthSentence)).toEqual([
      '90 present · 10 absent',
      'nothing archived',
      '400 present · 1 absent · 19 undetermined',
    ]);
    const unknown: MonthCount = { start: 0, end: 1, archived: 7, present: 0, absent: 0, undetermined: 7 };
    expect(monthSentence(unknown)).toBe('all 7 undetermined');
  });

  it('counts as found what the relay holds, and names the size of the archive apart', () => {
    expect(months.map(monthFound)).toEqual(['90', '–', '400']);
    expect(months.map(monthLine)).toEqual([
      '90 present · 10 absent · of 100 archived',
      'nothing archived',
      '400 present · 1 absent · 19 undetermined · of 420 archived',
    ]);
    const unknown: MonthCount = { start: 0, end: 1, archived: 7, present: 0, absent: 0, undetermined: 7 };
    expect([monthFound(unknown), monthLine(unknown)]).toEqual(['–', 'all 7 undetermined']);
    expect(monthFound({ ...unknown, absent: 7, undetermined: 0 })).toBe('0');
  });

  it('says all of them in one sentence and names the worst', () => {
    expect(describeMonths(months)).toBe(
      'Of 520 archived events, Jan 2024 to Mar 2024: 490 present, 11 absent, 19 undetermined; most are absent in Jan 2024 (10)',
    );
    expect(describeMonths([])).toBe('Nothing is archived yet');
    expect(describeArchive(months)).toBe('520 archived events by month; most in Mar 2024 (420)');
    expect(describeArchive([])).toBe('Nothing is archived yet');
  });

  it('finds the month of a second', () => {
    expect(monthAt(months, month(1))?.start).toBe(month(1));
    expect(monthAt(months, month(3) - 1)?.start).toBe(month(2));
    expect(monthAt(months, month(3))).toBeUndefined();
  });
});

describe('columns', () => {
  it('share a round scale that a few more events do not change', () => {
    expect(columnScale(timeline)).toBe(500);
    expect(columnScale({ ...timeline, archived: [430] })).toBe(500);
    expect(columnScale({ ...timeline, archived: [] })).toBe(1);
  });

  it('stack present, absent and undetermined without overlap, up to the archive', () => {
    const paths = columnPaths(months, axis, { width: 300, height: 100 }, 500, 1);
    const present = boxes(paths.present);
    const absent = boxes(paths.absent);
    const undetermined = boxes(paths.undetermined);
    expect(present).toHaveLength(2);
    expect(present[1]?.[1]).toBe(20);
    expect((absent[1]?.[1] ?? 0) + (absent[1]?.[3] ?? 0)).toBe(20);
    expect((undetermined[0]?.[1] ?? 0) + (undetermined[0]?.[3] ?? 0)).toBe(absent[1]?.[1]);
  });

  it('show a single absent copy', () => {
    const paths = columnPaths(months, axis, { width: 300, height: 20 }, 500, 1);
    expect(boxes(paths.absent)[1]?.[3]).toBe(1);
  });

  it('stand on device pixels whatever the ratio, and inside the picture', () => {
    for (const ratio of [1, 1.25, 1.5, 2, 3]) {
      const paths = columnPaths(months, axis, { width: 319, height: 28 }, 410, ratio);
      for (const box of boxes(paths.present + paths.absent + paths.undetermined)) {
        for (const edge of box) expect(Math.abs(edge * ratio - Math.round(edge * ratio))).toBeLessThan(0.01);
        expect(box[1]).toBeGreaterThanOrEqual(0);
        expect((box[0] ?? 0) + (box[2] ?? 0)).toBeLessThanOrEqual(320);
      }
    }
  });

  it('leave months outside of the axis away', () => {
    const paths = columnPaths(months, { start: month(1), end: month(2) }, { width: 300, height: 100 }, 500, 1);
    expect(paths).toEqual({ present: '', absent: '', undetermined: '' });
  });
});
