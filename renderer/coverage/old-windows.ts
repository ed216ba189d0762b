import type { CoverageRange } from '../../preload/contract.ts';

/** True for a range that is made of windows of the first version: it shows what a relay has, and covers nothing. */
export function isOldWindows({ strategy }: Pick<CoverageRange, 'strategy'>): boolean {
  return strategy === 'legacy-windows';
}

/** The ranges that are made of windows of the first version. */
export function oldWindows<Range extends Pick<CoverageRange, 'strategy'>>(ranges: readonly Range[]): Range[] {
  return ranges.filter(isOldWindows);
}

/** The ranges that were walked in today's way: what is covered, and what is not, is read off these alone. */
export function walkedRanges<Range extends Pick<CoverageRange, 'strategy'>>(ranges: readonly Range[]): Range[] {
  return ranges.filter((range) => !isOldWindows(range));
}
