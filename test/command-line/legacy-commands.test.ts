import { describe, expect, it } from 'vitest';
import type { LegacyCheckpoint, RunSummary } from '../../preload/contract.ts';
import { Fault } from '../../main/platform/fault.ts';
import { alice } from '../relays/event-builder.ts';
import { commandLineRig, type Rig, type RigOptions } from './command-line-rig.ts';
import { sampleAccount, sampleRun } from './sample-data.ts';

function checkpointOf(more: Partial<LegacyCheckpoint> = {}): LegacyCheckpoint {
  return {
    id: 1,
    account: alice.pubkey,
    status: 'waiting',
    startedAt: 1_689_998_000,
    stoppedAt: 1_689_999_000,
    relays: ['wss://one.example', 'wss://two.example'],
    pendingWindows: 12,
    windows: [{ url: 'wss://one.example', since: 1, until: 2 }],
    completedWindows: 17,
    eventsSeen: 8123,
    windowLimit: 500,
    archivedWithin: 1204,
    run: null,
    ...more,
  };
}

function runOf(more: Partial<RunSummary> = {}): RunSummary {
  return sampleRun({
    id: 5,
    type: 'legacy-resume',
    account: alice.pubkey,
    status: 'complete',
    startedAt: 1_799_999_000,
    finishedAt: 1_799_999_010,
    resumable: false,
    ...more,
  });
}

const accounts: NonNullable<RigOptions['methods']> = {
  'accounts.list': () => Promise.resolve([sampleAccount({ pubkey: alice.pubkey, label: 'Alice' })]),
};

function listing(checkpoints: LegacyCheckpoint[]): Rig {
  const waiting = checkpoints.filter(({ status }) => status === 'waiting').length;
  return commandLineRig({
    methods: { ...accounts, 'legacy.overview': () => Promise.resolve({ sources: [], checkpoints, waiting }) },
  });
}

describe('legacy list', () => {
  const several = [
    checkpointOf(),
    checkpointOf({ id: 2, stoppedAt: null, status: 'kept' }),
    checkpointOf({ id: 3, status: 'resumed', pendingWindows: 0, archivedWithin: 0, run: 7 }),
    checkpointOf({ id: 4, status: 'replaced', run: 8 }),
  ];

  it('says of each unfinished fetch what is left, and how to decide', async () => {
    const rig = listing(several);
    expect(await rig.run('legacy', 'list')).toBe(0);
    const cells = rig.stdout.lines.map((line) => line.trim().split(/ {2,}/));
    expect(cells).toEqual([
      ['id', 'account', 'stopped (UTC)', 'relays', 'windows left', 'archived within', 'status'],
      ['1', 'Alice', '2023-07-22 04:10:00', '2', '12', '1,204', 'to decide'],
      ['2', 'Alice', 'not noted', '2', '12', '1,204', 'kept for later'],
      ['3', 'Alice', '2023-07-22 04:10:00', '2', '0', '0', 'resumed, run 7'],
      ['4', 'Alice', '2023-07-22 04:10:00', '2', '12', '1,204', 'replaced, run 8'],
    ]);
    expect(rig.stderr.text).toContain('1 unfinished fetch to decide about:');
    expect(rig.stderr.text).toContain('holdfast legacy resume ID');
  });

  it('does not ask for a decision where none is open', async () => {
    const rig = listing(several.slice(1));
    expect(await rig.run('legacy', 'list')).toBe(0);
    expect(rig.stderr.text).not.toContain('decide');
  });

  it('is a document for a script, with null where no end was noted', async () => {
    const rig = listing(several.slice(1, 2));
    expect(await rig.run('--json', 'legacy', 'list')).toBe(0);
    expect(rig.stdout.document).toEqual([
      {
        id: 2,
        account: alice.pubkey,
        stoppedAt: null,
        relays: ['wss://one.example', 'wss://two.example'],
        pendingWindows: 12,
        status: 'kept',
      },
    ]);
  });

  it('says so when there is nothing, with an archive and without', async () => {
    const rig = listing([]);
    expect(await rig.run('legacy', 'list')).toBe(0);
    expect(await rig.run('legacy', 'list', '--data', rig.absentDirectory)).toBe(0);
    expect(rig.stdout.lines).toEqual([
      'The first version left no unfinished fetches here.',
      'The first version left no unfinished fetches here.',
    ]);
    const script = listing([]);
    expect(await script.run('--json', 'legacy', 'list', '--data', script.absentDirectory)).toBe(0);
    expect(script.stdout.document).toEqual([]);
  });
});

