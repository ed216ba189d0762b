import { describe, expect, it } from 'vitest';
import type { Candidate, CandidateRelay, CandidateTree } from '../../preload/contract.ts';
import { commandLineRig, type Rig } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount } from './sample-data.ts';

const SENDING = 'wss://relay-a.example';
const COMPLETE = 'wss://relay-b.example';
const AT = 1_700_000_000;

function relay(changes: Partial<CandidateRelay> = {}): CandidateRelay {
  return {
    url: SENDING,
    count: 1200,
    observedAt: AT,
    kinds: [
      { kind: 1, count: 1001, observedAt: AT },
      { kind: 30_023, count: 199, observedAt: AT + 60 },
    ],
    refused: 3,
    refusedKinds: [{ kind: 1, count: 3, observedAt: AT }],
    comparison: 'compared',
    undetermined: 40,
    ...changes,
  };
}

const nothing: CandidateRelay = { ...relay(), url: COMPLETE, count: 0, observedAt: AT, kinds: [], refused: 0, refusedKinds: [], undetermined: 0 }; // prettier-ignore

function tree(changes: Partial<CandidateTree> = {}): CandidateTree {
  return {
    account: PUBKEY,
    total: 1200,
    relays: [relay(), nothing],
    excluded: [
      { reason: 'deleted', events: 3 },
      { reason: 'superseded', events: 1 },
    ],
    computedAt: AT,
    ...changes,
  };
}

const ID = (index: number): string => index.toString(16).padStart(64, '0');

function candidate(index: number): Candidate {
  const refused = index % 401 === 400;
  return { event: ID(index), kind: 1, createdAt: AT - index, preview: 'x', observedAt: AT, refused };
}

/** A command line over some candidates; every call is noted. */
function rigOf(trees: readonly CandidateTree[]): { rig: Rig; asked: unknown[] } {
  const asked: unknown[] = [];
  let turn = 0;
  const rig = commandLineRig({
    methods: {
      'accounts.list': async () => [sampleAccount()],
      'candidates.tree': async (args) => {
        asked.push(args);
        const answer = trees[Math.min(turn++, trees.length - 1)];
        if (answer === undefined) throw new Error('no tree');
        return answer;
      },
      'candidates.events': async ({ relay: url, after, limit = 0, ...rest }) => {
        asked.push({ relay: url, after, limit, ...rest });
        const start = after === undefined ? 0 : Number.parseInt(after, 16) + 1;
        return Array.from({ length: Math.min(limit, 1203 - start) }, (_, index) => candidate(start + index));
      },
    },
  });
  return { rig, asked };
}

describe('candidates --json', () => {
  it('has exactly the promised fields, with every ID that would be sent', async () => {
    const { rig } = rigOf([tree()]);
    expect(await rig.run('candidates', NPUB, '--json')).toBe(0);
    const events = Array.from({ length: 1203 }, (_, index) => candidate(index));
    expect(rig.stdout.document).toEqual({
      account: PUBKEY,
      total: 1200,
      relays: [
        {
          url: SENDING,
          count: 1200,
          observedAt: AT,
          comparison: 'compared',
          kinds: { '1': 1001, '30023': 199 },
          refused: 3,
          events: events.filter(({ refused }) => !refused).map(({ event }) => event),
        },
        { url: COMPLETE, count: 0, observedAt: AT, comparison: 'compared', kinds: {}, refused: 0, events: [] },
      ],
      undetermined: [
        { url: SENDING, count: 40 },
        { url: COMPLETE, count: 0 },
      ],
      excluded: { deleted: 3, superseded: 1 },
    });
    expect(rig.stdout.text.endsWith('}\n')).toBe(true);
    expect(rig.stderr.text).toBe('');
  });

  it('hands the whole narrowing on, to the tree and to the lists', async () => {
    const { rig, asked } = rigOf([tree({ relays: [relay()] })]);
    const narrowing = ['--relay', SENDING, '--kind', '1', '--kind', '7', '--since', '1000', '--until', '2024-05-31'];
    expect(await rig.run('candidates', NPUB, '--json', ...narrowing)).toBe(0);
    const bounds = { kinds: [1, 7], since: 1000, until: Date.UTC(2024, 5, 1) / 1000 - 1 };
    expect(asked).toEqual([
      { account: PUBKEY, relays: [SENDING], ...bounds },
      { account: PUBKEY, relay: SENDING, ...bounds, after: undefined, limit: 1000 },
      { account: PUBKEY, relay: SENDING, ...bounds, after: ID(999), limit: 1000 },
    ]);
  });

  it('says how much was left out because it is not checked', async () => {
    const { rig } = rigOf([tree({ total: 0, relays: [nothing], unchecked: 12 })]);
    expect(await rig.run('candidates', NPUB, '--json')).toBe(0);
    expect(rig.stdout.document).toMatchObject({ total: 0, unchecked: 12 });
  });

  it('stops asking when nobody reads any more', async () => {
    const { rig } = rigOf([tree()]);
    rig.stdout.writesUntilClosed = 0;
    expect(await rig.run('candidates', NPUB, '--json')).toBe(0);
    expect(rig.stderr.text).toBe('');
  });
});

