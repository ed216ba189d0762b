/**
 * The typed API between the main process and every user interface: the one file that main, preload and
 * renderer share. It holds plain data shapes, and the bounds of
 * what may be chosen; the border in `main/ipc` validates every argument.
 *
 * Conventions: times are Unix seconds unless a name ends in `Ms`; public keys and event IDs are 64 lower-case
 * hex characters; `since: null` is Beginning, the open historical bound.
 */

/** Every way in which a call can fail, as seen by an interface or a script. */
export type ErrorCode =
  | 'invalid-argument'
  | 'unknown-account'
  | 'unknown-relay'
  | 'unknown-run'
  | 'unknown-range'
  | 'unknown-method'
  | 'already-active'
  | 'unknown-delivery'
  | 'unknown-checkpoint'
  | 'nothing-to-do'
  | 'not-found'
  | 'network'
  | 'storage'
  | 'data-directory-unusable'
  | 'data-directory-in-use'
  | 'database-newer'
  | 'database-damaged'
  | 'cancelled'
  | 'internal';

/** What crosses a transport when a call fails. `message` is one plain sentence for a person. */
export interface ContractError {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown> | null;
}

/** The roles a relay has for one account, with the URL as the user or the relay list wrote it. */
export interface AccountRelay {
  url: string;
  read: boolean;
  write: boolean;
  extra: boolean;
}

/** Unique archived events of an account, over all runs and relays. */
export interface ArchiveSummary {
  events: number;
  oldest: number | null;
  newest: number | null;
}

/** How much of a history is established; a run in progress does not change it. */
export type HistoryState = 'complete' | 'partial' | 'failed' | 'never-asked';

export interface AccountSummary {
  pubkey: string;
  npub: string;
  label: string | null;
  relays: AccountRelay[];
  archive: ArchiveSummary;
  /** Source relays (write and extra) whose initial history is complete. */
  completeRelays: number;
  /** Source relays in all. */
  sourceRelays: number;
  /** Of all source relays together: partial where they differ. */
  history: HistoryState;
  /** Ranges that ended partial or failed and can be resumed, without those that a later complete one covers. */
  unfinishedRanges: number;
  /** When a range of this account was last checked on any relay. */
  checkedAt: number | null;
  /** The run in progress for this account. */
  activeRun: number | null;
}

/** A published NIP-65 list as it was found. */
export interface PublishedRelayList {
  eventId: string;
  createdAt: number;
  seenAt: number;
  relays: AccountRelay[];
}

export type RangeStatus = 'complete' | 'partial' | 'failed' | 'active';
export type RunType = 'fetch' | 'recheck' | 'refetch' | 'sync' | 'legacy-resume';
export type RunStatus = 'active' | 'complete' | 'partial' | 'failed' | 'cancelled';
export type Strategy = 'negentropy' | 'paging' | 'legacy-windows';
export type StrategyChoice = 'auto' | 'negentropy' | 'paging';

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

export type HealthState = 'healthy' | 'disconnected' | 'degraded' | 'dead' | 'rate-limited';

export interface RelayHealth {
  url: string;
  state: HealthState;
  connected: boolean;
  consecutiveFailures: number;
  lastConnectedAt: number | null;
  lastFailure: string | null;
  /** When the next connection attempt or request is allowed. */
  waitingUntil: number | null;
  /** The largest page that the relay was seen to carry while it held more. */
  observedCap: number | null;
  openRequests: number;
  requestBudget: number;
  software: string | null;
  supportedNips: number[];
  accounts: string[];
}

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
}

/**
 * How a delivery stands. `sent`: no OK came, or none yet, so only reading it back can tell. `accepted` is the relay's word,
 * `verified` what reading it back showed. `withdrawn`: it may not or need not be sent any more.
 */
export type DeliveryState = 'pending' | 'sent' | 'accepted' | 'rejected' | 'verified' | 'unverified' | 'withdrawn';

