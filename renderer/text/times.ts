/**
 * Times as the interface says them. All inputs are Unix seconds; a `timeZone` is only given by tests, everyone else
 * gets the machine's own.
 */

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** The largest second that a JavaScript date can hold; relays may name any number. */
const LARGEST_SECOND = 8_640_000_000_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(seconds: number, name: string, options: Intl.DateTimeFormatOptions, timeZone?: string): string {
  if (!Number.isFinite(seconds) || Math.abs(seconds) > LARGEST_SECOND) return `second ${String(seconds)}`;
  const key = `${name} ${timeZone ?? ''}`;
  let formatter = formats.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-GB', timeZone === undefined ? options : { ...options, timeZone });
    formats.set(key, formatter);
  }
  return formatter
    .format(seconds * 1000)
    .replace(',', '')
    .replace('Sept', 'Sep');
}

const date: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
const minute: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** "30 Nov 2026" */
export function formatDate(seconds: number, timeZone?: string): string {
  return format(seconds, 'date', date, timeZone);
}

/** "30 Nov 2026 19:02" */
export function formatMinute(seconds: number, timeZone?: string): string {
  return format(seconds, 'minute', { ...date, ...minute }, timeZone);
}

/** "30 Nov 2026 19:02:05": the exact local time. */
export function formatSecond(seconds: number, timeZone?: string): string {
  return format(seconds, 'second', { ...date, ...minute, second: '2-digit' }, timeZone);
}

/** "Mar 2022" */
export function formatMonth(seconds: number, timeZone?: string): string {
  return format(seconds, 'month', { month: 'short', year: 'numeric' }, timeZone);
}

/** "19:02:05", for moments of the current day. */
export function formatClock(seconds: number, timeZone?: string): string {
  return format(seconds, 'clock', { ...minute, second: '2-digit' }, timeZone);
}

/** The calendar year of a second. */
export function yearOf(seconds: number, timeZone?: string): number {
  return Number(format(seconds, 'year', { year: 'numeric' }, timeZone));
}

/** How long ago, or how far ahead, a moment is: "4 min ago", "yesterday", "in 41 s", "12 Jan 2023". */
export function formatRelative(seconds: number, now: number, timeZone?: string): string {
  const age = Math.round(now - seconds);
  // The interface's clock moves once a second, so what just happened may seem to lie a moment ahead of it.
  if (age < -2) return age > -DAY ? `in ${formatDuration(-age)}` : formatDate(seconds, timeZone);
  if (age < 10) return 'just now';
  if (age < MINUTE) return `${String(age)} s ago`;
  if (age < HOUR) return `${String(Math.floor(age / MINUTE))} min ago`;
  if (age < DAY) return `${String(Math.floor(age / HOUR))} h ago`;
  if (age < 2 * DAY) return 'yesterday';
  if (age < 30 * DAY) return `${String(Math.floor(age / DAY))} days ago`;
  return formatDate(seconds, timeZone);
}

/** A length of time in its two largest units: "41 s", "3 min 12 s", "2 h 5 min", "4 days". */
export function formatDuration(length: number): string {
  const seconds = Math.max(0, Math.round(length));
  if (seconds < MINUTE) return `${String(seconds)} s`;
  if (seconds < HOUR) return twoUnits(seconds, MINUTE, 'min', 1, 's');
  if (seconds < DAY) return twoUnits(seconds, HOUR, 'h', MINUTE, 'min');
  const days = Math.floor(seconds / DAY);
  return days === 1 ? '1 day' : `${String(days)} days`;
}

function twoUnits(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  const head = `${String(Math.floor(seconds / large))} ${largeName}`;
  return rest === 0 ? head : `${head} ${String(rest)} ${smallName}`;
}

/** The lower bound of a range; null is the open historical bound, which is a word and never a date. */
export function formatSince(since: number | null, timeZone?: string): string {
  return since === null ? 'Beginning' : formatMinute(since, timeZone);
}

/**
 * The bounds of a range. Seconds are shown where they decide, that is when both bounds fall into the same minute;
 * a day that both bounds share is said once.
 */
export function formatBounds(since: number | null, until: number, timeZone?: string): string {
  if (since === null) return `Beginning → ${formatMinute(until, timeZone)}`;
  if (formatMinute(since, timeZone) === formatMinute(until, timeZone)) {
    return `${formatSecond(since, timeZone)} → ${formatClock(until, timeZone)}`;
  }
  if (formatDate(since, timeZone) === formatDate(until, timeZone)) {
    return `${formatMinute(since, timeZone)} → ${formatClock(until, timeZone).slice(0, 5)}`;
  }
  const year = ` ${formatDate(until, timeZone).split(' ').at(-1) ?? ''} `;
  const from = formatMinute(since, timeZone);
  // A year that both bounds share is said once, too.
  return `${from.includes(year) ? from.replace(year, ' ') : from} → ${formatMinute(until, timeZone)}`;
}

/** The two bounds of a range, and both to the second. */
export function formatExactBounds(since: number | null, until: number, timeZone?: string): string {
  return `${since === null ? 'Beginning' : formatSecond(since, timeZone)} → ${formatSecond(until, timeZone)}`;
}

interface Bounds {
  since: number | null;
  until: number;
}

/** The bounds of one of several ranges: to the second where another one would read the same without them. */
export function formatBoundsAmong(range: Bounds, all: readonly Bounds[], timeZone?: string): string {
  const minuteOf = (second: number | null): number | null => (second === null ? null : Math.floor(second / MINUTE));
  const alike = all.some(
    (other) =>
      (other.since !== range.since || other.until !== range.until) &&
      minuteOf(other.until) === minuteOf(range.until) &&
      minuteOf(other.since) === minuteOf(range.since),
  );
  return (alike ? formatExactBounds : formatBounds)(range.since, range.until, timeZone);
}

/** The span of an archive in months: "Mar 2022 – today", "Mar 2022 – Jan 2024". */
export function formatSpan(oldest: number, newest: number, now: number, timeZone?: string): string {
  const start = formatMonth(oldest, timeZone);
  if (formatDate(newest, timeZone) === formatDate(now, timeZone)) {
    return formatDate(oldest, timeZone) === formatDate(now, timeZone) ? 'today' : `${start} – today`;
  }
  const end = formatMonth(newest, timeZone);
  return start === end ? start : `${start} – ${end}`;
}