describe('candidates for a person', () => {
  it('is a tree with what is not offered, and says how to go on', async () => {
    const { rig } = rigOf([tree()]);
    expect(await rig.run('candidates', NPUB)).toBe(0);
    expect(rig.stdout.text).toBe(
      [
        'alice: 1,200 missing copies may be sent',
        '',
        `${SENDING} (1,200 missing, 3 missing that it refused before, as of 2023-11-14 22:13:20 UTC, 40 undetermined)`,
        '   kind  missing  observed (UTC)',
        '      1    1,001  2023-11-14 22:13:20',
        '  30023      199  2023-11-14 22:14:20',
        '',
        `${COMPLETE} (nothing missing, as of 2023-11-14 22:13:20 UTC)`,
        '',
        '4 events that relays lack are not sent: 3 deleted, 1 replaced by a newer version.',
        '3 copies that relays refused before are offered on demand only.',
        'Of 40 copies it is not known whether relays have them; fetching may tell.',
        '',
      ].join('\n'),
    );
    expect(rig.stderr.text).toBe(`holdfast: send them with: holdfast sync ${NPUB}\n`);
  });

  it('says that nothing is missing', async () => {
    const { rig } = rigOf([tree({ total: 0, relays: [nothing], excluded: [] })]);
    expect(await rig.run('candidates', NPUB)).toBe(0);
    expect(rig.stdout.lines).toEqual([
      'alice: Nothing that may be sent is confirmed missing on the write relays.',
      `${COMPLETE} (nothing missing, as of 2023-11-14 22:13:20 UTC)`,
    ]);
    expect(rig.stderr.text).toBe('');
  });

  it('does not let ignorance pass for nothing missing', async () => {
    const unasked = { ...nothing, observedAt: null, comparison: 'never-asked' as const };
    const none = tree({ total: 0, relays: [unasked], excluded: [] });
    const { rig } = rigOf([none]);
    expect(await rig.run('candidates', NPUB)).toBe(1);
    expect(rig.stdout.lines).toEqual([
      'alice: Nothing that may be sent is confirmed missing on the write relays. The relay was never asked, so what is missing there is not known: fetch first.',
      `${COMPLETE} (never asked: fetch first)`,
    ]);
    expect(rig.stderr.text).toContain(`holdfast fetch ${NPUB}`);
    const scripted = rigOf([none]);
    expect(await scripted.rig.run('candidates', NPUB, '--json')).toBe(1);
    expect(scripted.rig.stdout.document).toMatchObject({ relays: [{ comparison: 'never-asked', observedAt: null }] });
    const some = rigOf([tree({ relays: [relay({ refused: 0 }), unasked], excluded: [] })]);
    expect(await some.rig.run('candidates', NPUB)).toBe(0);
    expect(some.rig.stdout.text).toContain('But 1 relay was never asked, so what is missing there is not known');
  });

  it('says of a relay that it lacks what it refused, and does not call that nothing', async () => {
    const refusing = { ...nothing, refused: 60 };
    const { rig } = rigOf([tree({ total: 0, relays: [refusing], excluded: [] })]);
    expect(await rig.run('candidates', NPUB)).toBe(1);
    expect(rig.stdout.text).toContain('(60 missing that it refused before, as of');
    expect(rig.stdout.text).not.toContain('nothing missing');
  });

  it('says whether it is the narrowing that selects nothing', async () => {
    const none = tree({ total: 0, relays: [{ ...nothing, undetermined: 2 }], excluded: [] });
    const narrowed = rigOf([none, tree()]);
    expect(await narrowed.rig.run('candidates', NPUB, '--kind', '7')).toBe(1);
    expect(narrowed.rig.stdout.lines[0]).toBe(
      'alice: This narrowing selects nothing; without it there are 1,200 missing copies. Of 2 copies it is not known whether relays have them; fetching may tell.',
    );
    expect(narrowed.rig.stderr.text).toContain(`holdfast fetch ${NPUB}`);
    const nowhere = rigOf([none]);
    expect(await nowhere.rig.run('candidates', NPUB, '--kind', '7')).toBe(0);
    expect(nowhere.rig.stdout.lines[0]).toMatch(/nothing is confirmed missing either/);
  });

  it('says that there is no relay to send to', async () => {
    const { rig } = rigOf([tree({ total: 0, relays: [], excluded: [] })]);
    expect(await rig.run('candidates', NPUB)).toBe(1);
    expect(rig.stdout.lines).toEqual(['alice: This account has no write relays to send to.']);
    expect(rig.stderr.text).toContain('--write URL');
  });
});

describe('wrong input', () => {
  it.each([
    [['candidates', 'alice'], /key|npub/i],
    [['candidates'], /key/],
    [['candidates', NPUB, '--kind', '70000'], /whole number/],
    [['candidates', NPUB, '--since', 'yesterday'], /Unix seconds or a date/],
    [['candidates', NPUB, '--relay', 'relay-a'], /not a relay URL/],
  ])('%j ends with 2', async (argv, message) => {
    const { rig } = rigOf([tree()]);
    expect(await rig.run(...argv)).toBe(2);
    expect(rig.stderr.text).toMatch(message);
    expect(rig.stdout.text).toBe('');
  });
});
