import type { Candidate, CandidateRelay, CandidateTree, Narrowing, SyncPreview } from '../../preload/contract.ts';
import { DAY, hex } from './fixture-parts.ts';

const KINDS = [1, 7, 6, 30_023, 0, 3, 10_002, 30_078, 5, 1111, 16, 9802, 1063, 10_000, 10_003, 30_000, 1984, 34_550];

/** As many kinds as are asked for, the usual ones first. */
function kindsUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => KINDS[index] ?? 31_000 + index * 7);
}

interface Gap {
  url: string;
  counts: readonly number[];
  observedAgo: number;
  refused: number;
  undetermined: number | null;
}

function gapsOf(account: string, now: number): { gaps: Gap[]; excluded: CandidateTree['excluded'] } {
  if (account === hex(1)) {
    return {
      gaps: [
        { url: 'wss://relay-a.example', counts: [96, 14, 4, 2], observedAgo: 240, refused: 0, undetermined: 31 },
        {
          url: 'wss://relay-b.example',
          counts: [120, 41, 22, 6, 1, 1, 2],
          observedAgo: 3 * 3600,
          refused: 14,
          undetermined: 4217,
        },
        {
          url: 'wss://nostr.caps-its-pages.example/inbox',
          counts: [9],
          observedAgo: 2 * DAY,
          refused: 0,
          undetermined: 7100,
        },
        { url: 'wss://dead.example', counts: [], observedAgo: 0, refused: 0, undetermined: 12_431 },
        { url: 'ws://localhost:7777', counts: [], observedAgo: 0, refused: 0, undetermined: null },
      ],
      excluded: [
        { reason: 'deleted', events: 22 },
        { reason: 'superseded', events: 97 },
        { reason: 'protected', events: 1 },
        { reason: 'expired', events: 3 },
        { reason: 'vanished', events: 40 },
        { reason: 'ephemeral', events: 2 },
        { reason: 'never-sent', events: 5 },
      ],
    };
  }
  if (account === hex(3)) {
    return {
      gaps: Array.from({ length: 40 }, (_, index) => ({
        url: `wss://relay-${String(index + 1).padStart(2, '0')}.example`,
        counts: Array.from({ length: 60 }, (_, kind) => Math.max(1, Math.round((900 + index * 31) / (1 + kind * 2.5)))),
        observedAgo: 200 + index * 3600,
        refused: index % 9 === 4 ? 31 : 0,
        undetermined: index % 3 === 0 ? 1200 + index * 40 : 0,
      })),
      excluded: [{ reason: 'superseded', events: 4120 }],
    };
  }
  const nothing = { counts: [], observedAgo: 240, refused: 0 };
  if (account === hex(4)) {
    return { gaps: [{ url: 'wss://relay-a.example', ...nothing, undetermined: 0 }], excluded: [] };
  }
  void now;
  return {
    gaps: ['wss://relay-a.example', 'wss://relay-b.example'].map((url) => ({ url, ...nothing, undetermined: 0 })),
    excluded: [],
  };
}

/** Missing copies of an account of the fixture; a beginning leaves fewer, an end still fewer. */
export function candidatesOf(account: string, narrowing: Narrowing, now: number): CandidateTree {
  const { gaps, excluded } = gapsOf(account, now);
  const { relays: wanted, kinds: only, since, until } = narrowing;
  const share = since === undefined && until === undefined ? 1 : (since ?? 0) > now ? 0 : 0.4;
  const relays = gaps
    .filter(({ url }) => wanted?.includes(url) ?? true)
    .map((gap): CandidateRelay => {
      const kinds = kindsUpTo(gap.counts.length)
        .map((kind, index) => ({
          kind,
          count: Math.floor((gap.counts[index] ?? 0) * share),
          observedAt: now - gap.observedAgo + index,
        }))
        .filter(({ kind, count }) => count > 0 && (only?.includes(kind) ?? true));
      const count = kinds.reduce((sum, each) => sum + each.count, 0);
      const isCompared = gap.observedAgo > 0;
      const refused = Math.floor(gap.refused * share);
      const observedAt = now - gap.observedAgo;
      return {
        url: gap.url,
        count,
        observedAt: isCompared ? observedAt : null,
        comparison: isCompared ? 'compared' : gap.url.includes('dead') ? 'unanswered' : 'never-asked',
        kinds,
        refused,
        refusedKinds: refused === 0 ? [] : [{ kind: 1, count: refused, observedAt }],
        undetermined: gap.undetermined,
      };
    });
  return { account, total: relays.reduce((sum, { count }) => sum + count, 0), relays, excluded, computedAt: now };
}

const WARNINGS: Record<string, SyncPreview['relays'][number]['warnings']> = {
  'wss://relay-b.example': [
    {
      type: 'refused-before',
      copies: 14,
      message: '14 of these copies were refused by this relay before, as “invalid: created_at too early”.',
    },
    {
      type: 'too-old',
      copies: 61,
      message:
        'Its information document says that it takes no event older than 94,608,000 s; 61 of these copies are older.',
    },
    {
      type: 'too-large',
      copies: 2,
      message: 'Its information document says that a frame may hold 65,536 bytes; 2 of these copies are larger.',
    },
  ],
  'wss://nostr.caps-its-pages.example/inbox': [
    {
      type: 'authentication',
      copies: null,
      message: 'Its information document says that it wants authentication, which Holdfast does not give yet.',
    },
    { type: 'payment', copies: null, message: 'Its information document says that it takes events for payment only.' },
  ],
};

/** What a sync of the fixture would send. */
export function previewOf(tree: CandidateTree, includeRefused: boolean, now: number): SyncPreview {
  const relays = tree.relays
    .map((relay) => ({ ...relay, count: relay.count + (includeRefused ? relay.refused : 0) }))
    .filter(({ count }) => count > 0)
    .map(({ url, count, kinds }) => ({
      url,
      count,
      bytes: count * 612,
      oldest: now - 1480 * DAY,
      newest: now - 3 * DAY,
      kinds: kinds.map((each) => ({ kind: each.kind, count: each.count })),
      warnings: (WARNINGS[url] ?? []).filter(({ type }) => includeRefused || type !== 'refused-before'),
    }));
  const total = relays.reduce((sum, { count }) => sum + count, 0);
  return { account: tree.account, total, events: Math.ceil(total * 0.64), relays };
}

/** The first words of made-up events; the last has a text that turns around and hides. */
export const WORDS = [
  'Backups are boring until the day they are not.',
  'gm',
  'Reading about set reconciliation again; the range trick is lovely.',
  '+',
  'Moved the relay to a new disk, expect a few minutes of silence.\nMore below.',
  'שלום לכולם, a line in two directions',
  'A very long first line that goes on and on, '.repeat(8),
  'Zero\u202e width and reversed',
  '',
];

/** Events that a relay of the fixture lacks. */
export function candidateEvents(
  relay: CandidateRelay,
  after: string | undefined,
  limit: number,
  now: number,
): Candidate[] {
  const all = Array.from({ length: Math.min(relay.count, 260) }, (_, index): Candidate => {
    const kind = index % 4 === 1 ? 7 : 1;
    return {
      event: hex(9000 + index),
      kind,
      createdAt: now - index * 3.1 * DAY,
      preview: kind === 7 ? '+' : (WORDS[index % WORDS.length] ?? ''),
      observedAt: now - 240,
      refused: index % 11 === 5,
    };
  });
  const start = after === undefined ? 0 : all.findIndex(({ event }) => event === after) + 1;
  return all.slice(start, start + limit);
}
