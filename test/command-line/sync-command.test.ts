import { describe, expect, it } from 'vitest';
import type {
  CandidateTree,
  Comparison,
  DeliveryTotals,
  RunStatus,
  RunSummary,
  SyncPreview,
} from '../../preload/contract.ts';
import type { ServiceTable } from '../../main/ipc/service-table.ts';
import { Fault } from '../../main/platform/fault.ts';
import { commandLineRig, type Rig } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount, sampleRun } from './sample-data.ts';

const TOTALS: DeliveryTotals = {
  pending: 0,
  sent: 0,
  accepted: 0,
  rejected: 2,
  verified: 10,
  unverified: 1,
  withdrawn: 0,
};

const DOCUMENT = {
  run: 5,
  totals: TOTALS,
  deliveries: [
    { event: 'e1', kind: 1, relay: 'wss://a.example', state: 'verified', reason: null, attempts: 1, verifiedAt: 9 },
  ],
};

const PREVIEW: SyncPreview = {
  account: PUBKEY,
  total: 13,
  events: 8,
  relays: [
    {
      url: 'wss://a.example',
      count: 13,
      bytes: 6543,
      oldest: 1_600_000_000,
      newest: 1_700_000_000,
      kinds: [{ kind: 1, count: 13 }],
      warnings: [{ type: 'too-old', copies: 4, message: 'The relay says that it refuses old events.' }],
    },
  ],
};

/** A command line whose sync is run 5 and ends at once in this way. */
function rigWithSync(run: Partial<RunSummary>, methods: Partial<ServiceTable> = {}): Rig & { asked: unknown[] } {
  const asked: unknown[] = [];
  const ended = sampleRun({ type: 'sync', relays: [], deliveries: TOTALS, found: 0, newlyArchived: 0, ...run });
  const rig = commandLineRig({
    methods: {
      'accounts.list': async () => [sampleAccount()],
      'sync.start': async (args) => {
        asked.push(args);
        return { run: 5, copies: 13 };
      },
      'sync.preview': async (args) => {
        asked.push({ preview: args });
        return PREVIEW;
      },
      'sync.report': async () => ({
        run: 5,
        account: PUBKEY,
        status: ended.status,
        startedAt: 1,
        finishedAt: 2,
        resumed: ended.resumed,
        reverification: { begunAt: 5, endedAt: 9, copies: 5, returned: 3, missing: 1 },
        narrowing: {},
        totals: TOTALS,
        reasons: [{ state: 'rejected', reason: 'invalid', count: 2 }],
        relays: [{ url: 'wss://a.example', totals: TOTALS }],
        resumable: false,
        refused: 2,
      }),
      'sync.deliveries': async () => ({
        total: 2,
        deliveries: [
          {
            id: 1,
            event: 'e2',
            kind: 1,
            createdAt: 1,
            preview: '',
            relay: 'wss://a.example',
            state: 'rejected',
            reason: 'invalid',
            message: 'invalid: \u001b[31mcreated_at too early',
            duplicate: false,
            lasting: true,
            attempts: 1,
            sentAt: 1,
            verifiedAt: null,
          },
        ],
      }),
      'sync.export': async () => ({ text: `${JSON.stringify(DOCUMENT)}\n` }),
      'fetch.resume': async () => ({ runs: [5] }),
      'runs.list': async ({ before }) => (before === undefined ? [ended] : []),
      ...methods,
    },
    engine: { runEnded: async () => ended },
  });
  return Object.assign(rig, { asked });
}

