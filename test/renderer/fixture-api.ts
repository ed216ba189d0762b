import type {
  AccountRelay,
  AccountSummary,
  ActivitySnapshot,
  ContractError,
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
  CoverageTree,
  HoldfastApi,
  Method,
  Methods,
  PublishedRelayList,
  QueryEnding,
  RangeStatus,
  RelayHealth,
  RunSummary,
  Settings,
  SignedEvent,
  Topic,
  Topics,
} from '../../preload/contract.ts';

/**
 * An engine that exists on paper only: every state that the interface must show well, without a relay or a disk.
 * It is used to look at the interface and to test it; the application never contains it.
 */
export interface FixtureOptions {
  /** Seconds that count as now. */
  now: number;
  scene: 'rich' | 'empty';
  theme: Settings['theme'];
}

const DAY = 86_400;

const hex = (seed: number): string => {
  let value = seed * 2654435761;
  let text = '';
  while (text.length < 64) {
    value = (Math.imul(value ^ (value >>> 15), 2246822519) + 3266489917) >>> 0;
    text += value.toString(16).padStart(8, '0');
  }
  return text.slice(0, 64);
};

const relay = (url: string, roles: string): AccountRelay => ({
  url,
  read: roles.includes('r'),
  write: roles.includes('w'),
  extra: roles.includes('x'),
});

const fault = (code: ContractError['code'], message: string): ContractError => ({ code, message, details: null });

function range(id: number, part: Partial<CoverageRange> & { until: number }): CoverageRange {
  const found = part.found ?? 0;
  return {
    id,
    since: null,
    status: 'complete',
    found,
    fetched: found,
    notFetched: 0,
    checkedAt: part.until + 120,
    kinds: {},
    strategy: 'paging',
    reason: null,
    saturatedSeconds: [],
    resumable: false,
    attemptCount: 1,
    queryCount: Math.ceil(found / 100) + 1,
    ...part,
  };
}

const someKinds = (found: number): Record<string, number> => ({
  1: Math.floor(found * 0.52),
  7: Math.floor(found * 0.25),
  6: Math.floor(found * 0.12),
  9735: Math.floor(found * 0.06),
  0: 12,
  3: 88,
  10002: 9,
  30023: 14,
  30078: 31,
  5: 22,
});

