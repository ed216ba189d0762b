import type {
  CoverageRelay,
  LegacyCheckpoint,
  LegacyOperation,
  LegacyOverview,
  LegacyProblem,
  LegacyRemark,
  LegacySource,
  LegacyTableCount,
  LegacyWindow,
} from '../../preload/contract.ts';
import { range } from './fixture-coverage.ts';
import { DAY, hex } from './fixture-parts.ts';

/** What of the first version the fixture world has. */
export type LegacyScene = 'none' | 'one' | 'many' | 'clean' | 'carrying' | 'stopped' | 'several';

/** The scenes by name, for an address. */
export const legacyScenes: readonly LegacyScene[] = ['none', 'one', 'many', 'clean', 'carrying', 'stopped', 'several'];

const relays = [
  'wss://relay-a.example',
  'wss://relay-b.example',
  'wss://nostr.caps-its-pages.example/inbox',
  'wss://archive.long-and-descriptive-relay-name.example/with/a/path?and=query',
  'ws://localhost:7777',
];

function windowsOf(urls: readonly string[], count: number, newest: number): LegacyWindow[] {
  const each = Math.max(1, Math.floor(count / urls.length));
  return urls.flatMap((url, relay) =>
    Array.from({ length: relay === 0 ? count - each * (urls.length - 1) : each }, (_, index) => {
      const until = newest - index * 21 * DAY;
      return { url, since: until - 21 * DAY + 1, until };
    }),
  );
}

function checkpoint(
  id: number,
  account: string,
  now: number,
  part: Partial<LegacyCheckpoint> & { urls: readonly string[]; left: number },
): LegacyCheckpoint {
  const { urls, left, ...more } = part;
  const stopped = now - (200 + id * 13) * DAY;
  return {
    id,
    account,
    status: 'waiting',
    startedAt: stopped - 900,
    stoppedAt: stopped,
    relays: [...urls],
    pendingWindows: left,
    windows: windowsOf(urls, left, stopped - 40 * DAY),
    completedWindows: 17,
    eventsSeen: 8123,
    windowLimit: 500,
    archivedWithin: 431,
    run: null,
    ...more,
  };
}

function many(accounts: readonly string[], now: number): LegacyCheckpoint[] {
  return Array.from({ length: 50 }, (_, index) => {
    const account = accounts[index % accounts.length] ?? '';
    const count = 1 + (index % relays.length);
    const urls = relays.slice(0, count);
    const left = Math.max(count, (index * 7) % 48);
    const id = index + 1;
    const archivedWithin = (index * 937) % 12_431;
    if (index < 38) {
      const unknown = index % 6 === 5;
      return checkpoint(id, account, now, {
        urls,
        left,
        archivedWithin,
        ...(unknown ? { stoppedAt: null } : {}),
        ...(index === 11 ? { startedAt: null, stoppedAt: null } : {}),
      });
    }
    if (index < 43) return checkpoint(id, account, now, { urls, left, archivedWithin, status: 'kept' });
    if (index === 43) return checkpoint(id, account, now, { urls, left, archivedWithin, status: 'resumed', run: 31 });
    if (index < 46) return checkpoint(id, account, now, { urls, left: 2, archivedWithin, status: 'resumed', run: 20 });
    if (index < 48) {
      return checkpoint(id, account, now, {
        urls,
        left: 1,
        archivedWithin,
        status: 'resumed',
        run: 19,
        pendingWindows: 0,
        windows: [],
      });
    }
    return checkpoint(id, account, now, { urls, left, archivedWithin, status: 'replaced', run: 18 });
  });
}

const count = (
  table: string,
  carried: number,
  merged: number,
  aside: number,
  information: number,
): LegacyTableCount => ({ table, before: carried + merged + aside + information, carried, merged, aside, information });

const clean: LegacyTableCount[] = [
  count('accounts', 4, 0, 0, 0),
  count('account_relays', 14, 0, 0, 0),
  count('publication_versions', 3, 0, 0, 0),
  count('events', 21_819, 0, 0, 0),
  count('presence', 43_204, 0, 0, 0),
  count('coverage', 0, 0, 0, 12),
  count('operations', 1, 0, 0, 36),
];

