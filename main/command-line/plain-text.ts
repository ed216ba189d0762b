/**
 * Numbers, times and foreign text as the command line prints them. Text from relays may hold escape sequences of
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

/** Unix seconds as local time, to the second; `absent` when there is none. */
export function formatTime(seconds: number | null, absent = '–'): string {
  if (seconds === null) return absent;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  return `${formatDate(seconds)} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')}`;
}

/** Unix seconds as local date; `absent` when there is none. */
export function formatDate(seconds: number | null, absent = '–'): string {
  if (seconds === null) return absent;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  return `${String(date.getFullYear()).padStart(4, '0')}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

/** A number of seconds as “41 s”, “3 min 5 s” or “2 h 10 min”. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** An npub or a hexadecimal key, shortened in the middle. */
export function formatShortKey(key: string): string {
  return key.length > 20 ? `${key.slice(0, 10)}…${key.slice(-6)}` : key;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
