import type { ArchiveSummary, CoverageRange, CoverageRelay, RangeStatus } from '../../preload/contract.ts';
import { countOf } from '../text/numbers.ts';
import { formatClock, formatDate, formatMinute, formatMonth, formatSince, yearOf } from '../text/times.ts';

/** The time axis that all strips of a page share, in Unix seconds. */
export interface TimeAxis {
  start: number;
  end: number;
}

/** One piece of a strip, as fractions of the axis between 0 and 1. */
export interface Segment {
  left: number;
  width: number;
  /** What is established there; `unwalked` is the part of an unfinished range that no page has reached. */
  state: RangeStatus | 'unwalked';
  /** True when the piece begins at the open historical bound. */
  open: boolean;
}

/** A label on the axis. */
export interface Tick {
  position: number;
  label: string;
}

/** Where walks stand, by range: the second that paging has reached, when it is known. */
export type WalkPositions = ReadonlyMap<number, number>;

const DAY = 86_400;
const YEAR = 365 * DAY;

/** The protocol's first weeks, November 2020: older events are hardly to be found. */
const FIRST_EVENTS = Date.UTC(2020, 10, 1) / 1000;

/**
 * The axis for a coverage tree: from the oldest event or bound that is known to `now`, with a little room before it
 * for the open historical bound. Without anything known it shows the last year. A long axis begins with a quarter or a
 * month, and while a walk reaches older seconds one after another with a year, so that it stands still. `firstMonth` is the oldest
 * month that holds an event of a plausible time; what claims to be older does not stretch the axis. While the first
 * walk back to Beginning goes on, the axis begins with the protocol itself, and does not move with each page.
 */
export function timeAxis(
  archive: ArchiveSummary,
  relays: readonly CoverageRelay[],
  now: number,
  firstMonth: number | null = null,
): TimeAxis {
  let oldest = Math.max(archive.oldest ?? Infinity, firstMonth ?? -Infinity);
  let end = now;
  for (const relay of relays) {
    for (const range of relay.ranges) {
      if (range.since !== null) oldest = Math.min(oldest, range.since);
      end = Math.max(end, range.until);
    }
  }
  // A clock that ran ahead must not push the whole history into a corner.
  end = Math.min(end, now + DAY);
  // How far back a first walk goes is not known before it ends; until then the axis stands still.
  if (isReachingBack(relays)) oldest = Math.min(oldest, FIRST_EVENTS);
  const start = oldest === Infinity || oldest >= end ? end - YEAR : calmStart(oldest, end, relays.some(isWalkingBack));
  const length = Math.max(end - start, 600);
  return { start: end - length * 1.04, end };
}

function isReachingBack(relays: readonly CoverageRelay[]): boolean {
  if (relays.some((relay) => relay.historyComplete)) return false;
  return relays.some(isWalkingBack);
}

function isWalkingBack({ ranges }: CoverageRelay): boolean {
  return ranges.some((range) => range.since === null && range.status === 'active');
}

function calmStart(oldest: number, end: number, isWalking: boolean): number {
  const date = new Date(oldest * 1000);
  const quarter = isWalking ? 0 : date.getUTCMonth() - (date.getUTCMonth() % 3);
  if (end - oldest > 2 * YEAR) return Date.UTC(date.getUTCFullYear(), quarter, 1) / 1000;
  if (end - oldest > YEAR / 4) return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000;
  return oldest;
}

/** The place of a second on the axis, between 0 and 1. */
export function positionOf(second: number, axis: TimeAxis): number {
  return Math.min(1, Math.max(0, (second - axis.start) / (axis.end - axis.start)));
}

/** A stretch of time; `since: null` is Beginning, and `until: null` is now. */
export interface Gap {
  since: number | null;
  until: number | null;
}

/** The newest minutes are never covered, because time goes on; a gap up to now begins to matter after this long. */
const RECENT = DAY;

/**
 * What no complete or partial walk has covered, oldest first: stretches that were never asked for, not reached, or only
 * asked for in vain. Between ranges every gap counts, however short.
 */
export function gapsOf(ranges: readonly CoverageRange[], walks: WalkPositions, now: number): Gap[] {
  const covered = ranges
    // An unfinished walk of which no position is known has covered nothing for certain.
    .filter((range) => range.reachedEnd || (walks.get(range.id) ?? Infinity) < range.until)
    .flatMap((range) => piecesOf(range, walks.get(range.id)))
    .filter((piece) => piece.state !== 'failed' && piece.state !== 'unwalked' && piece.to >= piece.from)
    .sort((left, right) => left.from - right.from);
  const gaps: Gap[] = [];
  let reached = -Infinity;
  for (const piece of covered) {
    // Bounds are inclusive whole seconds, so the next range may begin one second later without a gap.
    if (piece.from > reached + 1) gaps.push({ since: reached === -Infinity ? null : reached, until: piece.from });
    reached = Math.max(reached, piece.to);
  }
  if (now - reached > RECENT) gaps.push({ since: reached === -Infinity ? null : reached, until: null });
  return gaps;
}

