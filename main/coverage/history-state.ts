import type { CoverageRange, HistoryState } from '../../preload/contract.ts';

/**
 * How much of its history is established on one relay: complete when it was walked to its end and nothing that is newer
 * stands unfinished, failed when nothing but failures is known. Windows of the first version do not count: whatever became
 * of them, the history stays as open as it is.
 */
export function historyOnRelay(
  historyComplete: boolean,
  ranges: readonly Pick<CoverageRange, 'status' | 'closedBy' | 'strategy'>[],
): HistoryState {
  const standing = ranges.filter((range) => range.closedBy === null && range.strategy !== 'legacy-windows');
  if (standing.length === 0) return 'never-asked';
  if (historyComplete) return standing.every((range) => range.status === 'complete') ? 'complete' : 'partial';
  return standing.every((range) => range.status === 'failed') ? 'failed' : 'partial';
}

/** The same of an account, from all its source relays: only what is so on all of them is said of it. */
export function historyOfAccount(relays: readonly HistoryState[]): HistoryState {
  const [first = 'never-asked', ...others] = relays;
  return others.every((state) => state === first) ? first : 'partial';
}
