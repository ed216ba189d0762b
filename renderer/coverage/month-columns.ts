import type { CoverageTimeline } from '../../preload/contract.ts';
import { countOf, formatCount } from '../text/numbers.ts';
import { isEstablished } from '../text/sentences.ts';
import { formatMonth } from '../text/times.ts';
import type { TimeAxis } from './timeline.ts';

/** Archived events of one month, by what is known about them on one relay; the three numbers add up to `archived`. */
export interface MonthCount {
  /** First second of the month, UTC. */
  start: number;
  /** First second of the month that follows. */
  end: number;
  archived: number;
  present: number;
  absent: number;
  undetermined: number;
}

/** The columns of one picture as SVG path data in CSS pixels, every edge on a device pixel. */
export interface ColumnPaths {
  present: string;
  absent: string;
  undetermined: string;
}

/** The first second of the month after the one that begins at `start`. */
function monthAfter(start: number): number {
  const date = new Date(start * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000;
}

/** What is known about one relay month by month; null for a relay that the timeline does not name. */
export function monthsOfRelay(timeline: CoverageTimeline, url: string): MonthCount[] | null {
  const relay = timeline.relays.find((each) => each.url === url);
  if (relay === undefined) return null;
  return timeline.months.map((start, index) => {
    const present = relay.present[index] ?? 0;
    const absent = relay.absent[index] ?? 0;
    const archived = timeline.archived[index] ?? 0;
    const undetermined = Math.max(0, archived - present - absent);
    return { start, end: monthAfter(start), archived, present, absent, undetermined };
  });
}

/** The archive itself month by month: what it holds is present in it. */
export function monthsOfArchive(timeline: CoverageTimeline): MonthCount[] {
  return timeline.months.map((start, index) => {
    const archived = timeline.archived[index] ?? 0;
    return { start, end: monthAfter(start), archived, present: archived, absent: 0, undetermined: 0 };
  });
}

/**
 * The number of events that the full height stands for, one for all relays: the largest month rounded up to a
 * round number, so that the columns keep their height while a run adds a few events.
 */
export function columnScale(timeline: CoverageTimeline): number {
  const largest = Math.max(1, ...timeline.archived);
  const power = 10 ** Math.floor(Math.log10(largest));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= largest) ?? 10;
  return Math.ceil(step * power);
}

/**
 * Stacked columns: what is present stands at the bottom, what is absent on it, what is undetermined above. A count
 * that is not zero is at least one device pixel high, so that a single absent copy can be seen.
 */
export function columnPaths(
  months: readonly MonthCount[],
  axis: TimeAxis,
  size: { width: number; height: number },
  scale: number,
  pixelRatio: number,
): ColumnPaths {
  const paths: ColumnPaths = { present: '', absent: '', undetermined: '' };
  const deviceWidth = Math.round(size.width * pixelRatio);
  const deviceHeight = Math.round(size.height * pixelRatio);
  const edge = (second: number): number =>
    Math.round(Math.min(1, Math.max(0, (second - axis.start) / (axis.end - axis.start))) * deviceWidth);
  const heightOf = (count: number): number =>
    count === 0 ? 0 : Math.max(1, Math.round((count / scale) * deviceHeight));
  const css = (device: number): string => String(Math.round((device / pixelRatio) * 1000) / 1000);
  for (const month of months) {
    const left = edge(month.start);
    const right = edge(month.end);
    // A hairline between columns, as long as it leaves them wider than itself.
    const width = right - left - (right - left >= 4 * pixelRatio ? Math.round(pixelRatio) : 0);
    if (width <= 0) continue;
    let bottom = deviceHeight;
    for (const name of ['present', 'absent', 'undetermined'] as const) {
      const height = Math.min(bottom, heightOf(month[name]));
      if (height === 0) continue;
      bottom -= height;
      paths[name] += `M${css(left)} ${css(bottom)}h${css(width)}v${css(height)}h-${css(width)}z`;
    }
  }
  return paths;
}

/** The month that holds a second, or undefined when it lies outside of all. */
export function monthAt(months: readonly MonthCount[], second: number): MonthCount | undefined {
  return months.find((month) => month.start <= second && second < month.end);
}

/** A month's counts in words: "120 present · 4 absent · 9 undetermined". */
export function monthSentence(month: MonthCount): string {
  if (month.archived === 0) return 'nothing archived';
  if (!isEstablished(month)) return `all ${formatCount(month.undetermined)} undetermined`;
  const parts = [`${formatCount(month.present)} present`];
  if (month.absent > 0) parts.push(`${formatCount(month.absent)} absent`);
  if (month.undetermined > 0) parts.push(`${formatCount(month.undetermined)} undetermined`);
  return parts.join(' · ');
}

/** The same for a row, where the number that the parts are parts of stands in no column. */
export function monthLine(month: MonthCount): string {
  const sentence = monthSentence(month);
  return isEstablished(month) ? `${sentence} · of ${formatCount(month.archived)} archived` : sentence;
}

/** What the relay is known to hold of a month: a dash where nothing is known, or nothing is there to be known. */
export function monthFound(month: MonthCount): string {
  return isEstablished(month) ? formatCount(month.present) : '–';
}

/** The columns of the archive itself in one sentence, for readers that cannot see them. */
export function describeArchive(months: readonly MonthCount[]): string {
  const archived = months.reduce((sum, month) => sum + month.archived, 0);
  const most = months.reduce<MonthCount | undefined>(
    (fullest, month) => (month.archived > (fullest?.archived ?? 0) ? month : fullest),
    undefined,
  );
  if (most === undefined) return 'Nothing is archived yet';
  return `${countOf(archived, 'archived event')} by month; most in ${formatMonth(most.start, 'UTC')} (${formatCount(most.archived)})`;
}

/** All months of one relay in one sentence, for readers that cannot see the columns. */
export function describeMonths(months: readonly MonthCount[]): string {
  const sum = (name: 'archived' | 'present' | 'absent' | 'undetermined'): number =>
    months.reduce((total, month) => total + month[name], 0);
  if (sum('archived') === 0) return 'Nothing is archived yet';
  const first = months[0];
  const last = months.at(-1);
  const span = first && last ? `, ${formatMonth(first.start, 'UTC')} to ${formatMonth(last.start, 'UTC')}` : '';
  const most = months.reduce<MonthCount | undefined>(
    (worst, month) => (month.absent > (worst?.absent ?? 0) ? month : worst),
    undefined,
  );
  const worst = most ? `; most are absent in ${formatMonth(most.start, 'UTC')} (${formatCount(most.absent)})` : '';
  return (
    `Of ${countOf(sum('archived'), 'archived event')}${span}: ${formatCount(sum('present'))} present, ` +
    `${formatCount(sum('absent'))} absent, ${formatCount(sum('undetermined'))} undetermined${worst}`
  );
}
