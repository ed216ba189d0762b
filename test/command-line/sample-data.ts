import type { AccountSummary, RunRelaySummary, RunSummary, SignedEvent } from '../../preload/contract.ts';

/** The key of the examples of NIP-19. */
export const PUBKEY = '3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d';
export const NPUB = 'npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6';

export function sampleAccount(changes: Partial<AccountSummary> = {}): AccountSummary {
  return {
    pubkey: PUBKEY,
    npub: NPUB,
    label: 'alice',
    relays: [{ url: 'wss://relay-a.example', read: true, write: true, extra: false }],
    archive: { events: 12_431, oldest: 1_600_000_000, newest: 1_700_000_000 },
    completeRelays: 1,
    sourceRelays: 1,
    history: 'complete',
    unfinishedRanges: 0,
    checkedAt: 1_700_000_100,
    activeRun: null,
    ...changes,
  };
}

export function sampleRelay(changes: Partial<RunRelaySummary> = {}): RunRelaySummary {
  return {
    url: 'wss://relay-a.example',
    range: 7,
    since: null,
    until: 1_700_000_000,
    status: 'complete',
    found: 120,
    fetched: 120,
    newlyArchived: 20,
    pages: 3,
    reason: 'The relay had nothing older.',
    ...changes,
  };
}

export function sampleRun(changes: Partial<RunSummary> = {}): RunSummary {
  return {
    id: 5,
    type: 'fetch',
    account: PUBKEY,
    status: 'complete',
    startedAt: 1_700_000_000,
    finishedAt: 1_700_000_065,
    resumed: false,
    reverification: null,
    boundary: 1_700_000_000,
    limit: 100,
    strategy: 'auto',
    found: 120,
    newlyArchived: 20,
    resumable: false,
    warnings: [],
    relays: [sampleRelay()],
    deliveries: null,
    ...changes,
  };
}

export function sampleEvent(index: number, content = `note ${index}`): SignedEvent {
  return {
    id: index.toString(16).padStart(64, '0'),
    pubkey: PUBKEY,
    created_at: 1_600_000_000 + index,
    kind: 1,
    tags: [],
    content,
    sig: '0'.repeat(128),
  };
}
