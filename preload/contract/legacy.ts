/** What the first version left: what became of it, and what waits for a decision. */

/**
 * Where a fetch of the first version stopped. `waiting`: nobody decided yet; `kept`: for later; `resumed`: its windows are
 * being, or were, gone on with; `replaced`: a new scan was started instead.
 */
export type LegacyCheckpointStatus = 'waiting' | 'resumed' | 'replaced' | 'kept';

/** A span of time on one relay that the first version had still to ask for; both bounds inclusive. */
export interface LegacyWindow {
  url: string;
  since: number;
  until: number;
}

export interface LegacyCheckpoint {
  id: number;
  account: string;
  status: LegacyCheckpointStatus;
  /** As the first version noted it. */
  startedAt: number | null;
  /** Null when the first version was ended while it worked, and noted no time. */
  stoppedAt: number | null;
  relays: string[];
  /** Windows left; once resumed, as they stand by now. */
  pendingWindows: number;
  windows: LegacyWindow[];
  completedWindows: number;
  eventsSeen: number;
  windowLimit: number;
  /** Archived events of the account within the windows left. */
  archivedWithin: number;
  /** The run that goes on with it or replaced it. */
  run: number | null;
}

/** Why a row of the first version was kept aside, or is worth a remark. */
export type LegacyProblem =
  | 'not-json'
  | 'wrong-shape'
  | 'wrong-id'
  | 'bad-signature'
  | 'columns-disagree'
  | 'unknown-version'
  | 'future-time'
  | 'milliseconds'
  | 'bad-url'
  | 'unknown-account'
  | 'duplicate'
  | 'wrong-type'
  | 'contradiction';

/** One row that could not be carried over as it stood. */
export interface LegacyRemark {
  id: number;
  table: string;
  /** What names the row in its table. */
  row: string;
  problem: LegacyProblem;
  detail: string;
  /** `aside`: kept, and not carried over; `merged`: with another row; `carried`: in spite of the remark. */
  outcome: 'aside' | 'merged' | 'carried';
}

/** What became of one table of the first version: `before` is the sum of the four that follow it. */
export interface LegacyTableCount {
  table: string;
  before: number;
  carried: number;
  merged: number;
  aside: number;
  /** Kept as information about the past, without becoming evidence or a range. */
  information: number;
}

/** A database of the first version, and how far it was carried over. */
export interface LegacySource {
  id: number;
  /** The file that a person chose; null for the database that this one was migrated from. */
  file: string | null;
  state: 'carrying' | 'done';
  /** Rows looked at so far, and in all. */
  done: number;
  total: number;
  startedAt: number;
  finishedAt: number | null;
  tables: LegacyTableCount[];
  remarks: number;
  /** The copy of the database made before it was migrated, where it lies now; null when it is gone, and for a chosen file. */
  copy: string | null;
  /** While it is carried over: why that stopped, when it did; the next start, or the next import, goes on with it. */
  stoppedBecause: string | null;
}

/** What is left of the first version, and what waits for a decision. */
export interface LegacyOverview {
  sources: LegacySource[];
  checkpoints: LegacyCheckpoint[];
  /** Checkpoints that nobody decided about yet. */
  waiting: number;
}

/** What the first version said of a relay: kept as information, and evidence of nothing. */
export interface LegacyCoverageLine {
  status: string;
  oldest: number | null;
  newest: number | null;
  events: number;
  updatedAt: number | null;
}

/** What the first version did, as it noted it: a fetch or a publication, without ranges. Times it lacked are null. */
export interface LegacyOperation {
  id: string;
  account: string;
  type: string;
  status: string;
  startedAt: number | null;
  finishedAt: number | null;
  error: string | null;
}
