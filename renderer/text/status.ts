import type {
  AccountSummary,
  CoverageRange,
  CoverageRelay,
  HealthState,
  HistoryState,
  QueryEnding,
  RangeStatus,
  RelayHealth,
  RelayPresence,
  RelayProgress,
  RelayRunState,
  RunStatus,
  RunType,
} from '../../preload/contract.ts';

/** What a state means to a person; decides the colour, never alone. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet';

/** The shape that stands beside the word, so that a state never depends on colour. */
export type StatusShape =
  'check' | 'half' | 'cross' | 'running' | 'waiting' | 'underway' | 'dashed' | 'stopped' | 'unlinked' | 'question';

/** A state as it is shown everywhere: shape, word and colour together. */
export interface Status {
  tone: Tone;
  shape: StatusShape;
  word: string;
}

/** A state from its parts. */
export function status(tone: Tone, shape: StatusShape, word: string): Status {
  return { tone, shape, word };
}

const ranges: Record<RangeStatus, Status> = {
  complete: status('good', 'check', 'Complete'),
  partial: status('warn', 'half', 'Partial'),
  failed: status('bad', 'cross', 'Failed'),
  active: status('busy', 'running', 'Fetching'),
};

const rateLimited = status('warn', 'waiting', 'Waits (rate limited)');
const reconnecting = status('warn', 'unlinked', 'Waits to reconnect');
const unreachable = status('warn', 'unlinked', 'Unreachable');
const cancelled = status('quiet', 'stopped', 'Cancelled');

const relayRuns: Record<RelayRunState, Status> = {
  ...ranges,
  waiting: status('quiet', 'waiting', 'Waiting'),
  connecting: status('busy', 'running', 'Connecting'),
  fetching: ranges.active,
  sending: status('busy', 'running', 'Sending'),
  'reading-back': status('busy', 'running', 'Reading back'),
  'cooling-down': rateLimited,
  cancelled,
};

const health: Record<HealthState, Status> = {
  healthy: status('good', 'check', 'Healthy'),
  disconnected: status('quiet', 'unlinked', 'Disconnected'),
  degraded: status('warn', 'half', 'Recovering'),
  dead: status('bad', 'cross', 'Dead'),
  'rate-limited': status('warn', 'waiting', 'Rate limited'),
};

const endings: Record<QueryEnding, Status> = {
  eose: status('good', 'check', 'EOSE'),
  'eose-finish': status('good', 'check', 'EOSE, finished'),
  'eose-more': status('good', 'check', 'EOSE, more'),
  'neg-complete': status('good', 'check', 'Reconciled'),
  'neg-err': status('bad', 'cross', 'NEG-ERR'),
  closed: status('bad', 'cross', 'Closed by relay'),
  notice: status('warn', 'half', 'Notice'),
  timeout: status('warn', 'waiting', 'Timed out'),
  disconnect: status('bad', 'unlinked', 'Disconnected'),
  'auth-required': status('warn', 'cross', 'Needs AUTH'),
  'rate-limited': status('warn', 'waiting', 'Rate limited'),
  unpageable: status('warn', 'half', 'Cannot be paged'),
  cancelled,
  failed: status('bad', 'cross', 'Failed'),
};

const presences: Record<RelayPresence['state'], Status> = {
  present: status('good', 'check', 'Present'),
  absent: status('bad', 'cross', 'Absent'),
  undetermined: status('quiet', 'question', 'Undetermined'),
};

/** An event on a relay, as far as evidence goes. */
export function presenceStatus(state: RelayPresence['state']): Status {
  return presences[state];
}

/** A range or an attempt. */
export function rangeStatus(value: RangeStatus): Status {
  return ranges[value];
}

/** Old windows that were all asked: that completes nothing, so it is not told in the colour of what is complete. */
const asked = status('quiet', 'check', 'Asked');

/** A range as it stands now: what a later complete range covers keeps its word, and does not warn any more. */
export function standing(range: Pick<CoverageRange, 'status' | 'closedBy' | 'strategy'>): Status {
  if (range.status === 'complete' && range.strategy === 'legacy-windows') return asked;
  return range.closedBy === null
    ? ranges[range.status]
    : status('quiet', ranges[range.status].shape, ranges[range.status].word);
}

const syncing = status('busy', 'running', 'Syncing');

/** A run as a whole. */
export function runStatus(value: RunStatus, type: RunType = 'fetch'): Status {
  return value === 'active' && type === 'sync' ? syncing : relayRuns[value];
}

/** One relay inside a run. Before it may be connected to again it has a time to wait for. */
export function relayRunStatus({ state, waitingUntil }: Pick<RelayProgress, 'state' | 'waitingUntil'>): Status {
  return state === 'connecting' && waitingUntil !== null ? reconnecting : relayRuns[state];
}

const underWay: readonly RelayRunState[] = [
  'waiting',
  'connecting',
  'fetching',
  'sending',
  'reading-back',
  'cooling-down',
];

/** True while a run has something to do on the relay or waits for it. */
export function isUnderWay(state: RelayRunState): boolean {
  return underWay.includes(state);
}

/** True where a moment's wait is only the pace at which a relay is sent to, and nothing to be told. */
export function isPacing(state: RelayRunState): boolean {
  return state === 'sending' || state === 'reading-back';
}

/**
 * The health of a relay, in the words that a run uses for it while it waits. `wanted` says that a run has something to do
 * there: without one nothing waits.
 */
export function healthStatus({ state, connected }: Pick<RelayHealth, 'state' | 'connected'>, wanted: boolean): Status {
  if (state === 'degraded' && !connected) return wanted ? reconnecting : unreachable;
  return state === 'rate-limited' && wanted ? rateLimited : health[state];
}

/**
 * How a query ended; null is a query under way. A comparison that paging took over from lost nothing, so its ending is
 * never told as a failure.
 */
export function endingStatus(value: QueryEnding | null, fellBack = false): Status {
  if (value === null) return ranges.active;
  const ending = endings[value];
  return fellBack && ending.tone !== 'good' ? status('quiet', 'stopped', ending.word) : ending;
}

/** How much of a history is established, by the one rule that relays and accounts share. */
const histories: Record<HistoryState, Status> = {
  complete: ranges.complete,
  partial: ranges.partial,
  failed: ranges.failed,
  'never-asked': status('quiet', 'dashed', 'Never asked'),
};

/** An account in the sidebar: what is going on, else how much of its history is established on all its relays. */
export function accountStatus(account: AccountSummary, running: RunType = 'fetch'): Status {
  return account.activeRun === null ? histories[account.history] : runStatus('active', running);
}

/** The history of one relay for one account; of a relay that is not known of it was never asked. */
export function historyStatus(relay: Pick<CoverageRelay, 'ranges' | 'history'> | undefined): Status {
  if (relay?.ranges.some((range) => range.status === 'active')) return ranges.active;
  return histories[relay?.history ?? 'never-asked'];
}
