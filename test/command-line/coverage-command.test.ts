import { describe, expect, it } from 'vitest';
import type {
  CopiesSummary,
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageTree,
} from '../../preload/contract.ts';
import { commandLineRig } from './command-line-rig.ts';
import type { Rig } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount } from './sample-data.ts';

const range: CoverageRange = {
  id: 7,
  since: null,
  until: 1_700_000_000,
  status: 'partial',
  found: 8214,
  fetched: 8210,
  notFetched: 4,
  checkedAt: 1_700_000_050,
  kinds: { '1': 5120, '7': 3094 },
  strategy: 'paging',
  reason: 'The relay closed\u0000 the connection.',
  cursor: null,
  limit: 100,
  saturatedSeconds: [],
  reachedEnd: false,
  resumable: true,
  closedBy: null,
  attemptCount: 1,
  queryCount: 1100,
};

const attempt: CoverageAttempt = {
  id: 11,
  run: 3,
  prior: 10,
  continued: false,
  strategy: 'paging',
  status: 'partial',
  limit: 100,
  startedAt: 1_700_000_000,
  completedAt: 1_700_000_050,
  cursor: 1_650_000_000,
  reason: null,
  found: 8214,
  fetched: 8210,
  received: 9000,
  newlyArchived: 12,
  queryCount: 1100,
};

function query(id: number): CoverageQuery {
  return {
    id,
    type: 'REQ',
    request: { authors: [PUBKEY], until: 1_700_000_000 - id, limit: 100 },
    sentAt: 1_700_000_000,
    completedAt: 1_700_000_001,
    ending: 'eose',
    message: null,
    received: 100,
    valid: 99,
    unique: 98,
    new: 97,
  };
}

const tree: CoverageTree = {
  account: PUBKEY,
  archive: { events: 12_431, oldest: 1_600_000_000, newest: 1_700_000_000 },
  relays: [
    {
      url: 'wss://relay-a.example',
      role: 'write',
      historyComplete: false,
      history: 'partial',
      forwardBoundary: null,
      invalidObservations: 2,
      legacy: null,
      ranges: [range, { ...range, id: 8, found: 1, kinds: {}, reason: null }],
    },
    {
      url: 'wss://relay-b.example',
      role: 'extra',
      historyComplete: true,
      history: 'complete',
      forwardBoundary: 1_700_000_000,
      invalidObservations: 0,
      legacy: { status: 'complete', oldest: 1_600_000_000, newest: 1_650_000_000, events: 1204, updatedAt: null },
      ranges: [],
    },
  ],
};

const copies: CopiesSummary = {
  account: PUBKEY,
  events: 12_431,
  none: 31,
  one: 400,
  two: 12_000,
  more: 0,
  undetermined: 20,
  past: 2,
  relays: [
    {
      url: 'wss://relay-a.example',
      present: 8210,
      absent: 1329,
      undetermined: 2892,
      past: { present: 4, absent: 9 },
    },
  ],
  computedAt: 1_700_000_100,
};

function coverageRig(queries: number): Rig {
  return commandLineRig({
    methods: {
      'accounts.list': async () => [sampleAccount()],
      'coverage.tree': async () => tree,
      'coverage.copies': async () => copies,
      'coverage.attempts': async ({ range: id }) => (id === 7 ? [attempt] : []),
      'coverage.queries': async ({ offset = 0, limit = 0 }) =>
        Array.from({ length: Math.max(0, Math.min(limit, queries - offset)) }, (_, index) => query(offset + index)),
    },
  });
}

