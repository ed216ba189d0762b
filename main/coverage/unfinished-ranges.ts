import { isResumable, type RangeWithAttempt } from './range-history.ts';

/**
 * Ranges of one account on one relay that still want work: resumable, and not covered meanwhile by a later range that
 * completed. Bodies that did not come when they were asked for in two attempts are asked for again only on demand: a
 * relay may have named what nobody has.
 */
export function unfinishedRanges(ranges: readonly RangeWithAttempt[]): RangeWithAttempt[] {
  return ranges.filter(
    ({ attempt, closedBy }) =>
      closedBy === null && isResumable(attempt) && !(attempt.status === 'complete' && attempt.continued),
  );
}
