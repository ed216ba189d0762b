import type { FetchState } from '../coverage/fetch-state.ts';
import { isResumable, type RangeWithAttempt } from '../coverage/range-history.ts';
import { formatSecond } from '../platform/format-second.ts';

/** Seconds that an incremental fetch asks again, for events that reached the relay late. */
export const OVERLAP_SECONDS = 10;

/** Bounds of a scope to ask; `since: null` is Beginning. */
export interface Bounds {
  since: number | null;
  until: number;
}

/**
 * What Fetch asks a relay for, once unfinished ranges were gone on with: everything up to T while initial history was
 * never begun; afterwards what is newer than the forward boundary, with the overlap (spec §4). While initial history
 * is unfinished, newer activity is fetched all the same, as a range of its own that moves no boundary.
 *
 * @param boundary T of the run; on Resume it lies in the past.
 * @param now what the clock says, Unix seconds.
 * @param mayReconcile whether NIP-77 is going to be tried: it gets past seconds that no page can carry.
 * @returns null when nothing newer remains to be asked.
 */
export function planNewer(
  state: FetchState,
  ranges: readonly RangeWithAttempt[],
  boundary: number,
  pageLimit: number,
  now: number,
  mayReconcile: boolean,
): Bounds | null {
  if (state.historyComplete && state.forwardBoundary !== null) {
    if (clockWentBack(state, now)) return { since: null, until: boundary };
    const since = state.forwardBoundary - OVERLAP_SECONDS;
    return since > boundary ? null : { since, until: boundary };
  }
  const reach = reachOfUnfinishedHistory(ranges, mayReconcile ? Number.POSITIVE_INFINITY : pageLimit);
  if (reach === null) return { since: null, until: boundary };
  return reach >= boundary ? null : { since: reach - OVERLAP_SECONDS, until: boundary };
}

/** The sentence for a clock that stands before what was fetched already, or null. */
export function clockWarning(state: FetchState, now: number): string | null {
  if (!clockWentBack(state, now) || state.forwardBoundary === null) return null;
  return (
    `This computer's clock says ${formatSecond(now)}, but an earlier fetch went up to ` +
    `${formatSecond(state.forwardBoundary)}: the clock was set back. The whole history is asked again, so that nothing is passed over.`
  );
}

function clockWentBack(state: FetchState, now: number): boolean {
  return state.forwardBoundary !== null && now < state.forwardBoundary - OVERLAP_SECONDS;
}

/**
 * Up to which second an initial history was begun, and newer ranges completed after it. Null when there is none, or
 * when the only one was stopped by a page limit smaller than the one asked for now: then a new walk may get through.
 */
function reachOfUnfinishedHistory(ranges: readonly RangeWithAttempt[], pageLimit: number): number | null {
  const begun = ranges.filter(
    ({ range, attempt }) => range.since === null && (isResumable(attempt) || attempt.pageLimit >= pageLimit),
  );
  if (begun.length === 0) return null;
  let reach = begun.reduce((latest, { range }) => Math.max(latest, range.until), 0);
  const later = ranges
    .filter(({ range, attempt }) => range.since !== null && attempt.status === 'complete')
    .sort((a, b) => a.range.until - b.range.until);
  for (const { range } of later) {
    if (range.since !== null && range.since <= reach && range.until > reach) reach = range.until;
  }
  return reach;
}