describe('coverage --json', () => {
  it('has exactly the promised fields, with every query in order', async () => {
    const rig = coverageRig(1100);
    expect(await rig.run('coverage', NPUB, '--json')).toBe(0);
    const {
      cursor: _e,
      limit: _f,
      saturatedSeconds: _a,
      reachedEnd: _g,
      resumable: _b,
      attemptCount: _c,
      queryCount: _d,
      ...rangeFields
    } = range;
    const queries = Array.from({ length: 1100 }, (_, index) => query(index));
    expect(rig.stdout.document).toEqual({
      account: PUBKEY,
      archive: { events: 12_431, oldest: 1_600_000_000, newest: 1_700_000_000 },
      copies: { none: 31, one: 400, two: 12_000, more: 0, undetermined: 20, past: 2 },
      relays: [
        {
          url: 'wss://relay-a.example',
          role: 'write',
          historyComplete: false,
          forwardBoundary: null,
          copies: { present: 8210, absent: 1329, undetermined: 2892, past: { present: 4, absent: 9 } },
          ranges: [
            {
              ...rangeFields,
              attempts: [
                {
                  id: 11,
                  run: 3,
                  prior: 10,
                  strategy: 'paging',
                  status: 'partial',
                  limit: 100,
                  startedAt: 1_700_000_000,
                  completedAt: 1_700_000_050,
                  queries,
                },
              ],
            },
            { ...rangeFields, id: 8, found: 1, kinds: {}, reason: null, attempts: [] },
          ],
        },
        {
          url: 'wss://relay-b.example',
          role: 'extra',
          historyComplete: true,
          forwardBoundary: 1_700_000_000,
          copies: null,
          ranges: [],
        },
      ],
    });
    expect(rig.stdout.text.endsWith('}\n')).toBe(true);
  });

  it('stops asking when nobody reads any more', async () => {
    const rig = coverageRig(1_000_000_000);
    rig.stdout.writesUntilClosed = 1;
    expect(await rig.run('coverage', NPUB, '--json')).toBe(0);
    expect(rig.stderr.text).toBe('');
    expect(rig.closed).toBe(1);
  });
});

describe('coverage for a person', () => {
  it('is a tree with aligned columns and plain text', async () => {
    const rig = coverageRig(1100);
    expect(await rig.run('coverage', NPUB)).toBe(0);
    const { lines } = rig.stdout;
    expect(lines[0]).toMatch(/^alice: 12,431 events archived, 2020-09-13 to 2023-11-14$/);
    expect(lines[1]).toBe(
      '  copies: 11 on no relay (2 replaced or deleted), 400 on one, 12,000 on two, 0 on three or more, 20 undetermined',
    );
    expect(lines[3]).toBe('  copies: 8,210 present, 1,329 absent (9 replaced or deleted), 2,892 undetermined');
    expect(lines[2]).toBe('wss://relay-a.example (write, history not complete, 2 invalid observations)');
    expect(lines[5]).toMatch(
      /^ {6}7 {2}Beginning {3}2023-11-14 22:13:20 {2}partial {2}8,214 +8,210 +4 {2}2023-11-14 22:14:10/,
    );
    expect(lines[6]).toBe('         The relay closed� the connection.');
    expect(lines[7]).toBe('         kinds  1: 5,120  7: 3,094');
    expect(lines[8]).toMatch(
      /attempt 11 {2}run 3 {2}2023-11-14 22:13:20 UTC {2}paging {2}partial {2}1,100 queries {2}limit 100 {2}repeats attempt 10$/,
    );
    expect(lines[9]).toMatch(/^ {6}8 {2}Beginning/);
    expect(lines[9]?.indexOf('partial')).toBe(lines[5]?.indexOf('partial'));
    expect(lines.slice(-2)).toEqual([
      '  the first version said: complete, 1,204 events, 2020-09-13 to 2022-04-15; it did not record how it knew',
      '  nothing was fetched yet',
    ]);
  });

  it('does not call it a failure that a relay does not compare, but says what was done instead', async () => {
    const comparing = { ...attempt, prior: null, queryCount: 1, reason: 'relay-a does not compare by NIP-77.' };
    const attempts: CoverageAttempt[] = [
      { ...comparing, id: 11, strategy: 'negentropy', status: 'failed' },
      { ...attempt, id: 12, prior: 11, status: 'complete', queryCount: 22 },
      { ...attempt, id: 13, run: 4, prior: 12, status: 'complete', queryCount: 22 },
      { ...comparing, id: 14, run: 5, prior: 13, strategy: 'negentropy', status: 'failed' },
    ];
    const rig = commandLineRig({
      methods: {
        'accounts.list': async () => [sampleAccount()],
        'coverage.tree': async () => ({ ...tree, relays: tree.relays.slice(0, 1) }),
        'coverage.copies': async () => copies,
        'coverage.attempts': async ({ range: id }) => (id === 7 ? attempts : []),
      },
    });
    expect(await rig.run('coverage', NPUB)).toBe(0);
    const told = rig.stdout.lines
      .filter((line) => line.includes('attempt 1'))
      .map((line) => line.split(/ {2,}/).slice(4));
    expect(told).toEqual([
      ['NIP-77', 'paged instead', '1 query', 'limit 100', 'relay-a does not compare by NIP-77.'],
      ['paging', 'complete', '22 queries', 'limit 100', 'instead of attempt 11'],
      ['paging', 'complete', '22 queries', 'limit 100', 'repeats attempt 12'],
      ['NIP-77', 'failed', '1 query', 'limit 100', 'repeats attempt 13'],
    ]);
  });
});
