import { describe, expect, it } from 'vitest';
import {
  axisTicks,
  describeSegments,
  positionOf,
  saturationMarks,
  segmentsOf,
  timeAxis,
} from '../../renderer/coverage/timeline.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

const DAY = 86_400;
const axis = { start: 1000, end: 2000 };
const none = new Map<number, number>();
const shape = (ranges: ReturnType<typeof sampleRange>[], walks: ReadonlyMap<number, number> = none) =>
  segmentsOf(ranges, axis, walks).map((segment) => [
    segment.state,
    Math.round(segment.left * 1000),
    Math.round((segment.left + segment.width) * 1000),
  ]);

describe('segments of a strip', () => {
  it('reaches the left edge for an open historical bound and says so', () => {
    const [segment] = segmentsOf([sampleRange({ until: 1500 })], axis, none);
    expect(segment).toEqual({ state: 'complete', left: 0, width: 0.5, open: true });
  });

  it('joins complete ranges that overlap', () => {
    expect(shape([sampleRange({ until: 1500 }), sampleRange({ id: 2, since: 1490, until: 2000 })])).toEqual([
      ['complete', 0, 1000],
    ]);
  });

  it('leaves a gap where nothing was asked', () => {
    expect(shape([sampleRange({ until: 1200 }), sampleRange({ id: 2, since: 1600, until: 1800 })])).toEqual([
      ['complete', 0, 200],
      ['complete', 600, 800],
    ]);
  });

  it('lets no failure hide what was established', () => {
    expect(shape([sampleRange({ until: 1500 }), sampleRange({ id: 2, until: 2000, status: 'failed' })])).toEqual([
      ['complete', 0, 500],
      ['failed', 500, 1000],
    ]);
  });

  it('shows how far an unfinished walk came, from the newest second backward', () => {
    const range = sampleRange({ status: 'partial' });
    expect(shape([range], new Map([[1, 1700]]))).toEqual([
      ['unwalked', 0, 700],
      ['partial', 700, 1000],
    ]);
    expect(shape([sampleRange({ status: 'active' })], new Map([[1, 1900]]))).toEqual([
      ['unwalked', 0, 900],
      ['active', 900, 1000],
    ]);
  });

  it('shows a walk that left nothing but saturated seconds open as reached to its end', () => {
    const range = sampleRange({ status: 'partial', saturatedSeconds: [1500], reachedEnd: true });
    expect(shape([range])).toEqual([['partial', 0, 1000]]);
    expect(describeSegments(segmentsOf([range], axis, none), axis, 'UTC')).not.toContain('not reached');
  });

  it('shows nothing as fetched before a first page or comparison is under way', () => {
    expect(shape([sampleRange({ status: 'active', queryCount: 0 })])).toEqual([['unwalked', 0, 1000]]);
    expect(shape([sampleRange({ status: 'active', queryCount: 1 })])).toEqual([['unwalked', 0, 1000]]);
    expect(shape([sampleRange({ status: 'partial', queryCount: 0 })])).toEqual([['unwalked', 0, 1000]]);
    expect(shape([sampleRange({ status: 'active', strategy: 'negentropy' })])).toEqual([['active', 0, 1000]]);
  });

  it('ignores a cursor that lies outside of the range', () => {
    expect(shape([sampleRange({ status: 'partial' })], new Map([[1, 9999]]))).toEqual([['partial', 0, 1000]]);
    expect(shape([sampleRange({ status: 'partial', since: 1500 })], new Map([[1, 100]]))).toEqual([
      ['partial', 500, 1000],
    ]);
  });

  it('is empty for a relay that was never asked', () => {
    expect(segmentsOf([], axis, none)).toEqual([]);
    expect(describeSegments([], axis)).toBe('Nothing was asked for yet');
  });

  it('can be read aloud', () => {
    const wide = { start: Date.UTC(2022, 0, 1) / 1000, end: Date.UTC(2026, 0, 1) / 1000 };
    const segments = segmentsOf([sampleRange({ until: Date.UTC(2024, 5, 1) / 1000 })], wide, none);
    expect(describeSegments(segments, wide, 'UTC')).toBe('Beginning to 1 Jun 2024 complete');
  });
});

describe('the shared axis', () => {
  const now = Date.UTC(2026, 10, 30) / 1000;

  it('runs from the oldest event to now with room for what is before', () => {
    const found = timeAxis({ events: 1, oldest: now - 1000 * DAY, newest: now }, [], now);
    expect(found.end).toBe(now);
    expect(found.start).toBeLessThan(now - 1000 * DAY);
    expect(found.start).toBeGreaterThan(now - 1150 * DAY);
  });

  it('leaves no more than a quarter of a year empty before the oldest event, beside the room', () => {
    const oldest = Date.UTC(2021, 10, 20) / 1000;
    const { start, end } = timeAxis({ events: 1, oldest, newest: now }, [], now);
    expect(oldest - (end - (end - start) / 1.04)).toBe((31 + 19) * DAY);
  });

  it('shows the last year when nothing is known', () => {
    const found = timeAxis({ events: 0, oldest: null, newest: null }, [sampleRelay([])], now);
    expect(Math.round((found.end - found.start) / DAY)).toBe(380);
  });

  it('does not let a bound from a wrong clock squeeze the history', () => {
    const relay = sampleRelay([sampleRange({ until: now + 4000 * DAY })]);
    expect(timeAxis({ events: 1, oldest: now - DAY, newest: now }, [relay], now).end).toBe(now + DAY);
  });

  it('stands still while a first walk reaches older and older events', () => {
    const walking = sampleRelay([sampleRange({ status: 'active', until: now })]);
    const at = (days: number) => timeAxis({ events: 1, oldest: now - days * DAY, newest: now }, [walking], now).start;
    expect(at(1)).toBe(at(900));
    const known = sampleRelay([sampleRange({ until: now })], { url: 'wss://known.example' });
    const beside = (days: number) =>
      timeAxis({ events: 1, oldest: now - days * DAY, newest: now }, [walking, known], now).start;
    expect(beside(900)).toBe(beside(800));
    expect(beside(900)).toBeGreaterThan(at(900));
  });

  it('keeps positions inside the strip', () => {
    expect([positionOf(0, axis), positionOf(1500, axis), positionOf(9e9, axis)]).toEqual([0, 0.5, 1]);
  });

  it('labels years, months, days or hours, whichever fit', () => {
    const labels = (days: number): string[] =>
      axisTicks({ start: now - days * DAY, end: now }, 6, 0, 'UTC').map((tick) => tick.label);
    expect(labels(1690)).toEqual(['2023', '2024', '2025', '2026']);
    expect(labels(500)).toEqual(['Oct', '2026', 'Apr', 'Jul', 'Oct']);
    expect(labels(4)).toEqual(['27 Nov', '28 Nov', '29 Nov']);
    expect(labels(0.2)).toContain('20:00');
  });

  it('never has more labels than fit, and none in the reserved end', () => {
    for (const days of [0.01, 1, 9, 40, 100, 365, 900, 2000, 6000]) {
      const ticks = axisTicks({ start: now - days * DAY, end: now }, 5, 0.2, 'UTC');
      expect(ticks.length).toBeLessThanOrEqual(6);
      for (const tick of ticks) expect(tick.position).toBeLessThan(0.8);
    }
  });

  it('marks saturated seconds once, and only those on the axis', () => {
    const ranges = [sampleRange({ saturatedSeconds: [1500, 5] }), sampleRange({ id: 2, saturatedSeconds: [1500] })];
    expect(saturationMarks(ranges, axis)).toEqual([0.5]);
  });
});
