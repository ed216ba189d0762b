/** What was established about a relay, when, and on what ground. */

import type { ArchiveSummary, HistoryState } from './accounts.ts';
import type { LegacyCoverageLine } from './legacy.ts';
import type { RangeStatus, Strategy } from './runs.ts';

/** How a recorded query ended (the closed set of design §3.1). */
export type QueryEnding =
  | 'eose'
  | 'eose-finish'
  | 'eose-more'
  | 'neg-complete'
  | 'neg-err'
  | 'closed'
  | 'notice'
  | 'timeout'
  | 'disconnect'
  | 'auth-required'
  | 'rate-limited'
  | 'unpageable'
  | 'cancelled'
  | 'failed';

export interface CoverageQuery {
  id: number;
  type: 'REQ' | 'NEG';
  /** The exact filter that was sent. */
  request: Record<string, unknown>;
  sentAt: number;
  completedAt: number | null;
  /** Null while the query is under way. */
  ending: QueryEnding | null;
  /** The relay's own words, or the reason we ended it. */
  message: string | null;
  received: number;
  valid: number;
  unique: number;
  new: number;
}

export interface CoverageAttempt {
  id: number;
  run: number;
  /** The attempt that this one repeats or continues. */
  prior: number | null;
  /** True when this attempt went on from the saved cursor of `prior`. */
  continued: boolean;
  strategy: Strategy;
  status: RangeStatus;
  limit: number;
  startedAt: number;
  completedAt: number | null;
  /** Where paging stands: the inclusive `until` of the next page; null when there is none. */
  cursor: number | null;
  /** Why the scope counts as finished, or why it does not; a plain sentence. */
  reason: string | null;
  found: number;
  fetched: number;
  /** Raw deliveries, repeats included; never a number of events. */
  received: number;
  newlyArchived: number;
  queryCount: number;
}

export interface CoverageRange {
  id: number;
  since: number | null;
  until: number;
  status: RangeStatus;
  found: number;
  fetched: number;
  notFetched: number;
  checkedAt: number | null;
  kinds: Record<string, number>;
  strategy: Strategy;
  /** Why the range counts as complete, or what keeps it from being complete. */
  reason: string | null;
  /** Where paging stands: the inclusive `until` of the next page; null for NIP-77, before the first page, and after the last. */
  cursor: number | null;
  /** The page limit that the latest attempt was begun with. */
  limit: number;
  /** Seconds that hold more events than a page can carry (design §3.5). */
  saturatedSeconds: number[];
  /** Every second of the range was asked for with an answer; in a partial one only the saturated seconds stand open. */
  reachedEnd: boolean;
  /** True when Resume can go on with it now. */
  resumable: boolean;
  /**
   * Of a range that is unfinished or lacks bodies: the later complete range of the same filter that covers all of it, so
   * that nothing is left to be done here. Null otherwise.
   */
  closedBy: number | null;
  attemptCount: number;
  queryCount: number;
}

export interface CoverageRelay {
  url: string;
  role: 'write' | 'extra' | 'write+extra' | 'former';
  /** The walk back to Beginning came to its end, now or earlier. */
  historyComplete: boolean;
  /** With what is newer, and without ranges that a later one closed. */
  history: HistoryState;
  forwardBoundary: number | null;
  /** Frames that were malformed, wrongly signed, or did not match what was asked. */
  invalidObservations: number;
  /** What the first version said of this relay; null when it said nothing. */
  legacy: LegacyCoverageLine | null;
  ranges: CoverageRange[];
}

export interface CoverageTree {
  account: string;
  archive: ArchiveSummary;
  relays: CoverageRelay[];
}

/** How many source relays hold each archived event of an account, as far as evidence goes. */
export interface CopiesSummary {
  account: string;
  /** Archived events in all: the four numbers below add up to it. */
  events: number;
  /** On no, one, two, three or more relays. "On no relay" means: present nowhere as far as is known. */
  none: number;
  one: number;
  two: number;
  more: number;
  /** Of `none`, those that no source relay was conclusively asked about. */
  undetermined: number;
  /**
   * Of the rest of `none`, those that no relay is meant to keep: a newer version of them is archived, or their author asked
   * for them to be deleted.
   */
  past: number;
  /** Each of them as last seen; `past` says how many of `present` and of `absent` no relay is meant to keep. */
  relays: {
    url: string;
    present: number;
    absent: number;
    undetermined: number;
    past: { present: number; absent: number };
  }[];
  /** When this was computed. */
  computedAt: number;
}

/** Events by month, for the picture of what is where. */
export interface CoverageTimeline {
  account: string;
  /** First second (UTC) of each month, without gaps, oldest first; empty when nothing is archived. */
  months: number[];
  /** Archived events in each month. */
  archived: number[];
  relays: { url: string; present: number[]; absent: number[] }[];
  /** Archived events whose time is not plausible, which no month holds. */
  implausible: number;
  computedAt: number;
}
