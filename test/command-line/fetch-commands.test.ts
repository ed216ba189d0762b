import { describe, expect, it, vi } from 'vitest';
import type { RelayProgress, RunProgress, RunStatus, RunSummary } from '../../preload/contract.ts';
import { settle } from '../fixtures/fake-clock.ts';
import { commandLineRig } from './command-line-rig.ts';
import type { Rig, RigOptions } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount, sampleRelay, sampleRun } from './sample-data.ts';

function relayProgress(changes: Partial<RelayProgress> = {}): RelayProgress {
  return {
    url: 'wss://relay-a.example',
    state: 'fetching',
    pages: 1,
    found: 100,
    fetched: 100,
    newlyArchived: 90,
    rate: 411.6,
    reachedSecond: 1_650_000_000,
    since: null,
    until: 1_700_000_000,
    waitingUntil: null,
    reason: null,
    deliveries: null,
    ...changes,
  };
}

function progress(relays: RelayProgress[]): RunProgress {
  return {
    run: 5,
    type: 'fetch',
    account: PUBKEY,
    startedAt: 1_700_000_000,
    found: 100,
    newlyArchived: 90,
    rate: 411.6,
    relays,
    deliveries: null,
  };
}

/** Waits until the command has started its run and follows it. */
async function following(rig: Rig & { asked: unknown[] }): Promise<void> {
  await vi.waitUntil(() => rig.asked.length > 0, { interval: 1 });
  await settle();
}

/** A command line whose run 5 ends when the test says so; cancelling it ends it as the engine would. */
function rigWithRun(options: RigOptions = {}): Rig & { asked: unknown[]; end: (run: RunSummary) => void } {
  const ended = Promise.withResolvers<RunSummary>();
  const asked: unknown[] = [];
  const start = async (args: unknown): Promise<{ run: number }> => {
    asked.push(args);
    return { run: 5 };
  };
  const rig = commandLineRig({
    ...options,
    methods: {
      'accounts.list': async () => [sampleAccount()],
      'fetch.start': start,
      'fetch.refetch': start,
      'runs.cancel': async ({ run }) => {
        asked.push({ cancel: run });
        ended.resolve(sampleRun({ status: 'cancelled', resumable: true }));
        return { cancelled: true };
      },
      ...options.methods,
    },
    engine: { runEnded: () => ended.promise, ...options.engine },
  });
  return Object.assign(rig, { asked, end: ended.resolve });
}

