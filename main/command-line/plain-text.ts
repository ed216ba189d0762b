import { formatSecond } from '../platform/format-second.ts';

/**
 * Numbers, times (UTC, as in the reasons that are stored) and foreign text as the command line prints them. Text from relays may hold escape sequences of
 * terminals, so whatever is not ours is printed through {@link singleLine}.
 */

/** Text on one line, without control characters and without marks that reorder what stands around them. */
export function singleLine(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '�')
    .trim();
}

/** A whole number with separators: 12,431. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** “1 relay”, “3 relays”. */
export function formatQuantity(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** Unix seconds as exact text for a sentence, `2026-05-20 12:00:00 UTC`; `absent` when there is none. */
export function formatTime(seconds: number | null, absent = '–'): string {
  return seconds === null ? absent : formatSecond(seconds);
}

/** As {@link formatTime} for a column whose title says that its times are UTC. */
export function formatCellTime(seconds: number | null, absent = '–'): string {
  return formatTime(seconds, absent).replace(/ UTC$/, '');
}

/** Unix seconds as the date in UTC; `absent` when there is none. */
export function formatDate(seconds: number | null, absent = '–'): string {
  return formatTime(seconds, absent).replace(/ \d\d:\d\d:\d\d UTC$/, '');
}

/** A number of seconds as “41 s”, “3 min 5 s” or “2 h 10 min”. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** An npub or a hexadecimal key, shortened in the middle as every interface does it. */
export function formatShortKey(key: string): string {
  return key.length > 20 ? `${key.slice(0, 10)}…${key.slice(-4)}` : key;
}