describe('sync', () => {
  it('begins with what it was narrowed to, and prints one JSON document with totals and deliveries', async () => {
    const rig = rigWithSync({ status: 'complete' });
    const options = [
      '--relay',
      'wss://a.example',
      '--kind',
      '1',
      '--kind',
      '7',
      '--since',
      '1970-01-02',
      '--until',
      '90000',
    ];
    expect(await rig.run('sync', NPUB, '--json', ...options, '--retry-refused')).toBe(0);
    expect(rig.asked).toEqual([
      {
        account: PUBKEY,
        relays: ['wss://a.example'],
        kinds: [1, 7],
        since: 86_400,
        until: 90_000,
        includeRefused: true,
      },
    ]);
    expect(rig.stdout.document).toEqual(DOCUMENT);
  });

  it.each<[RunStatus, boolean, number]>([
    ['partial', true, 3],
    ['partial', false, 1],
    ['cancelled', true, 3],
    ['failed', true, 1],
    ['complete', false, 0],
  ])('that ended %s (resumable: %s) has exit code %i, when resumed, too', async (status, resumable, code) => {
    for (const command of [['sync', NPUB], ['resume']]) {
      const rig = rigWithSync({ status, resumable });
      expect(await rig.run(...command)).toBe(code);
      expect(rig.stderr.text.includes('holdfast resume')).toBe(resumable);
    }
  });

  it('says for a person how each relay stands, and why; words of relays are printed as text', async () => {
    const rig = rigWithSync({ status: 'partial', resumable: true });
    expect(await rig.run('sync', NPUB)).toBe(3);
    expect(rig.stdout.text).toMatch(/^Run 5, sync of alice: partial after 1 min 5 s\. 10 of 13 copies verified\.$/m);
    expect(rig.stdout.text).toMatch(/wss:\/\/a\.example\s+10\s+1\s+2/);
    expect(rig.stdout.text).toContain('2 rejected (invalid), for example: invalid: �[31mcreated_at too early');
    expect(rig.stdout.text).toContain('--retry-refused');
    expect(rig.stderr.text).toContain('1 run can be resumed with: holdfast resume');
  });

  it('says for a person what came of looking again for what was verified, and names the account as elsewhere', async () => {
    const rig = rigWithSync({ status: 'partial' });
    await rig.run('sync', NPUB);
    expect(rig.stdout.text).toContain(
      '1970-01-01 00:00:09 UTC: 5 copies read back again, 3 returned, 1 not returned any more, 1 not looked for to the end',
    );
    expect(rig.stdout.text).toContain(`holdfast sync ${NPUB} --retry-refused`);
  });

  it('that was resumed is not said to have taken the pause, too', async () => {
    const rig = rigWithSync({ status: 'complete', resumed: true });
    await rig.run('sync', NPUB);
    expect(rig.stdout.lines[0]).toBe('Run 5, sync of alice: complete. 10 of 13 copies verified.');
  });

  it('says that nothing is missing, and that this is fine', async () => {
    const nothing = async (): Promise<never> => {
      throw new Fault('nothing-to-do', 'Nothing that may be sent is confirmed missing.', { complete: true });
    };
    const rig = rigWithSync({}, { 'sync.start': nothing });
    expect(await rig.run('sync', NPUB)).toBe(0);
    expect(rig.stdout.text).toBe('Nothing that may be sent is confirmed missing.\n');
    const scripted = rigWithSync({}, { 'sync.start': nothing });
    expect(await scripted.run('sync', NPUB, '--json')).toBe(0);
    expect(scripted.stdout.document).toMatchObject({ run: null, totals: { pending: 0, verified: 0 }, deliveries: [] });
  });

  it('is no success where something is missing or nobody knows', async () => {
    const rig = rigWithSync(
      {},
      {
        'sync.start': async () => {
          throw new Fault('nothing-to-do', 'This narrowing selects nothing.', { complete: false });
        },
      },
    );
    expect(await rig.run('sync', NPUB, '--kind', '30023')).toBe(1);
    expect(rig.stderr.text).toBe('holdfast: This narrowing selects nothing.\n');
    expect(rig.stdout.text).toBe('');
  });

  it.each([
    [['--relay', 'wss://nobody.example'], /no write relay|none of the relays/],
    [['--since', '2024-05-02', '--until', '2024-05-01'], /ends before it begins/],
    [[], /Another Holdfast/],
  ])('says of %j what is wrong with it, although another process has the archive', async (narrowing, message) => {
    const rig = commandLineRig({
      methods: {
        'candidates.tree': async ({ relays }) => {
          if (relays !== undefined) throw new Fault('unknown-relay', 'It is none of the relays of this account.');
          return { account: PUBKEY, total: 0, relays: [], excluded: [], computedAt: 1 };
        },
      },
      createEngine: async ({ mode }, engine) => {
        if (mode === 'reader') return engine;
        throw new Fault('data-directory-in-use', 'Another Holdfast is using the data directory.');
      },
    });
    expect(await rig.run('sync', NPUB, ...narrowing)).toBe(narrowing.length > 0 ? 2 : 1);
    expect(rig.stderr.text).toMatch(message);
    expect(rig.stdout.text).toBe('');
  });

  it('with --dry-run says of nothing to send whether that is a success, too', async () => {
    const empty = { ...PREVIEW, total: 0, events: 0, relays: [] };
    const tree = (comparison: Comparison): CandidateTree => ({
      account: PUBKEY,
      total: 0,
      relays: [
        {
          url: 'wss://a.example',
          count: 0,
          observedAt: null,
          comparison,
          kinds: [],
          refused: 0,
          refusedKinds: [],
          undetermined: 0,
        },
      ],
      excluded: [],
      computedAt: 1,
    });
    const answers: [Comparison, number][] = [
      ['compared', 0],
      ['never-asked', 1],
    ];
    for (const [comparison, code] of answers) {
      for (const format of [[], ['--json']]) {
        const rig = rigWithSync(
          {},
          { 'sync.preview': async () => empty, 'candidates.tree': async () => tree(comparison) },
        );
        expect(await rig.run('sync', NPUB, '--dry-run', ...format)).toBe(code);
        if (format.length > 0) expect(rig.stdout.document).toEqual(empty);
        expect(rig.stderr.text.includes('never asked')).toBe(code === 1);
      }
    }
  });

  it('with --dry-run only says what would be sent where, with warnings', async () => {
    const rig = rigWithSync({});
    expect(await rig.run('sync', NPUB, '--dry-run', '--kind', '1')).toBe(0);
    expect(rig.asked).toEqual([{ preview: { account: PUBKEY, kinds: [1] } }]);
    expect(rig.stdout.text).toMatch(/^A sync of alice would send 13 copies of 8 events\. Nothing was sent\.$/m);
    expect(rig.stdout.text).toMatch(/wss:\/\/a\.example\s+13\s+6,543\s+2020-09-13\s+2023-11-14\s+1: 13/);
    expect(rig.stdout.text).toContain('wss://a.example (4 copies): The relay says that it refuses old events.');
    const scripted = rigWithSync({});
    expect(await scripted.run('sync', NPUB, '--dry-run', '--json')).toBe(0);
    expect(scripted.stdout.document).toEqual(PREVIEW);
  });
});

describe('a sync among other runs', () => {
  it('is printed as a sync when it is resumed', async () => {
    const rig = rigWithSync({ status: 'complete' });
    expect(await rig.run('resume', '5')).toBe(0);
    expect(rig.stdout.text).toContain('sync of alice: complete');
    const scripted = rigWithSync({ status: 'complete' });
    expect(await scripted.run('resume', '5', '--json')).toBe(0);
    expect(scripted.stdout.document).toMatchObject({ runs: [{ type: 'sync', ...DOCUMENT }] });
  });

  it('is listed with how much of it is verified', async () => {
    const rig = rigWithSync({ status: 'partial' });
    expect(await rig.run('runs')).toBe(0);
    expect(rig.stdout.text).toMatch(/5\s+sync\s+alice\s+partial.*10 of 13$/m);
    const scripted = rigWithSync({ status: 'partial' });
    await scripted.run('runs', '--json');
    expect(scripted.stdout.document).toMatchObject([{ run: 5, type: 'sync', totals: TOTALS }]);
  });
});
