import type {
  AccountSummary,
  ActivitySnapshot,
  CoverageTree,
  PublishedRelayList,
  RelayHealth,
  RunSummary,
  Settings,
} from '../../preload/contract.ts';
import { aliceRelays, manyRelays, oneCompleteRelay } from './fixture-coverage.ts';
import { DAY, hex, relay } from './fixture-parts.ts';
import { legacyOverview, withOldWindows, type LegacyScene } from './fixture-legacy.ts';
import { ENDED_SYNC, FixtureDeliveries, RUNNING_SYNC } from './fixture-sync.ts';

/**
 * An engine that exists on paper only: every state that the interface must show well, without a relay or a disk.
 * It is used to look at the interface and to test it; the application never contains it.
 */
export interface FixtureOptions {
  /** Seconds that count as now. */
  now: number;
  /** `syncing`: a sync of the first account goes on; `idle`: nothing does. */
  scene: 'rich' | 'empty' | 'syncing' | 'idle';
  /** Deliveries of the sync that has ended. */
  deliveries?: number;
  theme: Settings['theme'];
  /** What is left of the first version; nothing unless it is said. */
  legacy?: LegacyScene;
}

function accountSummary(pubkey: string, label: string | null, part: Partial<AccountSummary>): AccountSummary {
  return {
    pubkey,
    npub: `npub1${pubkey.replace(/[b1io]/g, 'q').slice(0, 58)}`,
    label,
    relays: [],
    archive: { events: 0, oldest: null, newest: null },
    completeRelays: 0,
    sourceRelays: 0,
    history: 'never-asked',
    unfinishedRanges: 0,
    checkedAt: null,
    activeRun: null,
    ...part,
  };
}