/** Deliveries by state; they add up to all deliveries of the run. */
export type DeliveryTotals = Record<DeliveryState, number>;

/** Why an archived event is not sent, although a relay lacks it (design §6). */
export type ExclusionReason =
  'deleted' | 'expired' | 'superseded' | 'protected' | 'vanished' | 'ephemeral' | 'never-sent';

/**
 * Why a delivery stands where it stands. Of a rejection: the prefix of NIP-01, `too-large`, or `other`. `not-returned`:
 * accepted, and not returned when asked for; `no-answer`: no OK came, and it is not returned either; `not-read-back`: asking
 * for it did not come to an end; `not-sent`: the relay could not be reached. Of a withdrawal: why it may not be sent any
 * more, `no-write-relay`, or `present` when the relay turned out to have it.
 */
export type DeliveryReason =
  | 'auth-required'
  | 'restricted'
  | 'rate-limited'
  | 'pow'
  | 'blocked'
  | 'invalid'
  | 'unsupported'
  | 'mute'
  | 'error'
  | 'too-large'
  | 'other'
  | 'not-returned'
  | 'no-answer'
  | 'not-read-back'
  | 'not-sent'
  | 'no-write-relay'
  | 'present'
  | ExclusionReason;

/** What Sync is narrowed to; what is left out is not narrowed. Both bounds are inclusive seconds of `created_at`. */
export interface Narrowing {
  /** URLs of write relays. */
  relays?: string[];
  kinds?: number[];
  since?: number;
  until?: number;
}

/** Confirmed-missing copies of eligible events on one write relay. */
export interface CandidateRelay {
  url: string;
  /** Without those in `refused`. */
  count: number;
  /** When the oldest of the observations that this rests on was made; null without candidates. */
  observedAt: number | null;
  kinds: { kind: number; count: number; observedAt: number }[];
  /** Missing copies that this relay refused for a lasting reason: offered on demand only. */
  refused: number;
  /**
   * Eligible events of which nothing conclusive is known on this relay: they are neither missing nor present. Null while they
   * are being counted, which may take a second or two.
   */
  undetermined: number | null;
}

/** What Sync offers to send. One event missing on two relays is two copies. */
export interface CandidateTree {
  account: string;
  total: number;
  /** All write relays of the account, or those narrowed to. */
  relays: CandidateRelay[];
  /** Events that some of these relays lack and that are not sent, each counted once, by reason. */
  excluded: { reason: ExclusionReason; events: number }[];
  /**
   * Archived events that are left out because nobody has checked yet whether they may be sent: a process that only reads
   * cannot. Absent when there are none.
   */
  unchecked?: number;
  computedAt: number;
}

/** One confirmed-missing copy. */
export interface Candidate {
  event: string;
  kind: number;
  createdAt: number;
  /** The beginning of the content, as text. */
  preview: string;
  observedAt: number;
  /** The relay refused it for a lasting reason before. */
  refused: boolean;
}

/** Something that is known about a relay and makes it likely that it refuses some of what would be sent. */
export interface SyncWarning {
  type: 'too-old' | 'too-large' | 'authentication' | 'payment' | 'restricted' | 'refused-before' | 'unreachable';
  /** How many of the copies it concerns; null when that cannot be told. */
  copies: number | null;
  /** One plain sentence that says where this is known from. */
  message: string;
}

/** Exactly what a sync would send where. Nothing is sent by looking at it. */
export interface SyncPreview {
  account: string;
  total: number;
  /** Distinct events among the copies. */
  events: number;
  relays: {
    url: string;
    count: number;
    /** Of their frames. */
    bytes: number;
    oldest: number;
    newest: number;
    kinds: { kind: number; count: number }[];
    warnings: SyncWarning[];
  }[];
}