/** A command line whose decisions are noted and whose runs end as given. */
function deciding(ended: RunSummary[]): { rig: Rig; decided: unknown[] } {
  const decided: unknown[] = [];
  const begin =
    (method: string) =>
    (args: { checkpoints: number[] }): Promise<{ runs: number[] }> => {
      decided.push([method, args.checkpoints]);
      return Promise.resolve({ runs: ended.map(({ id }) => id) });
    };
  const rig = commandLineRig({
    methods: {
      ...accounts,
      'legacy.resume': begin('resume'),
      'legacy.rescan': begin('rescan'),
      'legacy.keep': ({ checkpoints }) => {
        decided.push(['keep', checkpoints]);
        return Promise.resolve({ kept: checkpoints.length });
      },
    },
    engine: {
      runEnded: (run) => {
        const found = ended.find(({ id }) => id === run);
        return found === undefined ? Promise.reject(new Error(`run ${run}`)) : Promise.resolve(found);
      },
    },
  });
  return { rig, decided };
}

describe.each(['resume', 'rescan'] as const)('legacy %s', (command) => {
  it('decides about all that are named, each once, and follows the runs to their end', async () => {
    const { rig, decided } = deciding([runOf(), runOf({ id: 6 })]);
    expect(await rig.run('legacy', command, '3', '1', '3')).toBe(0);
    expect(decided).toEqual([[command, [3, 1]]]);
    expect(rig.stdout.text).toContain('Run 5, legacy-resume of Alice: complete after 10 s.');
    expect(rig.stdout.text).toContain('Run 6, legacy-resume of Alice: complete after 10 s.');
  });

  it.each([
    ['partial', true, 3],
    ['cancelled', true, 3],
    ['failed', true, 1],
  ] as const)('ends with a run that is %s by code', async (status, resumable, code) => {
    const { rig } = deciding([runOf({ status, resumable })]);
    expect(await rig.run('legacy', command, '1')).toBe(code);
    expect(rig.stderr.text).toContain('windows are left; go on with: holdfast resume 5');
    expect(rig.stderr.text).not.toContain('1 run can be resumed');
  });

  it('answers a script with the runs', async () => {
    const { rig } = deciding([runOf()]);
    expect(await rig.run('--json', 'legacy', command, '1')).toBe(0);
    expect(rig.stdout.document).toMatchObject({ runs: [{ run: 5, type: 'legacy-resume', status: 'complete' }] });
  });
});

describe('legacy keep', () => {
  it('says how many are kept', async () => {
    const { rig, decided } = deciding([]);
    expect(await rig.run('legacy', 'keep', '1', '2')).toBe(0);
    expect(decided).toEqual([['keep', [1, 2]]]);
    expect(rig.stdout.lines).toEqual(['2 unfinished fetches kept for later.']);
    const script = deciding([]).rig;
    expect(await script.run('--json', 'legacy', 'keep', '1')).toBe(0);
    expect(script.stdout.document).toEqual({ kept: 1 });
  });
});

describe.each(['resume', 'rescan', 'keep'])('legacy %s with a number that is none', (command) => {
  it.each([[[]], [['0']], [['one']], [['1', '-']]])('is wrong usage: %j', async (ids) => {
    const { rig, decided } = deciding([]);
    expect(await rig.run('legacy', command, ...ids)).toBe(2);
    expect([decided, rig.opened]).toEqual([[], []]);
  });

  it('says in one message that there is no such unfinished fetch', async () => {
    const message = 'There is no checkpoint 9 of the first version here.';
    const unknown = (): Promise<never> => Promise.reject(new Fault('unknown-checkpoint', message, { checkpoint: 9 }));
    const rig = commandLineRig({
      methods: { 'legacy.resume': unknown, 'legacy.rescan': unknown, 'legacy.keep': unknown },
    });
    expect(await rig.run('legacy', command, '9')).toBe(2);
    expect(await rig.run('legacy', command, '9', '--data', rig.absentDirectory)).toBe(2);
    expect(rig.stderr.lines.filter((line) => line.includes(message))).toHaveLength(2);
    expect(rig.stdout.text).toBe('');
  });
});