const dirty: LegacyTableCount[] = [
  count('accounts', 4, 1, 2, 0),
  count('account_relays', 14, 2, 3, 0),
  count('publication_versions', 3, 0, 5, 0),
  count('events', 21_819, 1, 1190, 0),
  count('presence', 43_204, 118, 411, 0),
  count('coverage', 0, 1, 5, 12),
  count('operations', 50, 0, 19, 214),
];

/** Remarks on the rows of the scene with problems. */
export const REMARKS = 1844;

function source(now: number, part: Partial<LegacySource>): LegacySource {
  const tables = part.tables ?? clean;
  const total = tables.reduce((sum, { before }) => sum + before, 0);
  return {
    id: 1,
    file: null,
    state: 'done',
    done: total,
    total,
    startedAt: now - 2 * DAY,
    finishedAt: now - 2 * DAY + 94,
    tables,
    remarks: 0,
    copy: '/home/alice/.local/share/holdfast/holdfast.db.before-migration-20260301T101500Z',
    stoppedBecause: null,
    ...part,
  };
}

/** What there is of the first version in a scene. */
export function legacyOverview(scene: LegacyScene, accounts: readonly string[], now: number): LegacyOverview {
  const first = accounts[0] ?? '';
  const one = checkpoint(1, first, now, { urls: relays.slice(0, 2), left: 5, archivedWithin: 431 });
  const withProblems = source(now, { tables: dirty, remarks: REMARKS });
  const under = {
    state: 'carrying' as const,
    finishedAt: null,
    startedAt: now - 41,
    done: 412_300,
    total: 1_004_811,
    tables: [
      count('accounts', 4, 0, 0, 0),
      count('account_relays', 14, 0, 0, 0),
      count('publication_versions', 3, 0, 0, 0),
      { ...count('events', 412_279, 0, 0, 0), before: 1_000_000 },
      { ...count('presence', 0, 0, 0, 0), before: 4778 },
      { ...count('coverage', 0, 0, 0, 0), before: 6 },
      { ...count('operations', 0, 0, 0, 0), before: 6 },
    ],
  };
  const found = ((): Omit<LegacyOverview, 'waiting'> => {
    switch (scene) {
      case 'none':
        return { sources: [], checkpoints: [] };
      case 'one':
        return { sources: [source(now, {})], checkpoints: [one] };
      case 'many':
        return { sources: [withProblems], checkpoints: many(accounts, now) };
      case 'clean':
        return { sources: [source(now, { startedAt: now - 100, finishedAt: now - 6 })], checkpoints: [] };
      case 'carrying':
        return { sources: [source(now, under)], checkpoints: [] };
      case 'stopped':
        return {
          sources: [source(now, { ...under, stoppedBecause: 'The disk is full: the last rows could not be written.' })],
          checkpoints: [],
        };
      case 'several':
        return {
          sources: [
            withProblems,
            source(now, {
              id: 2,
              file: '/home/alice/backups/laptop of 2023/holdfast.db',
              copy: null,
              startedAt: now - DAY,
            }),
          ],
          checkpoints: many(accounts, now).slice(36),
        };
    }
  })();
  return { ...found, waiting: found.checkpoints.filter(({ status }) => status === 'waiting').length };
}

const kinds: { table: string; problem: LegacyProblem; outcome: LegacyRemark['outcome']; detail: string }[] = [
  { table: 'events', problem: 'wrong-id', outcome: 'aside', detail: 'The ID of the content is another one.' },
  { table: 'events', problem: 'bad-signature', outcome: 'aside', detail: 'The signature does not belong to the key.' },
  { table: 'events', problem: 'columns-disagree', outcome: 'carried', detail: 'kind is 30023, and 1 in the event.' },
  {
    table: 'presence',
    problem: 'duplicate',
    outcome: 'merged',
    detail: 'wss://relay-a.example/ is wss://relay-a.example.',
  },
  { table: 'presence', problem: 'milliseconds', outcome: 'aside', detail: 'observed_at is 1700000000000.' },
  { table: 'presence', problem: 'bad-url', outcome: 'aside', detail: 'relay_url is “nowhere”.' },
  {
    table: 'operations',
    problem: 'not-json',
    outcome: 'aside',
    detail: 'checkpoint cannot be read: it ends in the middle.',
  },
  { table: 'operations', problem: 'unknown-version', outcome: 'aside', detail: 'checkpoint is of version 7.' },
  { table: 'accounts', problem: 'wrong-shape', outcome: 'aside', detail: 'pubkey is “npub1notakey”.' },
  { table: 'coverage', problem: 'contradiction', outcome: 'carried', detail: 'oldest is later than newest.' },
];