/** One event on its way to one relay. */
export interface Delivery {
  id: number;
  event: string;
  kind: number;
  createdAt: number;
  preview: string;
  relay: string;
  state: DeliveryState;
  reason: DeliveryReason | null;
  /** The relay's own words where there are any, else ours. */
  message: string | null;
  /** The relay said that it had the event already. */
  duplicate: boolean;
  /** A rejection that time does not change: Resume leaves it, a retry on demand does not. */
  lasting: boolean;
  /** How often it was sent. */
  attempts: number;
  sentAt: number | null;
  verifiedAt: number | null;
}

/** One thing that was done for a delivery, and what came of it. */
export interface DeliveryStep {
  type: 'send' | 'read-back' | 'withdraw';
  at: number;
  completedAt: number | null;
  /** `unanswered`: no OK came; `interrupted`: it broke off; `inconclusive`: the answer does not tell. */
  outcome:
    | 'accepted'
    | 'duplicate'
    | 'rejected'
    | 'unanswered'
    | 'interrupted'
    | 'found'
    | 'not-found'
    | 'inconclusive'
    | 'withdrawn'
    | null;
  message: string | null;
  /** The recorded query of a read-back. */
  query: number | null;
}

export interface DeliveryHistory extends Delivery {
  run: number;
  steps: DeliveryStep[];
}

/** How a sync stands, by state, by reason, and by relay. */
export interface SyncReport {
  run: number;
  account: string;
  status: RunStatus;
  startedAt: number;
  finishedAt: number | null;
  /** What the run was narrowed to when it was begun. */
  narrowing: Narrowing;
  totals: DeliveryTotals;
  reasons: { state: DeliveryState; reason: DeliveryReason; count: number }[];
  relays: { url: string; totals: DeliveryTotals }[];
  resumable: boolean;
  /** Refused for a lasting reason: sent again on demand only. */
  refused: number;
}

export interface DeliveryPage {
  /** How many deliveries match in all. */
  total: number;
  deliveries: Delivery[];
}

/** What a page may be asked to carry, everywhere: a page of one event could never get past a second with two. */
export const PAGE_LIMIT = { smallest: 2, largest: 5000 } as const;

/** How many requests may be open on one relay connection. */
export const REQUEST_BUDGET = { smallest: 1, largest: 100 } as const;

export interface Settings {
  /** Within {@link PAGE_LIMIT}. */
  pageLimit: number;
  /** Where relay lists are looked up (NIP-65). */
  indexRelays: string[];
  theme: 'system' | 'light' | 'dark';
  /** Open requests per relay connection at the most; within {@link REQUEST_BUDGET}. */
  requestBudget: number;
}

export interface SignedEvent {
  id: string;
  pubkey: string;
  created_at: number;
  kind: number;
  tags: string[][];
  content: string;
  sig: string;
}

/** What is known, by now, about one event on one relay. `undetermined`: no applicable evidence either way. */
export interface RelayPresence {
  url: string;
  /** Whether the account of the event's author lists the relay, and as what. */
  role: 'write' | 'extra' | 'write+extra' | 'read' | 'former' | 'other';
  state: 'present' | 'absent' | 'undetermined';
  /** When the query that this rests on completed; null when undetermined. */
  observedAt: number | null;
  /** The query that this rests on. */
  query: {
    id: number;
    type: 'REQ' | 'NEG';
    ending: QueryEnding;
    request: Record<string, unknown>;
    range: number;
    run: number;
  } | null;
  /** On what ground, or why it is undetermined: one plain sentence. */
  ground: string;
}