describe('fetch', () => {
  it('asks with what was given and prints one JSON document', async () => {
    const rig = rigWithRun();
    rig.end(sampleRun());
    const options = ['--recheck', '--relay', 'wss://a.example', '--limit', '50', '--strategy', 'paging'];
    expect(await rig.run('fetch', NPUB, '--json', ...options)).toBe(0);
    expect(rig.asked).toEqual([
      { account: PUBKEY, recheck: true, relays: ['wss://a.example'], limit: 50, strategy: 'paging' },
    ]);
    const { id, deliveries: _, reverification: __, ...rest } = sampleRun();
    expect(rig.stdout.document).toEqual({ run: id, ...rest });
    expect(rig.closed).toBe(1);
  });

  it.each<[RunStatus, boolean, number]>([
    ['complete', false, 0],
    ['partial', true, 3],
    ['cancelled', true, 3],
    ['failed', false, 1],
  ])('that ended %s (resumable: %s) has exit code %i', async (status, resumable, code) => {
    const rig = rigWithRun();
    rig.end(sampleRun({ status, resumable }));
    expect(await rig.run('fetch', NPUB)).toBe(code);
    expect(rig.stdout.lines[0]).toBe(
      `Run 5, fetch of alice: ${status} after 1 min 5 s. 20 events newly archived, 120 copies found.`,
    );
    expect(rig.stderr.text.includes('holdfast resume')).toBe(resumable);
  });

  it('that was resumed is not said to have taken the pause, too', async () => {
    const rig = rigWithRun();
    rig.end(sampleRun({ resumed: true }));
    await rig.run('fetch', NPUB);
    expect(rig.stdout.lines[0]).toMatch(/^Run 5, fetch of alice: complete\. 20 events/);
  });

  it('says what a person should know about the run, and why a relay stopped', async () => {
    const rig = rigWithRun();
    const stopped = sampleRelay({ status: 'partial', reason: 'closed:\u0007 auth-required' });
    rig.end(sampleRun({ status: 'partial', warnings: ['The clock had jumped backwards.'], relays: [stopped] }));
    expect(await rig.run('fetch', NPUB)).toBe(3);
    expect(rig.stderr.text).toContain('holdfast: The clock had jumped backwards.\n');
    expect(rig.stdout.text).toMatch(
      /relay-a\.example +7 {2}Beginning {3}2023-11-14 22:13:20 {2}partial .*closed:� auth-required/,
    );
  });

  it('reports progress as JSON lines, at most four a second', async () => {
    const rig = rigWithRun();
    rig.topics.activity.next = () => ({ now: 0, runs: [progress([relayProgress()])], recent: [] });
    const running = rig.run('fetch', NPUB, '--json');
    await following(rig);
    for (let change = 0; change < 100; change += 1) {
      rig.topics.activity.change();
      await rig.clock.pass(10);
    }
    rig.end(sampleRun());
    expect(await running).toBe(0);
    const events = rig.stderr.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events[0]).toMatchObject({ type: 'progress', run: 5, found: 100, relays: [relayProgress()] });
    expect(events.length).toBeGreaterThanOrEqual(4);
    expect(events.length).toBeLessThanOrEqual(6);
    expect(events.pop()).toMatchObject({ type: 'ended', run: 5, status: 'complete', found: 120, newlyArchived: 20 });
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['progress']));
    expect(rig.topics.activity.listeners).toBe(0);
    expect(rig.clock.pending).toBe(0);
  });

  it('redraws one line per relay on a terminal, within its width, and clears them at the end', async () => {
    const rig = rigWithRun();
    rig.stderr.isTTY = true;
    rig.stderr.columns = 60;
    const relays = [
      relayProgress(),
      relayProgress({ url: 'wss://b.example', reason: 'rate-limited: slow down please' }),
    ];
    rig.topics.activity.next = () => ({ now: 0, runs: [progress(relays)], recent: [] });
    const running = rig.run('fetch', NPUB);
    await following(rig);
    rig.topics.activity.change();
    await rig.clock.pass(250);
    rig.end(sampleRun());
    expect(await running).toBe(0);
    const [first, second, rest] = rig.stderr.text.split('\u001b[2A\u001b[0J');
    expect(first?.split('\n')[0]).toMatch(/^wss:\/\/relay-a\.example {2}fetching {2}1 page/);
    expect(second).toBe(first);
    expect(rest).toBe('');
    for (const line of (first ?? '').split('\n')) expect(line.length).toBeLessThan(60);
  });

  it('prints plain lines now and then where lines cannot be redrawn, and none when quiet', async () => {
    for (const quiet of [false, true]) {
      const rig = rigWithRun();
      rig.topics.activity.next = () => ({ now: 0, runs: [progress([relayProgress()])], recent: [] });
      const running = rig.run('fetch', NPUB, ...(quiet ? ['--quiet'] : []));
      await following(rig);
      for (let second = 0; second < 25; second += 1) {
        rig.topics.activity.change();
        await rig.clock.pass(1000);
      }
      rig.end(sampleRun());
      expect(await running).toBe(0);
      expect(rig.stderr.lines).toHaveLength(quiet ? 0 : 4);
      if (!quiet) expect(rig.stderr.lines.at(-1)).toBe('holdfast: run 5 ended: complete, found 120, new 20');
      expect(rig.stdout.text).not.toBe('');
    }
  });
});

describe('an interrupt during a fetch', () => {
  it('cancels the run, waits for its end, prints the document and ends with exit code 3', async () => {
    const rig = rigWithRun();
    const running = rig.run('fetch', NPUB, '--json');
    await following(rig);
    rig.signals.emit('SIGINT');
    expect(await running).toBe(3);
    expect(rig.asked).toEqual([{ account: PUBKEY }, { cancel: 5 }]);
    expect(rig.stdout.document).toMatchObject({ run: 5, status: 'cancelled', resumable: true });
    expect(rig.closed).toBe(1);
    expect(rig.quitWith).toEqual([]);
    expect(rig.signals.listenerCount('SIGINT')).toBe(0);
  });

  it.each(['SIGTERM', 'SIGHUP'])('by %s is the same', async (signal) => {
    const rig = rigWithRun();
    const running = rig.run('fetch', NPUB);
    await following(rig);
    rig.signals.emit(signal);
    expect(await running).toBe(3);
  });

  it('quits at once when it is repeated, but not when one key press arrives twice', async () => {
    const rig = rigWithRun({ methods: { 'runs.cancel': () => new Promise(() => undefined) } });
    const running = rig.run('fetch', NPUB);
    await following(rig);
    rig.signals.emit('SIGINT');
    rig.clock.advance(800);
    rig.signals.emit('SIGINT');
    expect(rig.quitWith).toEqual([]);
    rig.clock.advance(2000);
    rig.signals.emit('SIGINT');
    expect(rig.quitWith).toEqual([3]);
    rig.end(sampleRun());
    await running;
  });

  it('while the archive is being opened starts nothing', async () => {
    const rig = rigWithRun({
      createEngine: async (_options, engine) => {
        rig.signals.emit('SIGINT');
        return engine;
      },
    });
    expect(await rig.run('fetch', NPUB)).toBe(3);
    expect(rig.asked).toEqual([]);
    expect(rig.closed).toBe(1);
  });
});