const remarks: readonly LegacyRemark[] = Array.from({ length: REMARKS }, (_, index) => {
  const { table, problem, outcome, detail } = kinds[index % kinds.length] ?? {
    table: 'events',
    problem: 'wrong-id' as const,
    outcome: 'aside' as const,
    detail: '',
  };
  const row = table === 'events' || table === 'operations' ? hex(index + 5) : String(index);
  return { id: index + 1, table, row, problem, outcome, detail };
});

/** A page of remarks as the engine gives it. */
export function remarkPage(args: { table?: string; problem?: LegacyProblem; offset?: number; limit?: number }): {
  total: number;
  remarks: LegacyRemark[];
} {
  const { table, problem, offset = 0, limit = 100 } = args;
  const found = remarks.filter(
    (remark) =>
      (table === undefined || remark.table === table) && (problem === undefined || remark.problem === problem),
  );
  return { total: found.length, remarks: found.slice(offset, offset + limit) };
}

/** The row that a remark is about. */
export function remarkedRow(id: number): string {
  const remark = remarks.find((each) => each.id === id);
  return JSON.stringify({
    id: remark?.row,
    pubkey: hex(1),
    kind: 1,
    created_at: 1_600_000_000,
    json: '{"id":"' + hex(9) + '","content":"changed afterwards \u202e and hidden"}',
    first_seen_at: 1_700_000_000_000,
  });
}

/** What the first version did, as it noted it. */
export function operationPage(
  accounts: readonly string[],
  now: number,
  { offset = 0, limit = 100 }: { offset?: number; limit?: number },
): { total: number; operations: LegacyOperation[] } {
  const words = ['completed', 'partial', 'failed', 'cancelled', 'running', 'completed'];
  const operations = Array.from({ length: 214 }, (_, index): LegacyOperation => {
    const status = words[index % words.length] ?? 'completed';
    const startedAt = index % 17 === 16 ? null : now - (200 + index * 3) * DAY;
    return {
      id: `operation-${String(index)}`,
      account: accounts[index % accounts.length] ?? '',
      type: index % 5 === 4 ? 'publish' : 'fetch',
      status,
      startedAt,
      finishedAt: status === 'running' || startedAt === null ? null : startedAt + 40 + index,
      error: status === 'failed' ? 'connect ECONNREFUSED 127.0.0.1:7777' : null,
    };
  });
  return { total: operations.length, operations: operations.slice(offset, offset + limit) };
}

/** Relays of which the first version said something, and on one of which its windows were gone on with. */
export function withOldWindows(given: readonly CoverageRelay[], now: number): CoverageRelay[] {
  return given.map((relay, index) => {
    if (index > 2) return relay;
    const line = {
      status: ['complete', 'partial', 'failed'][index] ?? 'complete',
      oldest: index === 2 ? null : now - 1500 * DAY,
      newest: index === 2 ? null : now - 210 * DAY,
      events: [1204, 312, 0][index] ?? 0,
      updatedAt: index === 1 ? null : now - 200 * DAY,
    };
    if (index !== 1) return { ...relay, legacy: line };
    const windows = Array.from({ length: 12 }, (_, window) => {
      const until = now - (300 + window * 45) * DAY;
      const left = window === 4;
      return range(700 + window, {
        since: until - 21 * DAY,
        until,
        strategy: 'legacy-windows',
        limit: 500,
        found: left ? 0 : 31 + window * 7,
        kinds: left ? {} : { 1: 31 + window * 7 },
        status: left ? 'partial' : 'complete',
        resumable: left,
        reachedEnd: false,
        checkedAt: now - 7000,
        queryCount: left ? 0 : 3,
        reason: left
          ? 'The relay closed the connection while an answer was on its way.'
          : 'Every window was asked, and every answer held fewer events than its limit. This shows what the relay has; of what it lacks it shows nothing.',
      });
    });
    return { ...relay, legacy: line, ranges: [...relay.ranges, ...windows] };
  });
}
