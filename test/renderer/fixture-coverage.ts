import { historyOnRelay } from '../../main/coverage/history-state.ts';
import type {
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
  QueryEnding,
  RangeStatus,
} from '../../preload/contract.ts';
import { DAY, hex } from './fixture-parts.ts';

/** A range, complete unless it is said otherwise. */
export function range(id: number, part: Partial<CoverageRange> & { until: number }): CoverageRange {
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
    cursor: null,
    limit: 100,
    saturatedSeconds: [],
    reachedEnd: part.status === undefined || part.status === 'complete',
    resumable: false,
    closedBy: null,
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

/** Says of a relay what its ranges come to. */
function summed(relay: Omit<CoverageRelay, 'history'>): CoverageRelay {
  return { ...relay, history: historyOnRelay(relay.historyComplete, relay.ranges) };
}

/** Relays in every state: complete, partial, saturated, failed, running, with gaps, never asked, former. */
export function aliceRelays(now: number): CoverageRelay[] {
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
  const relays: Omit<CoverageRelay, 'history'>[] = [
    {
      url: 'wss://relay-a.example',
      role: 'write',
      historyComplete: true,
      forwardBoundary: start,
      invalidObservations: 0,
      legacy: null,
      ranges: [
        range(1, {
          until: now - 40 * DAY,
          found: 11_402,
          kinds: someKinds(11_402),
          attemptCount: 2,
          reason: endReached,
        }),
        ...incremental(100, 14, now - 40 * DAY, start),
      ],
    },
    {
      url: 'wss://relay-b.example',
      role: 'write',
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 0,
      legacy: null,
      ranges: [
        range(2, {
          until: now - 3600,
          status: 'partial',
          found: 8214,
          kinds: someKinds(8214),
          attemptCount: 200,
          queryCount: 6400,
          cursor: now - 810 * DAY,
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
      legacy: null,
      ranges: [
        range(3, {
          until: now - 2 * DAY,
          status: 'partial',
          found: 5331,
          kinds: someKinds(5331),
          reason:
            'The second 2022-12-01T00:00:00Z (and 1 more) holds more events than one page can carry, so some of them may be missing. A larger page limit or NIP-77 may close it.',
          saturatedSeconds: [1_669_852_800, 1_700_000_000],
          reachedEnd: true,
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
      legacy: null,
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
      legacy: null,
      ranges: [
        range(5, {
          until: start,
          status: 'active',
          found: 1204,
          checkedAt: null,
          cursor: now - 480 * DAY,
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
      legacy: null,
      ranges: [
        range(6, {
          until: now - 400 * DAY,
          found: 3900,
          fetched: 3888,
          notFetched: 12,
          kinds: someKinds(3900),
          strategy: 'negentropy',
          attemptCount: 3,
          queryCount: 9,
          reason:
            'Compared by NIP-77, in 2 parts because the relay called the whole too large. When it was compared, 3,860 were in common, 40 only on the relay, 8,531 only here.',
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
      legacy: null,
      ranges: [],
    },
    {
      url: 'wss://former.example',
      role: 'former',
      historyComplete: true,
      forwardBoundary: now - 700 * DAY,
      invalidObservations: 0,
      legacy: null,
      ranges: [range(8, { until: now - 700 * DAY, found: 2210, kinds: someKinds(2210), reason: endReached })],
    },
  ];
  return relays.map(summed);
}

/** One relay that was compared to its end and holds everything. */
export function oneCompleteRelay(now: number): CoverageRelay {
  return summed({
    url: 'wss://relay-a.example',
    role: 'write',
    historyComplete: true,
    forwardBoundary: now - 86_000,
    invalidObservations: 0,
    legacy: null,
    ranges: [
      range(9, {
        until: now - 86_000,
        found: 77,
        kinds: { 1: 60, 7: 12, 0: 1, 3: 4 },
        strategy: 'negentropy',
        queryCount: 3,
        reason: 'Compared by NIP-77. When it was compared, 37 were in common, 40 only on the relay, 0 only here.',
      }),
    ],
  });
}

/** Forty relays. */
export function manyRelays(now: number): CoverageRelay[] {
  return Array.from({ length: 40 }, (_, index) => {
    const statuses: RangeStatus[] = ['complete', 'complete', 'complete', 'partial', 'complete', 'failed'];
    const status = statuses[index % statuses.length] ?? 'complete';
    const found = status === 'failed' ? 0 : 400 + ((index * 7919) % 9000);
    return summed({
      url: `wss://relay-${String(index + 1).padStart(2, '0')}.example`,
      role: index % 3 === 0 ? 'write' : 'extra',
      historyComplete: status === 'complete',
      forwardBoundary: status === 'complete' ? now - index * 3600 : null,
      invalidObservations: 0,
      legacy: null,
      ranges: [
        range(1000 + index, {
          until: now - index * 3600,
          status,
          found,
          kinds: { 1: found },
          cursor: status === 'partial' ? now - (150 + index * 15) * DAY : null,
          reason:
            status === 'complete'
              ? 'The relay said that nothing older follows.'
              : 'The relay did not answer within 30 s.',
          resumable: status !== 'complete',
        }),
      ],
    });
  });
}

/** A comparison that the relay did not answer, and the paging that took over in the same run. */
function fallBackAttempts(target: CoverageRange, now: number): CoverageAttempt[] {
  const startedAt = (target.checkedAt ?? now) - 300;
  const base = { run: 30, continued: false, limit: target.limit, cursor: null, newlyArchived: 12 };
  return [
    {
      ...base,
      id: target.id * 1000,
      prior: null,
      strategy: 'negentropy',
      status: 'failed',
      startedAt,
      completedAt: startedAt + 20,
      reason: 'The relay kept silent when asked to compare (NIP-77).',
      found: 0,
      fetched: 0,
      received: 0,
      queryCount: 1,
    },
    {
      ...base,
      id: target.id * 1000 + 1,
      prior: target.id * 1000,
      strategy: 'paging',
      status: target.status,
      startedAt: startedAt + 21,
      completedAt: startedAt + 200,
      reason: target.reason,
      found: target.found,
      fetched: target.fetched,
      received: target.found + 90,
      queryCount: target.queryCount - 1,
    },
  ];
}

/** As many attempts as a range says it has. */
export function attemptsOf(target: CoverageRange, now: number): CoverageAttempt[] {
  if (target.attemptCount === 2) return fallBackAttempts(target, now);
  return Array.from({ length: target.attemptCount }, (_, index): CoverageAttempt => {
    const last = index === target.attemptCount - 1;
    const startedAt = (target.checkedAt ?? now) - (target.attemptCount - index) * 3000;
    const status = last ? target.status : 'partial';
    return {
      id: target.id * 1000 + index,
      run: index + 1,
      prior: index === 0 ? null : target.id * 1000 + index - 1,
      continued: index % 2 === 1,
      strategy: target.strategy,
      status,
      limit: target.limit,
      startedAt,
      completedAt: status === 'active' ? null : startedAt + 95,
      cursor:
        status === 'complete' || target.found === 0 || target.strategy === 'negentropy'
          ? null
          : now - Math.floor((0.9 + 0.1 * Math.sin(index)) * 900 * DAY),
      reason: status === 'active' ? null : (target.reason ?? 'The relay did not answer within 30 s.'),
      found: last ? target.found : Math.floor((target.found * index) / target.attemptCount),
      fetched: last ? target.fetched : Math.floor((target.found * index) / target.attemptCount),
      received: 3300,
      newlyArchived: 41,
      queryCount:
        target.strategy === 'negentropy'
          ? Math.floor(target.queryCount / target.attemptCount)
          : last
            ? Math.max(0, target.queryCount - (target.attemptCount - 1) * 30)
            : 30,
    };
  });
}

/** A comparison that was too large, the part of it that was not, and bodies by ID. */
function comparisonQueries(attempt: CoverageAttempt, author: string): CoverageQuery[] {
  const until = attempt.startedAt;
  const base = { sentAt: attempt.startedAt, completedAt: attempt.startedAt + 4 };
  const id = (index: number): number => attempt.id * 10_000 + index;
  if (attempt.status === 'failed') {
    const request = { authors: [author], until };
    const silent = { type: 'NEG', ending: 'timeout', message: 'No NEG message came within 20 s.' } as const;
    return [{ ...base, ...silent, id: id(0), request, received: 0, valid: 0, unique: 0, new: 0 }];
  }
  return [
    {
      ...base,
      id: id(0),
      type: 'NEG',
      request: { authors: [author], until },
      ending: 'neg-err',
      message: 'blocked: this query is too big',
      received: 1,
      valid: 0,
      unique: 0,
      new: 0,
    },
    {
      ...base,
      id: id(1),
      type: 'NEG',
      request: { authors: [author], since: until - 300 * DAY, until },
      ending: 'neg-complete',
      message: null,
      received: 3,
      valid: 1930,
      unique: 1930,
      new: 0,
    },
    {
      ...base,
      id: id(2),
      type: 'REQ',
      request: { ids: Array.from({ length: 40 }, (_, index) => hex(index + 200)), limit: 40 },
      ending: 'eose',
      message: null,
      received: 28,
      valid: 28,
      unique: 28,
      new: 28,
    },
  ];
}

/** As many queries as an attempt says it has. */
export function queriesOf(attempt: CoverageAttempt, author: string): CoverageQuery[] {
  if (attempt.strategy === 'negentropy') return comparisonQueries(attempt, author).slice(0, attempt.queryCount);
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