function aliceRelays(now: number): CoverageRelay[] {
  const start = now - 4 * 60;
  const incremental = (first: number, count: number, from: number, to: number): CoverageRange[] =>
    Array.from({ length: count }, (_, index) => {
      const step = (to - from) / count;
      const since = Math.floor(from + index * step) - 10;
      const until = Math.floor(from + (index + 1) * step);
      const found = 12 + ((index * 37) % 90);
      return range(first + index, {
        since,
        until,
        found,
        kinds: { 1: found - 4, 7: 4 },
        reason: 'A page brought no event that was not known from this walk, and the relay ended it with EOSE.',
      });
    });
  const endReached = 'The confirming page brought no event that was not known from this walk.';
  return [
    {
      url: 'wss://relay-a.example',
      role: 'write',
      historyComplete: true,
      forwardBoundary: start,
      invalidObservations: 0,
      ranges: [
        range(1, { until: now - 40 * DAY, found: 12_102, kinds: someKinds(12_102), reason: endReached }),
        ...incremental(100, 14, now - 40 * DAY, start),
      ],
    },
    {
      url: 'wss://relay-b.example',
      role: 'write',
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 0,
      ranges: [
        range(2, {
          until: now - 3600,
          status: 'partial',
          found: 8214,
          kinds: someKinds(8214),
          attemptCount: 200,
          queryCount: 6400,
          reason: 'The relay closed the connection while page 83 was on its way.',
          resumable: true,
        }),
      ],
    },
    {
      url: 'wss://nostr.caps-its-pages.example/inbox',
      role: 'write+extra',
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 37,
      ranges: [
        range(3, {
          until: now - 2 * DAY,
          status: 'partial',
          found: 5331,
          kinds: someKinds(5331),
          reason: 'Second 1669852800 holds more events than a page of 100 can carry.',
          saturatedSeconds: [1_669_852_800, 1_700_000_000],
          resumable: false,
        }),
      ],
    },
    {
      url: 'wss://dead.example',
      role: 'write',
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 0,
      ranges: [
        range(4, {
          until: now - DAY,
          status: 'failed',
          reason: 'The name dead.example does not resolve.',
          resumable: true,
          checkedAt: now - DAY + 5,
          queryCount: 0,
        }),
      ],
    },
    {
      url: 'wss://busy.example',
      role: 'extra',
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 0,
      ranges: [
        range(5, {
          until: start,
          status: 'active',
          found: 1204,
          checkedAt: null,
          kinds: someKinds(1204),
          queryCount: 13,
        }),
      ],
    },
    {
      url: 'wss://archive.long-and-descriptive-relay-name.example/with/a/path?and=query',
      role: 'extra',
      historyComplete: true,
      forwardBoundary: now - 400 * DAY,
      invalidObservations: 0,
      ranges: [
        range(6, {
          until: now - 400 * DAY,
          found: 3900,
          fetched: 3888,
          notFetched: 12,
          kinds: someKinds(3900),
          reason: endReached,
          resumable: true,
        }),
        range(7, { since: now - 200 * DAY, until: now - 90 * DAY, found: 611, kinds: { 1: 611 }, reason: endReached }),
      ],
    },
    {
      url: 'ws://localhost:7777',
      role: 'write',
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 0,
      ranges: [],
    },
    {
      url: 'wss://former.example',
      role: 'former',
      historyComplete: true,
      forwardBoundary: now - 700 * DAY,
      invalidObservations: 0,
      ranges: [range(8, { until: now - 700 * DAY, found: 2210, kinds: someKinds(2210), reason: endReached })],
    },
  ];
}

function manyRelays(now: number): CoverageRelay[] {
  return Array.from({ length: 40 }, (_, index): CoverageRelay => {
    const statuses: RangeStatus[] = ['complete', 'complete', 'complete', 'partial', 'complete', 'failed'];
    const status = statuses[index % statuses.length] ?? 'complete';
    const found = status === 'failed' ? 0 : 400 + ((index * 7919) % 9000);
    return {
      url: `wss://relay-${String(index + 1).padStart(2, '0')}.example`,
      role: index % 3 === 0 ? 'write' : 'extra',
      historyComplete: status === 'complete',
      forwardBoundary: status === 'complete' ? now - index * 3600 : null,
      invalidObservations: 0,
      ranges: [
        range(1000 + index, {
          until: now - index * 3600,
          status,
          found,
          kinds: { 1: found },
          reason:
            status === 'complete'
              ? 'The relay said that nothing older follows.'
              : 'The relay did not answer within 30 s.',
          resumable: status !== 'complete',
        }),
      ],
    };
  });
}

function attemptsOf(target: CoverageRange, now: number): CoverageAttempt[] {
  return Array.from({ length: target.attemptCount }, (_, index): CoverageAttempt => {
    const last = index === target.attemptCount - 1;
    const startedAt = (target.checkedAt ?? now) - (target.attemptCount - index) * 3000;
    const status = last ? target.status : 'partial';
    return {
      id: target.id * 1000 + index,
      run: index + 1,
      prior: index === 0 ? null : target.id * 1000 + index - 1,
      continued: index % 2 === 1,
      strategy: 'paging',
      status,
      limit: 100,
      startedAt,
      completedAt: status === 'active' ? null : startedAt + 95,
      cursor:
        status === 'complete' || target.found === 0
          ? null
          : now - Math.floor((0.9 + 0.1 * Math.sin(index)) * 900 * DAY),
      reason: status === 'active' ? null : (target.reason ?? 'The relay did not answer within 30 s.'),
      found: last ? target.found : Math.floor((target.found * index) / target.attemptCount),
      fetched: last ? target.fetched : Math.floor((target.found * index) / target.attemptCount),
      received: 3300,
      newlyArchived: 41,
      queryCount: last ? Math.max(0, target.queryCount - (target.attemptCount - 1) * 30) : 30,
    };
  });
}

