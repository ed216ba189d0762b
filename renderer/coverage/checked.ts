import type { CoverageRelay } from '../../preload/contract.ts';
import { isOldWindows } from './old-windows.ts';

/** When what is known of a relay was established, in Unix seconds. */
export interface CheckedTimes {
  /** The last complete walk over the whole history; before there is one, the last answer. Null when there was none. */
  history: number | null;
  /** A complete walk over newer seconds only, when it was later: it says nothing about what is older. */
  newer: number | null;
}

const latest = (times: readonly (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
};

/** How old the evidence about a relay is. A fetch of the last minutes does not make the rest of it younger. */
export function checkedTimes({ ranges }: Pick<CoverageRelay, 'ranges'>): CheckedTimes {
  // Old windows that were all asked prove nothing complete.
  const complete = ranges.filter((range) => range.status === 'complete' && !isOldWindows(range));
  const history = latest(complete.filter((range) => range.since === null).map((range) => range.checkedAt));
  if (history === null) return { history: latest(ranges.map((range) => range.checkedAt)), newer: null };
  const newer = latest(complete.filter((range) => range.since !== null).map((range) => range.checkedAt));
  return { history, newer: newer !== null && newer > history ? newer : null };
}