/** The gaps of a relay in one sentence; null when there are none. */
export function gapSentence(gaps: readonly Gap[], timeZone?: string): string | null {
  if (gaps.length === 0) return null;
  const [only] = gaps;
  if (gaps.length === 1 && only?.since === null && only.until === null) return 'Nothing is covered yet.';
  const named = gaps
    .slice(0, 3)
    .map(
      (gap) =>
        `${formatSince(gap.since, timeZone)} → ${gap.until === null ? 'now' : formatMinute(gap.until, timeZone)}`,
    );
  const more = gaps.length > 3 ? ` and ${countOf(gaps.length - 3, 'more stretch', 'more stretches')}` : '';
  return `Not covered: ${named.join(', ')}${more}.`;
}

/** True when two ranges share seconds, so that their counts must not be added up. */
export function anyOverlap(ranges: readonly CoverageRange[]): boolean {
  const ordered = [...ranges].sort((left, right) => (left.since ?? -Infinity) - (right.since ?? -Infinity));
  let reached = -Infinity;
  for (const range of ordered) {
    if (reached > -Infinity && (range.since ?? -Infinity) <= reached) return true;
    reached = Math.max(reached, range.until);
  }
  return false;
}

interface Piece {
  from: number;
  to: number;
  state: Segment['state'];
}

/**
 * True for a range that was begun and in which nothing is established: no query was sent, or its first page is still
 * on its way. A comparison asks for all of a range at once.
 */
function isUntouched(range: CoverageRange, walked: number | undefined): boolean {
  if (range.status === 'complete' || range.status === 'failed' || walked !== undefined) return false;
  return range.queryCount === 0 || (range.status === 'active' && range.strategy !== 'negentropy');
}

/** A range as pieces in time: an unfinished walk went backward from `until` and stands at its cursor. */
function piecesOf(range: CoverageRange, walked: number | undefined): Piece[] {
  const from = range.since ?? -Infinity;
  if (isUntouched(range, walked)) return [{ from, to: range.until, state: 'unwalked' }];
  if (range.reachedEnd || walked === undefined || walked >= range.until) {
    return [{ from, to: range.until, state: range.status }];
  }
  const reached = Math.max(from, walked);
  const failed = range.status === 'failed';
  return [
    { from, to: reached, state: failed ? 'failed' : 'unwalked' },
    { from: reached, to: range.until, state: failed ? 'partial' : range.status },
  ];
}

/** What wins where pieces overlap: work in progress, then what is established; a failure erases nothing. */
const rank: Record<Segment['state'], number> = { active: 5, complete: 4, partial: 3, failed: 2, unwalked: 1 };

/**
 * The strip of one relay, or of one range when only that is given: disjoint segments from left to right. What no
 * segment covers was never asked for.
 */
export function segmentsOf(ranges: readonly CoverageRange[], axis: TimeAxis, walks: WalkPositions): Segment[] {
  const pieces = ranges
    .flatMap((range) => piecesOf(range, walks.get(range.id)))
    .filter((piece) => piece.to >= piece.from);
  const edges = [...new Set(pieces.flatMap((piece) => [piece.from, piece.to]))].sort((left, right) => left - right);
  const segments: Segment[] = [];
  for (let index = 0; index + 1 < edges.length; index += 1) {
    const from = edges[index] ?? 0;
    const to = edges[index + 1] ?? 0;
    let state: Segment['state'] | null = null;
    for (const piece of pieces) {
      if (piece.from <= from && piece.to >= to && (state === null || rank[piece.state] > rank[state])) {
        state = piece.state;
      }
    }
    if (state === null) continue;
    const left = positionOf(from, axis);
    const right = positionOf(to, axis);
    const last = segments.at(-1);
    if (last?.state === state && Math.abs(last.left + last.width - left) < 1e-9) last.width = right - last.left;
    else segments.push({ left, width: right - left, state, open: from === -Infinity });
  }
  return segments;
}

