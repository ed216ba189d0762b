import type { Narrowing } from '../../preload/contract.ts';
import { formatDate } from '../text/times.ts';

/** Days as a date field gives them, `2024-01-31`; empty where there is no bound. */
export interface DayBounds {
  from: string;
  to: string;
  /** A field holds half a date, which gives no day. */
  incomplete: boolean;
}

const DAY = /^(\d{4,6})-(\d{2})-(\d{2})$/;

/** Local midnight at the beginning of a day, so many days later, in seconds; null for what is no day. */
function midnight(day: string, later = 0): number | null {
  const found = DAY.exec(day);
  if (found === null) return null;
  const [, year, month, date] = found;
  return Math.floor(new Date(Number(year), Number(month) - 1, Number(date) + later).getTime() / 1000);
}

/** The seconds that the days name, both days included, in local time. What lies before 1970 is no bound. */
export function secondsOf(days: Pick<DayBounds, 'from' | 'to'>): Pick<Narrowing, 'since' | 'until'> {
  const since = midnight(days.from);
  const after = midnight(days.to, 1);
  const bounds: Pick<Narrowing, 'since' | 'until'> = {};
  if (since !== null && since >= 0) bounds.since = since;
  if (after !== null) bounds.until = Math.max(0, after - 1);
  return bounds;
}

/** What is wrong with the days, in one sentence; null when they can be used. */
export function daysProblem(days: DayBounds): string | null {
  if (days.incomplete) return 'One of the dates is not complete.';
  const from = midnight(days.from);
  const to = midnight(days.to);
  if (to !== null && to < 0) return 'Nothing is dated before 1970.';
  if (from === null || to === null || from <= to) return null;
  return `The end, ${formatDate(to)}, lies before the beginning, ${formatDate(from)}.`;
}

/** The days in words, for sentences: "from 1 Jan 2024 to 31 Jan 2024"; null without a bound. */
export function daysInWords(days: Pick<DayBounds, 'from' | 'to'>): string | null {
  const from = midnight(days.from);
  const to = midnight(days.to);
  const parts = [from === null ? '' : `from ${formatDate(from)}`, to === null ? '' : `to ${formatDate(to)}`];
  return parts.filter((part) => part !== '').join(' ') || null;
}