describe('refetch', () => {
  it('asks for the range and ends like a fetch', async () => {
    const rig = rigWithRun();
    rig.end(sampleRun({ type: 'refetch' }));
    expect(await rig.run('refetch', '7', '--limit', '500', '--json')).toBe(0);
    expect(rig.asked).toEqual([{ range: 7, limit: 500 }]);
    expect(rig.stdout.document).toMatchObject({ type: 'refetch' });
  });
});

describe('resume', () => {
  const runs: Record<number, RunSummary> = {
    1: sampleRun({ id: 1 }),
    2: sampleRun({ id: 2, status: 'partial', resumable: true }),
    3: sampleRun({ id: 3, status: 'failed' }),
  };

  async function resume(argv: string[], started: number[]): Promise<{ rig: Rig; code: number; asked: unknown[] }> {
    const asked: unknown[] = [];
    const rig = commandLineRig({
      methods: {
        'accounts.list': async () => [sampleAccount()],
        'fetch.resume': async (args) => {
          asked.push(args);
          return { runs: started };
        },
      },
      engine: { runEnded: async (run) => runs[run] ?? sampleRun() },
    });
    return { rig, code: await rig.run('resume', ...argv), asked };
  }

  it('goes on with all that are unfinished, and prints one document', async () => {
    const { rig, code, asked } = await resume(['--json'], [1, 2]);
    expect(code).toBe(3);
    expect(asked).toEqual([{}]);
    expect(rig.stdout.document).toMatchObject({ runs: [{ run: 1 }, { run: 2, status: 'partial' }] });
  });

  it('goes on with one run', async () => {
    const { code, asked } = await resume(['1'], [1]);
    expect(code).toBe(0);
    expect(asked).toEqual([{ run: 1 }]);
  });

  it('ends with exit code 1 when a run failed and none can go on', async () => {
    expect((await resume([], [1, 3])).code).toBe(1);
  });

  it('is complete when nothing is unfinished', async () => {
    const { rig, code } = await resume([], []);
    expect(code).toBe(0);
    expect(rig.stdout.text).toBe('Nothing is unfinished.\n');
  });
});

describe('runs and cancel', () => {
  it('lists all runs, page after page, as one document', async () => {
    const asked: unknown[] = [];
    const rig = commandLineRig({
      methods: {
        'runs.list': async ({ before = 451, limit = 0 }) => {
          asked.push(before);
          const length = Math.min(limit, before - 1);
          return Array.from({ length }, (_, index) => sampleRun({ id: before - 1 - index }));
        },
      },
    });
    expect(await rig.run('runs', '--json')).toBe(0);
    const document = rig.stdout.document as { run: number }[];
    expect(document.map(({ run }) => run)).toEqual(Array.from({ length: 450 }, (_, index) => 450 - index));
    expect(asked).toEqual([451, 251, 51]);
  });

  it('prints runs as a table', async () => {
    const rig = commandLineRig({
      methods: { 'runs.list': async () => [sampleRun()], 'accounts.list': async () => [sampleAccount()] },
    });
    expect(await rig.run('runs', NPUB)).toBe(0);
    expect(rig.stdout.lines[1]).toMatch(
      /^ {2}5 {2}fetch {2}alice {4}complete {2}2023-11-1\S+ \S+ {2}1 min 5 s +120 +20 +1$/,
    );
  });

  it('cancels through the engine, also beside an owner', async () => {
    const rig = rigWithRun();
    expect(await rig.run('cancel', '5', '--json')).toBe(0);
    expect(rig.asked).toEqual([{ cancel: 5 }]);
    expect(rig.stdout.document).toEqual({ run: 5, cancelled: true });
  });
});