/** Marks for seconds that hold more events than a page can carry and that no later range closed, as fractions of the axis. */
export function saturationMarks(ranges: readonly CoverageRange[], axis: TimeAxis): number[] {
  return [...new Set(ranges.filter((range) => range.closedBy === null).flatMap((range) => range.saturatedSeconds))]
    .filter((second) => second >= axis.start && second <= axis.end)
    .map((second) => positionOf(second, axis));
}

const steps: readonly { seconds: number; label: (second: number, timeZone?: string) => string }[] = [
  { seconds: 60, label: clockMinute },
  { seconds: 600, label: clockMinute },
  { seconds: 3600, label: clockMinute },
  { seconds: 6 * 3600, label: clockMinute },
  { seconds: DAY, label: dayAndMonth },
  { seconds: 7 * DAY, label: dayAndMonth },
];

function clockMinute(second: number, timeZone?: string): string {
  return formatClock(second, timeZone).slice(0, 5);
}

function dayAndMonth(second: number, timeZone?: string): string {
  return formatDate(second, timeZone).replace(/ \d+$/, '');
}

/**
 * Labels for the axis, at most `most` of them: years or months at their true beginnings, days and shorter steps for
 * a short axis. The last part of the axis, `reserved` of it, carries no label: the word for its end stands there.
 */
export function axisTicks(axis: TimeAxis, most: number, reserved: number, timeZone?: string): Tick[] {
  const length = axis.end - axis.start;
  const tick = (second: number, label: string): Tick => ({ position: positionOf(second, axis), label });
  const inside = (ticks: Tick[]): Tick[] =>
    ticks.filter((each) => each.position > 0.005 && each.position < 1 - reserved);

  const step = steps.find((each) => length / each.seconds <= most);
  if (step !== undefined) {
    const ticks: Tick[] = [];
    for (let second = Math.ceil(axis.start / step.seconds) * step.seconds; second < axis.end; second += step.seconds) {
      ticks.push(tick(second, step.label(second, timeZone)));
    }
    return inside(ticks);
  }

  const firstYear = yearOf(axis.start, timeZone);
  const lastYear = yearOf(axis.end, timeZone);
  const monthStep = [1, 3, 6].find((months) => length / (months * 30.44 * DAY) <= most);
  const ticks: Tick[] = [];
  if (monthStep !== undefined) {
    for (let month = firstYear * 12; month <= lastYear * 12 + 11; month += monthStep) {
      const second = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1000;
      if (second <= axis.start || second >= axis.end) continue;
      ticks.push(tick(second, month % 12 === 0 ? String(month / 12) : formatMonth(second + DAY, timeZone).slice(0, 3)));
    }
    return inside(ticks);
  }
  const yearStep = Math.max(1, Math.ceil((lastYear - firstYear) / most));
  for (let year = firstYear + 1; year <= lastYear; year += yearStep) {
    ticks.push(tick(Date.UTC(year, 0, 1) / 1000, String(year)));
  }
  return inside(ticks);
}

const spoken: Record<Segment['state'], string> = {
  complete: 'complete',
  partial: 'partial',
  failed: 'failed',
  active: 'fetching',
  unwalked: 'not reached',
};

/** What is established at a place of the axis, in a word or two. */
export function stateAt(segments: readonly Segment[], position: number): string {
  const segment = segments.find((each) => each.left <= position && position <= each.left + each.width);
  return segment === undefined ? 'never asked' : spoken[segment.state];
}

/** The parts of a strip where nothing is established, as fractions of the axis, from left to right. */
export function uncovered(segments: readonly Segment[]): { left: number; width: number }[] {
  const open: { left: number; width: number }[] = [];
  const add = (left: number, right: number): void => {
    const last = open.at(-1);
    if (right - left < 1e-6) return;
    if (last !== undefined && Math.abs(last.left + last.width - left) < 1e-6) last.width = right - last.left;
    else open.push({ left, width: right - left });
  };
  let reached = 0;
  for (const segment of segments) {
    add(reached, segment.left);
    reached = segment.left + segment.width;
    if (segment.state === 'failed' || segment.state === 'unwalked') add(segment.left, reached);
  }
  add(reached, 1);
  return open;
}

/** A strip in words, for readers that cannot see it: "Beginning to 30 Nov 2026 complete". */
export function describeSegments(segments: readonly Segment[], axis: TimeAxis, timeZone?: string): string {
  if (segments.length === 0) return 'Nothing was asked for yet';
  const at = (fraction: number): string => formatDate(axis.start + fraction * (axis.end - axis.start), timeZone);
  return segments
    .map((segment) => {
      const from = segment.open ? 'Beginning' : at(segment.left);
      return `${from} to ${at(segment.left + segment.width)} ${spoken[segment.state]}`;
    })
    .join('; ');
}
