import { isResumable, type Attempt, type Range } from './range-history.ts';

export interface RangeWithAttempt {
  range: Range;
  attempt: Attempt;
}

/**
 * Ranges of one account on one relay that still want work: resumable, and not covered meanwhile by a later range that
 * completed. Bodies that did not come when they were asked for in two attempts are asked for again only on demand: a
 * relay may have named what nobody has.
 */
export function unfinishedRanges(ranges: readonly RangeWithAttempt[]): RangeWithAttempt[] {
  return ranges.filter(
    ({ range, attempt }) =>
      isResumable(attempt) &&
      !(attempt.status === 'complete' && attempt.continued) &&
      !ranges.some((other) => supersedes(other, range)),
  );
}

function supersedes(other: RangeWithAttempt, range: Range): boolean {
  if (other.attempt.status !== 'complete' || other.range.id === range.id) return false;
  const startsBefore = other.range.since === null || (range.since !== null && other.range.since <= range.since);
  return startsBefore && other.range.until >= range.until;
}
