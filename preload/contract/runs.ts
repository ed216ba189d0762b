/** Runs: what a person asked for, how far it is, and how it ended. */

import type { DeliveryTotals, Reverification } from './deliveries.ts';

export type RangeStatus = 'complete' | 'partial' | 'failed' | 'active';
export type RunType = 'fetch' | 'recheck' | 'refetch' | 'sync' | 'legacy-resume';
export type RunStatus = 'active' | 'complete' | 'partial' | 'failed' | 'cancelled';
export type Strategy = 'negentropy' | 'paging' | 'legacy-windows';
export type StrategyChoice = 'auto' | 'negentropy' | 'paging';

/** `waiting`: for its turn; `connecting`: also while it waits before trying again; `cooling-down`: the relay limits the rate. */
export type RelayRunState =
  'waiting' | 'connecting' | 'fetching' | 'sending' | 'reading-back' | 'cooling-down' | RangeStatus | 'cancelled';

export interface RelayProgress {
  url: string;
  state: RelayRunState;
  pages: number;
  found: number;
  fetched: number;
  newlyArchived: number;
  /** Found events per second over the last seconds. */
  rate: number;
  /** The second that the walk has reached. */
  reachedSecond: number | null;
  /** The bounds of the range being walked. */
  since: number | null;
  until: number | null;
  waitingUntil: number | null;
  reason: string | null;
  /** Of a sync: how its deliveries to this relay stand. Null for every other run. */
  deliveries: DeliveryTotals | null;
}

export interface RunProgress {
  run: number;
  type: RunType;
  account: string;
  startedAt: number;
  /** Copies found, relay by relay; no number of events. */
  found: number;
  newlyArchived: number;
  rate: number;
  relays: RelayProgress[];
  /** Of a sync: how its deliveries stand. Null for every other run. */
  deliveries: DeliveryTotals | null;
}

export interface ActivitySnapshot {
  now: number;
  /** Runs in progress first, then those that ended during this session, newest first. */
  runs: RunProgress[];
  recent: RunSummary[];
}

export interface RunRelaySummary {
  url: string;
  range: number;
  since: number | null;
  until: number;
  status: RangeStatus;
  found: number;
  fetched: number;
  newlyArchived: number;
  pages: number;
  reason: string | null;
}

export interface RunSummary {
  id: number;
  type: RunType;
  account: string;
  status: RunStatus;
  startedAt: number;
  finishedAt: number | null;
  /** It was gone on with after it had ended, so that the time from its start to its end is not the time it took. */
  resumed: boolean;
  /** The fixed upper bound T of the run. */
  boundary: number;
  limit: number;
  strategy: StrategyChoice;
  /** Copies found, relay by relay: an event on two relays counts twice, so this is no number of events. */
  found: number;
  newlyArchived: number;
  resumable: boolean;
  /** What a person should know about this run, for example that the clock had jumped backwards. */
  warnings: string[];
  relays: RunRelaySummary[];
  /** Of a sync: how its deliveries stand. Null for every other run. */
  deliveries: DeliveryTotals | null;
  /** Of a sync: what came of looking again for its verified copies. Null when nobody asked for that. */
  reverification: Reverification | null;
}
