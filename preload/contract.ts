/**
 * The typed API between the main process and every user interface: what main, preload and renderer share. Its data shapes
 * and the bounds of what may be chosen stand by subject in `contract/`, and everybody imports them from here; the border
 * in `main/ipc` validates every argument.
 *
 * Conventions: times are Unix seconds unless a name ends in `Ms`; public keys and event IDs are 64 lower-case
 * hex characters; `since: null` is Beginning, the open historical bound.
 */

import type { AccountRelay, AccountSummary, PublishedRelayList } from './contract/accounts.ts';
import type { ApplicationInfo, ImportReport } from './contract/application.ts';
import type {
  CopiesSummary,
  CoverageAttempt,
  CoverageQuery,
  CoverageTimeline,
  CoverageTree,
} from './contract/coverage.ts';
import type { DeliveryState } from './contract/deliveries.ts';
import type { ContractError } from './contract/errors.ts';
import type { EventWhereabouts } from './contract/events.ts';
import type { LegacyOperation, LegacyOverview, LegacyProblem, LegacyRemark } from './contract/legacy.ts';
import type { RelayHealth } from './contract/relays.ts';
import type { ActivitySnapshot, RunSummary, StrategyChoice } from './contract/runs.ts';
import type { Settings } from './contract/settings.ts';
import type {
  Candidate,
  CandidateTree,
  DeliveryHistory,
  DeliveryPage,
  DeliveryReason,
  EventDelivery,
  Narrowing,
  SyncPreview,
  SyncReport,
} from './contract/sync.ts';

export * from './contract/accounts.ts';
export * from './contract/application.ts';
export * from './contract/coverage.ts';
export * from './contract/deliveries.ts';
export * from './contract/errors.ts';
export * from './contract/events.ts';
export * from './contract/legacy.ts';
export * from './contract/relays.ts';
export * from './contract/runs.ts';
export * from './contract/settings.ts';
export * from './contract/sync.ts';
export * from './contract/transport.ts';

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
  /** What was sent of one event, by the ID in any form: the deliveries of every sync that chose it, newest first. */
  'events.deliveries': { args: { id: string }; result: EventDelivery[] };
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
  /** The operation history of the first version, newest first. */
  'legacy.operations': {
    args: { source: number; offset?: number; limit?: number };
    result: { total: number; operations: LegacyOperation[] };
  };
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