/** Builds the world of a scene. */
export function world(options: FixtureOptions) {
  const { now } = options;
  const alice = hex(1);
  const bob = hex(2);
  const carol = hex(3);
  const dora = hex(4);
  const oldest = now - 1690 * DAY;
  const trees = new Map<string, CoverageTree>([
    [
      alice,
      {
        account: alice,
        archive: { events: 12_431, oldest, newest: now - 300 },
        relays: (options.legacy ?? 'none') === 'none' ? aliceRelays(now) : withOldWindows(aliceRelays(now), now),
      },
    ],
    [
      bob,
      {
        account: bob,
        archive: { events: 0, oldest: null, newest: null },
        relays: ['wss://relay-a.example', 'wss://relay-b.example'].map((url) => ({
          url,
          role: 'write',
          historyComplete: false,
          history: 'never-asked',
          forwardBoundary: null,
          invalidObservations: 0,
          legacy: null,
          ranges: [],
        })),
      },
    ],
    [
      carol,
      {
        account: carol,
        archive: { events: 9311, oldest: now - 900 * DAY, newest: now - DAY },
        relays: manyRelays(now),
      },
    ],
    [
      dora,
      {
        account: dora,
        archive: { events: 77, oldest: now - 90 * DAY, newest: now - 9 * DAY },
        relays: [oneCompleteRelay(now)],
      },
    ],
  ]);
  const accounts: AccountSummary[] = [
    accountSummary(alice, 'alice', {
      relays: [
        relay('wss://relay-a.example', 'rw'),
        relay('wss://relay-b.example', 'w'),
        relay('wss://nostr.caps-its-pages.example/inbox', 'wx'),
        relay('wss://dead.example', 'w'),
        relay('wss://busy.example', 'x'),
        relay('wss://archive.long-and-descriptive-relay-name.example/with/a/path?and=query', 'x'),
        relay('ws://localhost:7777', 'w'),
        relay('wss://reader.example', 'r'),
      ],
      archive: { events: 12_431, oldest, newest: now - 300 },
      completeRelays: 2,
      sourceRelays: 7,
      history: 'partial',
      unfinishedRanges: 3,
      checkedAt: now - 240,
      activeRun: options.scene === 'idle' ? null : options.scene === 'syncing' ? RUNNING_SYNC : 31,
    }),
    accountSummary(bob, 'bob', {
      relays: [relay('wss://relay-a.example', 'rw'), relay('wss://relay-b.example', 'rw')],
      sourceRelays: 2,
    }),
    accountSummary(carol, null, {
      relays: manyRelays(now).map((each) => relay(each.url, each.role === 'write' ? 'rw' : 'x')),
      archive: { events: 9311, oldest: now - 900 * DAY, newest: now - DAY },
      completeRelays: 27,
      sourceRelays: 40,
      history: 'partial',
      unfinishedRanges: 13,
      checkedAt: now - 3600,
    }),
    accountSummary(dora, 'dora with a rather long name', {
      relays: [relay('wss://relay-a.example', 'rw')],
      archive: { events: 77, oldest: now - 90 * DAY, newest: now - 9 * DAY },
      completeRelays: 1,
      sourceRelays: 1,
      history: 'complete',
      checkedAt: now - 86_000,
    }),
  ];
  const run = (id: number, part: Partial<RunSummary>): RunSummary => ({
    id,
    type: 'fetch',
    account: alice,
    status: 'complete',
    startedAt: now - (32 - id) * 5 * 3600,
    finishedAt: now - (32 - id) * 5 * 3600 + 93,
    resumed: false,
    reverification: null,
    boundary: now - (32 - id) * 5 * 3600,
    limit: 100,
    strategy: 'auto',
    found: 240,
    newlyArchived: 31,
    resumable: false,
    warnings: [],
    deliveries: null,
    relays: (trees.get(alice)?.relays ?? []).slice(0, 4).map((each) => ({
      url: each.url,
      range: each.ranges[0]?.id ?? 0,
      since: null,
      until: now - (32 - id) * 5 * 3600,
      status: 'complete',
      found: 60,
      fetched: 60,
      newlyArchived: 9,
      pages: 2,
      reason: 'The confirming page brought no event that was not known from this walk.',
    })),
    ...part,
  });
  const runs: RunSummary[] = [
    run(31, { status: 'active', startedAt: now - 222, finishedAt: null, found: 1204, newlyArchived: 880 }),
    run(30, {
      status: 'partial',
      resumable: true,
      type: 'recheck',
      found: 13_040,
      newlyArchived: 112,
      warnings: [
        'The clock had jumped back by 2 h since the run before; the boundary of that run was used as the lower bound.',
      ],
      relays: (trees.get(alice)?.relays ?? []).slice(0, 5).map((each) => ({
        url: each.url,
        range: each.ranges[0]?.id ?? 0,
        since: null,
        until: now - 10 * 3600,
        status: each.ranges[0]?.status === 'active' ? 'complete' : (each.ranges[0]?.status ?? 'complete'),
        found: each.ranges[0]?.found ?? 0,
        fetched: each.ranges[0]?.fetched ?? 0,
        newlyArchived: 14,
        pages: each.ranges[0]?.queryCount ?? 0,
        reason: each.ranges[0]?.reason ?? null,
      })),
    }),
    run(29, { status: 'failed', resumable: true, found: 0, newlyArchived: 0 }),
    run(28, { status: 'cancelled', type: 'refetch' }),
    ...Array.from({ length: 22 }, (_, index) => run(27 - index, {})),
  ];
  const syncs = new FixtureDeliveries(options.deliveries ?? 2617, now);
  const ended = syncs.summary(ENDED_SYNC, alice);
  runs.unshift(ended);
  if (options.scene === 'syncing') runs.splice(0, 2, syncs.summary(RUNNING_SYNC, alice), ended);
  const activity: ActivitySnapshot = {
    now,
    runs: [
      {
        run: 31,
        type: 'fetch',
        account: alice,
        startedAt: now - 222,
        found: 1842,
        newlyArchived: 1204,
        rate: 412.4,
        deliveries: null,
        relays: [
          {
            url: 'wss://busy.example',
            state: 'fetching',
            pages: 13,
            found: 1204,
            fetched: 1204,
            newlyArchived: 880,
            rate: 321,
            reachedSecond: now - 500 * DAY,
            since: null,
            until: now - 240,
            waitingUntil: null,
            reason: null,
            deliveries: null,
          },
          {
            url: 'wss://relay-a.example',
            state: 'fetching',
            pages: 4,
            found: 331,
            fetched: 331,
            newlyArchived: 324,
            rate: 91.4,
            reachedSecond: now - 1900,
            since: now - 3 * 3600,
            until: now - 240,
            waitingUntil: null,
            reason: null,
            deliveries: null,
          },
          {
            url: 'wss://relay-b.example',
            state: 'cooling-down',
            pages: 3,
            found: 307,
            fetched: 307,
            newlyArchived: 0,
            rate: 0,
            reachedSecond: now - 90 * DAY,
            since: null,
            until: now - 240,
            waitingUntil: now + 41,
            reason: 'rate limited',
            deliveries: null,
          },
          {
            url: 'ws://localhost:7777',
            state: 'connecting',
            pages: 0,
            found: 0,
            fetched: 0,
            newlyArchived: 0,
            rate: 0,
            reachedSecond: null,
            since: null,
            until: now - 240,
            waitingUntil: null,
            reason: null,
            deliveries: null,
          },
          {
            url: 'wss://dead.example',
            state: 'failed',
            pages: 0,
            found: 0,
            fetched: 0,
            newlyArchived: 0,
            rate: 0,
            reachedSecond: null,
            since: null,
            until: now - 240,
            waitingUntil: null,
            reason: 'The name dead.example does not resolve.',
            deliveries: null,
          },
        ],
      },
    ],
    recent: [...runs.filter(({ status }) => status !== 'active')].slice(0, 5),
  };
  if (options.scene === 'syncing') activity.runs = [syncs.progress(alice)];
  if (options.scene === 'idle') activity.runs = [];
  const health: RelayHealth[] = [
    { state: 'healthy' as const, connected: true, software: 'strfry 1.1.0', lastFailure: null },
    {
      state: 'rate-limited' as const,
      connected: true,
      software: 'nostream',
      lastFailure: 'rate-limited: slow down, please',
    },
    {
      state: 'degraded' as const,
      connected: true,
      software: null,
      lastFailure: 'The relay did not answer within 30 s.',
    },
    {
      state: 'dead' as const,
      connected: false,
      software: null,
      lastFailure: 'The name dead.example does not resolve.',
    },
    { state: 'disconnected' as const, connected: false, software: 'khatru', lastFailure: null },
  ].map((each, index) => ({
    url: aliceRelays(now)[index]?.url ?? '',
    ...each,
    consecutiveFailures: each.state === 'dead' ? 14 : 0,
    lastConnectedAt: each.state === 'dead' ? null : now - 600 * (index + 1),
    waitingUntil: each.state === 'dead' ? now + 512 : null,
    observedCap: index === 2 ? 80 : null,
    openRequests: index === 0 ? 2 : 0,
    requestBudget: 8,
    supportedNips: [1, 9, 11, 40, 42, 77],
    accounts: [alice, bob],
  }));
  const lists: PublishedRelayList[] = [
    {
      eventId: hex(70),
      createdAt: now - 30 * DAY,
      seenAt: now - 29 * DAY,
      relays: [
        relay('wss://relay-a.example', 'rw'),
        relay('wss://new.example', 'w'),
        relay('wss://reader.example', 'r'),
      ],
    },
    {
      eventId: hex(71),
      createdAt: now - 400 * DAY,
      seenAt: now - 29 * DAY,
      relays: [relay('wss://former.example', 'rw'), relay('wss://relay-a.example', 'rw')],
    },
  ];
  const keys = accounts.map(({ pubkey }) => pubkey);
  const legacy = legacyOverview(options.legacy ?? 'none', keys, now);
  return options.scene === 'empty'
    ? {
        alice,
        trees,
        syncs,
        accounts: [],
        runs: [],
        activity: { now, runs: [], recent: [] },
        health: [],
        lists: [],
        legacy,
      }
    : { alice, trees, syncs, accounts, runs, activity, health, lists, legacy };
}