/** Where an event is. The body may be unknown here although a relay named the ID. */
export interface EventWhereabouts {
  id: string;
  event: SignedEvent | null;
  firstSeenAt: number | null;
  /** The account here that signed it, 64 hex characters. */
  account: string | null;
  relays: RelayPresence[];
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
  relays: { url: string; present: number; absent: number; undetermined: number }[];
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

export interface ApplicationInfo {
  version: string;
  host: 'desktop' | 'browser';
  dataDirectory: string;
  demo: boolean;
}

export interface ImportReport {
  read: number;
  newlyArchived: number;
  alreadyArchived: number;
  /** The first bad lines, by number; `bad` counts all. */
  problems: { line: number; message: string }[];
  bad: number;
}

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
  /** The copy of the database made before it was migrated; null for a chosen file, which stays as it is. */
  copy: string | null;
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

/** One request, one answer. */
export interface Methods {
  'application.info': { args: Record<string, never>; result: ApplicationInfo };
  'accounts.list': { args: Record<string, never>; result: AccountSummary[] };
  'accounts.add': {
    args: { key: string; label?: string; read?: string[]; write?: string[]; extra?: string[] };
    result: AccountSummary;
  };
  'accounts.rename': { args: { account: string; label: string | null }; result: AccountSummary };
  'accounts.setRelays': { args: { account: string; relays: AccountRelay[] }; result: AccountSummary };
  'accounts.publishedLists': { args: { account: string }; result: PublishedRelayList[] };
  /** Looks the NIP-65 list up now; the local list stays as it is. */
  'accounts.discover': { args: { account: string }; result: PublishedRelayList | null };
  /** Replaces the local read/write list by the newest published one; extra sources stay. */
  'accounts.resetRelays': { args: { account: string }; result: AccountSummary };
  'fetch.start': {
    args: { account: string; recheck?: boolean; relays?: string[]; limit?: number; strategy?: StrategyChoice };
    result: { run: number };
  };
  /** Without a run: all unfinished ones, syncs too, of the account when one is given. */
  'fetch.resume': { args: { run?: number; account?: string; range?: number }; result: { runs: number[] } };
  /** Repeats exactly the range's scope; by the given strategy, else automatically. */
  'fetch.refetch': { args: { range: number; limit?: number; strategy?: StrategyChoice }; result: { run: number } };
  'runs.cancel': { args: { run: number }; result: { cancelled: boolean } };
  'runs.list': { args: { account?: string; limit?: number; before?: number }; result: RunSummary[] };
  'coverage.tree': { args: { account: string }; result: CoverageTree };
  'coverage.attempts': { args: { range: number }; result: CoverageAttempt[] };
  'coverage.queries': { args: { attempt: number; offset?: number; limit?: number }; result: CoverageQuery[] };
  /** By 64 hex characters, note or nevent; null when nothing at all is known about the ID. */
  'events.find': { args: { id: string }; result: EventWhereabouts | null };
  'coverage.copies': { args: { account: string }; result: CopiesSummary };
  'coverage.timeline': { args: { account: string }; result: CoverageTimeline };
  'candidates.tree': { args: { account: string } & Narrowing; result: CandidateTree };
  /** Newest first; by `after`, the ID that the page before ended with. */
  'candidates.events': {
    args: {
      account: string;
      relay: string;
      kinds?: number[];
      since?: number;
      until?: number;
      after?: string;
      limit?: number;
    };
    result: Candidate[];
  };
  'sync.preview': { args: { account: string; includeRefused?: boolean } & Narrowing; result: SyncPreview };
  /** Snapshots exactly the candidates of now and sends them. */
  'sync.start': {
    args: { account: string; includeRefused?: boolean } & Narrowing;
    result: { run: number; copies: number };
  };
  /** Sends once more what a relay refused for a lasting reason in this run. */
  'sync.retryRefused': { args: { run: number; relay?: string }; result: { run: number } };
  /** Reads back what was verified before, all of it or a random sample of so many; sends nothing. */
  'sync.reverify': { args: { run: number; sample?: number }; result: { run: number } };
  'sync.report': { args: { run: number }; result: SyncReport };
  'sync.deliveries': {
    args: {
      run: number;
      states?: DeliveryState[];
      reason?: DeliveryReason;
      relay?: string;
      offset?: number;
      limit?: number;
    };
    result: DeliveryPage;
  };
  'sync.delivery': { args: { delivery: number }; result: DeliveryHistory };
  'sync.export': { args: { run: number; format: 'json' | 'csv' }; result: { text: string } };
  'legacy.overview': { args: Record<string, never>; result: LegacyOverview };
  'legacy.remarks': {
    args: { source: number; table?: string; problem?: LegacyProblem; offset?: number; limit?: number };
    result: { total: number; remarks: LegacyRemark[] };
  };
  /** The whole row that a remark is about, as JSON. */
  'legacy.row': { args: { remark: number }; result: { text: string } };
  /** Goes on with the windows left, under the old rules. */
  'legacy.resume': { args: { checkpoints: number[] }; result: { runs: number[] } };
  /** Starts the initial history on the checkpoints' relays instead. */
  'legacy.rescan': { args: { checkpoints: number[] }; result: { runs: number[] } };
  'legacy.keep': { args: { checkpoints: number[] }; result: { kept: number } };
  /** Carries a file of the first version over, by its path on the machine of the main process. */
  'legacy.importFile': { args: { path: string }; result: { source: number } };
  'archive.import': { args: { lines: string }; result: ImportReport };
  'relays.health': { args: Record<string, never>; result: RelayHealth[] };
  'settings.get': { args: Record<string, never>; result: Settings };
  'settings.set': { args: Partial<Settings>; result: Settings };
  /** Opens an `https:` address outside; everything else is refused. */
  'application.openExternal': { args: { url: string }; result: { opened: boolean } };
}

/** A snapshot at once, then a new snapshot whenever something changed, at most four a second. */
export interface Topics {
  activity: { args: Record<string, never>; snapshot: ActivitySnapshot };
  accounts: { args: Record<string, never>; snapshot: AccountSummary[] };
  coverage: { args: { account: string }; snapshot: CoverageTree };
  copies: { args: { account: string }; snapshot: CopiesSummary };
  timeline: { args: { account: string }; snapshot: CoverageTimeline };
  runs: { args: { account?: string }; snapshot: RunSummary[] };
  candidates: { args: { account: string } & Narrowing; snapshot: CandidateTree };
  sync: { args: { run: number }; snapshot: SyncReport };
  legacy: { args: Record<string, never>; snapshot: LegacyOverview };
  relays: { args: Record<string, never>; snapshot: RelayHealth[] };
  settings: { args: Record<string, never>; snapshot: Settings };
}

export type Method = keyof Methods;
export type Topic = keyof Topics;

/** What a transport gives an interface; the same over Electron's IPC and over the loopback WebSocket. */
export interface HoldfastApi {
  /** Rejects with a {@link ContractError} as plain data. */
  call<M extends Method>(method: M, args: Methods[M]['args']): Promise<Methods[M]['result']>;
  /** Calls `onSnapshot` with every snapshot until the returned function is called. */
  subscribe<T extends Topic>(
    topic: T,
    args: Topics[T]['args'],
    onSnapshot: (snapshot: Topics[T]['snapshot']) => void,
    onError?: (error: ContractError) => void,
  ): () => void;
}

/** Channel names of the Electron transport. */
export const CHANNELS = {
  call: 'holdfast:call',
  subscribe: 'holdfast:subscribe',
  unsubscribe: 'holdfast:unsubscribe',
  update: 'holdfast:update',
} as const;

/** How a call is answered on either transport: errors travel as data, never as exceptions of the transport. */
export type CallOutcome = { ok: true; result: unknown } | { ok: false; error: ContractError };

/** One update of a subscription on either transport. */
export interface SubscriptionUpdate {
  subscription: number;
  snapshot?: unknown;
  error?: ContractError;
}

/** Frames of the loopback WebSocket, from the interface to the host and back. */
export type ClientFrame =
  | { type: 'call'; id: number; method: string; args: unknown }
  | { type: 'subscribe'; subscription: number; topic: string; args: unknown }
  | { type: 'unsubscribe'; subscription: number };
export type HostFrame =
  { type: 'result'; id: number; outcome: CallOutcome } | ({ type: 'update' } & SubscriptionUpdate);
