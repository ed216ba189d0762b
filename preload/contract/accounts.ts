/** Accounts, the roles of their relays, and what is archived of them. */

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