function queriesOf(attempt: CoverageAttempt, author: string): CoverageQuery[] {
  const endings: QueryEnding[] = ['eose', 'eose', 'eose', 'timeout', 'eose', 'eose', 'rate-limited'];
  return Array.from({ length: attempt.queryCount }, (_, index): CoverageQuery => {
    const last = index === attempt.queryCount - 1;
    const ending = last && attempt.status === 'partial' ? 'disconnect' : (endings[index % endings.length] ?? 'eose');
    const sentAt = attempt.startedAt + index;
    const open = last && attempt.status === 'active';
    return {
      id: attempt.id * 10_000 + index,
      type: 'REQ',
      request: { authors: [author], until: sentAt - index * 40_000, limit: attempt.limit },
      sentAt,
      completedAt: open ? null : sentAt + 2,
      ending: open ? null : ending,
      message:
        ending === 'rate-limited'
          ? 'rate-limited: slow down, please'
          : ending === 'disconnect'
            ? 'The socket closed with code 1006.'
            : null,
      received: 100,
      valid: 100,
      unique: 99,
      new: 57,
    };
  });
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
    unfinishedRanges: 0,
    checkedAt: null,
    activeRun: null,
    ...part,
  };
}

/** Builds the world of a scene. */
function world(options: FixtureOptions) {
  const { now } = options;
  const alice = hex(1);
  const bob = hex(2);
  const carol = hex(3);
  const oldest = now - 1690 * DAY;
  const trees = new Map<string, CoverageTree>([
    [alice, { account: alice, archive: { events: 12_431, oldest, newest: now - 300 }, relays: aliceRelays(now) }],
    [
      bob,
      {
        account: bob,
        archive: { events: 0, oldest: null, newest: null },
        relays: ['wss://relay-a.example', 'wss://relay-b.example'].map((url) => ({
          url,
          role: 'write',
          historyComplete: false,
          forwardBoundary: null,
          invalidObservations: 0,
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
      unfinishedRanges: 3,
      checkedAt: now - 240,
      activeRun: 31,
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
      unfinishedRanges: 13,
      checkedAt: now - 3600,
    }),
    accountSummary(hex(4), 'dora with a rather long name', {
      relays: [relay('wss://relay-a.example', 'rw')],
      archive: { events: 77, oldest: now - 90 * DAY, newest: now - 9 * DAY },
      completeRelays: 1,
      sourceRelays: 1,
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
    boundary: now - (32 - id) * 5 * 3600,
    limit: 100,
    strategy: 'auto',
    found: 240,
    newlyArchived: 31,
    resumable: false,
    warnings: [],
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
          },
        ],
      },
    ],
    recent: runs.slice(1, 5),
  };
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
  return options.scene === 'empty'
    ? { alice, trees, accounts: [], runs: [], activity: { now, runs: [], recent: [] }, health: [], lists: [] }
    : { alice, trees, accounts, runs, activity, health, lists };
}

/** A {@link HoldfastApi} over the fixture world. Commands change just enough for the interface to answer to them. */
export function fixtureApi(options: FixtureOptions): HoldfastApi {
  const data = world(options);
  let settings: Settings = {
    pageLimit: 100,
    indexRelays: ['wss://index-one.example', 'wss://index-two.example'],
    theme: options.theme,
    requestBudget: 8,
  };
  const settingsListeners = new Set<(value: Settings) => void>();
  const event: SignedEvent = {
    id: hex(70),
    pubkey: data.alice,
    created_at: options.now - 30 * DAY,
    kind: 1,
    tags: [
      ['e', hex(90), 'wss://relay-a.example', 'root'],
      ['p', hex(91)],
      ['t', 'backup'],
    ],
    content:
      'A note with <b>markup that stays text</b> & "quotes".\n\nSecond paragraph, שלום, and a long line: ' +
      'holdfast '.repeat(40),
    sig: hex(5) + hex(6),
  };

  const answers: { [M in Method]?: (args: Methods[M]['args']) => Methods[M]['result'] } = {
    'application.info': () => ({
      version: '0.1.0',
      host: 'browser',
      dataDirectory: '/home/alice/.local/share/holdfast',
      demo: true,
    }),
    'accounts.list': () => data.accounts,
    'accounts.publishedLists': () => data.lists,
    'accounts.discover': () => data.lists[0] ?? null,
    'accounts.setRelays': ({ account, relays }) => {
      const found = data.accounts.find((each) => each.pubkey === account);
      if (found === undefined) throw fault('unknown-account', 'There is no such account here.');
      return { ...found, relays };
    },
    'accounts.add': () => {
      throw fault('network', 'None of the 2 index relays answered, so the relay list could not be looked up.');
    },
    'fetch.start': () => {
      throw fault('already-active', 'A run of alice is in progress already.');
    },
    'runs.cancel': () => ({ cancelled: true }),
    'runs.list': () => [],
    'coverage.attempts': ({ range: id }) => {
      const found = [...data.trees.values()]
        .flatMap((tree) => tree.relays.flatMap((each) => each.ranges))
        .find((each) => each.id === id);
      return found === undefined ? [] : attemptsOf(found, options.now);
    },
    'coverage.queries': ({ attempt: id, offset = 0, limit = 100 }) => {
      const found = [...data.trees.values()]
        .flatMap((tree) => tree.relays.flatMap((each) => each.ranges))
        .flatMap((each) => (Math.floor(id / 1000) === each.id ? attemptsOf(each, options.now) : []))
        .find((each) => each.id === id);
      return found === undefined ? [] : queriesOf(found, data.alice).slice(offset, offset + limit);
    },
    'events.find': ({ id }) =>
      id === event.id
        ? {
            event,
            firstSeenAt: options.now - 29 * DAY,
            seenOn: [
              { url: 'wss://relay-a.example', observedAt: options.now - 240 },
              { url: 'wss://relay-b.example', observedAt: options.now - 3600 },
            ],
          }
        : null,
    'archive.import': ({ lines }) => {
      const read = lines.split('\n').filter((line) => line.trim() !== '').length;
      return {
        read,
        newlyArchived: Math.max(0, read - 1),
        alreadyArchived: 0,
        bad: Math.min(1, read),
        problems: [{ line: 1, message: 'The signature does not fit the event.' }],
      };
    },
    'settings.get': () => settings,
    'settings.set': (part) => {
      settings = { ...settings, ...part };
      for (const listener of settingsListeners) listener(settings);
      return settings;
    },
  };

  return {
    call<M extends Method>(method: M, args: Methods[M]['args']): Promise<Methods[M]['result']> {
      return new Promise((resolve, reject) => {
        setTimeout(() => {
          const answer = answers[method];
          if (answer === undefined) return reject(fault('unknown-method', `The fixture does not answer ${method}.`));
          try {
            resolve(answer(args));
          } catch (thrown) {
            reject(thrown);
          }
        }, 15);
      });
    },
    subscribe<T extends Topic>(
      topic: T,
      args: Topics[T]['args'],
      onSnapshot: (snapshot: Topics[T]['snapshot']) => void,
    ) {
      const account = 'account' in args ? args.account : undefined;
      const snapshots: { [Name in Topic]: () => Topics[Name]['snapshot'] } = {
        accounts: () => data.accounts,
        activity: () => data.activity,
        coverage: () =>
          data.trees.get(account ?? '') ?? {
            account: account ?? '',
            archive: { events: 0, oldest: null, newest: null },
            relays: [],
          },
        runs: () => data.runs.filter((run) => run.account === account),
        relays: () => data.health,
        settings: () => settings,
      };
      const timer = setTimeout(() => onSnapshot(snapshots[topic]()), 10);
      const listener = (value: Settings): void => {
        if (topic === 'settings') onSnapshot(snapshots[topic]());
        void value;
      };
      settingsListeners.add(listener);
      return () => {
        clearTimeout(timer);
        settingsListeners.delete(listener);
      };
    },
  };
}
