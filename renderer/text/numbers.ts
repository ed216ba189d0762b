const counts = new Intl.NumberFormat('en');
const rates = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A whole number with thousands separators: `12431` is "12,431". */
export function formatCount(value: number): string {
  return counts.format(value);
}

/** A count with its noun in the right number: "1 event", "12,431 events". `many` is for irregular plurals. */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${counts.format(value)} ${value === 1 ? one : many}`;
}

/**
 * Events per second: whole from 10 upwards, one decimal below, so that a slow relay does not read as a dead one. With
 * what is counted it says "412 found/s".
 */
export function formatRate(perSecond: number, counted?: string): string {
  const value = perSecond >= 10 ? counts.format(Math.round(perSecond)) : rates.format(perSecond);
  return counted === undefined ? `${value}/s` : `${value} ${counted}/s`;
}

/** A size in bytes with the unit a person would use. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? counts.format(value) : rates.format(value)} ${units[unit] ?? ''}`;
}

/** A list as a person would say it: "a", "a and b", "a, b and c". */
export function sayList(items: readonly string[]): string {
  if (items.length <= 1) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}
