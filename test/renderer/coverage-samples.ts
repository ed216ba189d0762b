import { historyOnRelay } from '../../main/coverage/history-state.ts';
import type { AccountSummary, CoverageRange, CoverageRelay } from '../../preload/contract.ts';

/** A complete range from Beginning, changed where a test says so. */
export function sampleRange(part: Partial<CoverageRange> = {}): CoverageRange {
  return {
    id: 1,
    since: null,
    until: 2000,
    status: 'complete',
    found: 10,
    fetched: 10,
    notFetched: 0,
    checkedAt: 2001,
    kinds: {},
    strategy: 'paging',
    reason: null,
    cursor: null,
    limit: 100,
    saturatedSeconds: [],
    reachedEnd: part.status === undefined || part.status === 'complete',
    resumable: false,
    closedBy: null,
    attemptCount: 1,
    queryCount: 2,
    ...part,
  };
}

/** A write relay with the given ranges. */
export function sampleRelay(ranges: CoverageRange[], part: Partial<CoverageRelay> = {}): CoverageRelay {
  const historyComplete = part.historyComplete ?? ranges.some((range) => range.status === 'complete');
  return {
    url: 'wss://relay.example',
    role: 'write',
    historyComplete,
    history: historyOnRelay(historyComplete, ranges),
    forwardBoundary: null,
    invalidObservations: 0,
    legacy: null,
    ranges,
    ...part,
  };
}

/** An account with one source relay. */
export function sampleAccount(part: Partial<AccountSummary> = {}): AccountSummary {
  return {
    pubkey: 'a'.repeat(64),
    npub: 'npub1sample',
    label: 'alice',
    relays: [],
    archive: { events: 0, oldest: null, newest: null },
    completeRelays: 0,
    sourceRelays: 1,
    history: 'never-asked',
    unfinishedRanges: 0,
    checkedAt: null,
    activeRun: null,
    ...part,
  };
}
