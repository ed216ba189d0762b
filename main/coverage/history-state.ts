import type { CoverageRange, HistoryState } from '../../preload/contract.ts';

/**
 * How much of its history is established on one relay: complete when it was walked to its end and nothing that is newer
 * stands unfinished, failed when nothing but failures is known.
 */
export function historyOnRelay(
  historyComplete: boolean,
  ranges: readonly Pick<CoverageRange, 'status' | 'closedBy'>[],
): HistoryState {
  const standing = ranges.filter((range) => range.closedBy === null);
  if (standing.length === 0) return 'never-asked';
  if (historyComplete) return standing.every((range) => range.status === 'complete') ? 'complete' : 'partial';
  return standing.every((range) => range.status === 'failed') ? 'failed' : 'partial';
}

/** The same of an account, from all its source relays: only what is so on all of them is said of it. */
export function historyOfAccount(relays: readonly HistoryState[]): HistoryState {
  const [first = 'never-asked', ...others] = relays;
  return others.every((state) => state === first) ? first : 'partial';
}
