import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AccountSummary } from '../../preload/contract.ts';
import type { Demo } from '../../main/demo/demo.ts';
import { commandLineRig } from './command-line-rig.ts';
import type { Rig, RigOptions } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount } from './sample-data.ts';

const URL_WITH_TOKEN = 'http://127.0.0.1:4000/?token=secret';

function servingRig(options: RigOptions = {}): Rig & { order: string[] } {
  const order: string[] = [];
  const rig = commandLineRig({
    startServer: async (_engine, { port }) => {
      order.push(`listen ${port ?? 'anywhere'}`);
      return { url: URL_WITH_TOKEN, close: async () => void order.push('server closed') };
    },
    ...options,
  });
  return Object.assign(rig, { order });
}

describe('serve', () => {
  it.each([
    ['SIGINT', 3],
    ['SIGTERM', 0],
  ])('prints the address as its only line, runs until %s, and ends with exit code %i', async (signal, code) => {
    const rig = servingRig();
    const running = rig.run('serve', '--port', '4000', '--data', rig.absentDirectory);
    await expect.poll(() => rig.stdout.text).not.toBe('');
    expect(rig.stdout.text).toBe(`${URL_WITH_TOKEN}\n`);
    expect(rig.closed).toBe(0);
    rig.signals.emit(signal);
    expect(await running).toBe(code);
    expect(rig.order).toEqual(['listen 4000', 'server closed']);
    expect(rig.closed).toBe(1);
    expect(rig.stdout.text).toBe(`${URL_WITH_TOKEN}\n`);
  });

  it('prints a document with --json', async () => {
    const rig = servingRig();
    const running = rig.run('serve', '--json');
    await expect.poll(() => rig.stdout.text).not.toBe('');
    expect(rig.stdout.document).toEqual({ url: URL_WITH_TOKEN });
    rig.signals.emit('SIGTERM');
    expect(await running).toBe(0);
    expect(rig.order[0]).toBe('listen anywhere');
  });
});

describe('serve, interrupted while it starts,', () => {
  it('listens nowhere', async () => {
    const rig = servingRig({
      createEngine: async (_options, engine) => {
        rig.signals.emit('SIGINT');
        return engine;
      },
    });
    expect(await rig.run('serve')).toBe(3);
    expect(rig.order).toEqual([]);
    expect(rig.stdout.text).toBe('');
    expect(rig.closed).toBe(1);
  });
});

describe('demo', () => {
  const sample = (order: string[]): Demo => ({
    relays: [
      { url: 'ws://127.0.0.1:1', port: 1, write: true, read: false, note: '' },
      { url: 'ws://127.0.0.1:2', port: 2, write: true, read: true, note: '' },
    ],
    account: { pubkey: PUBKEY, npub: NPUB, name: 'sample' },
    close: async () => void order.push('relays closed'),
  });

  it('adds the sample account, starts a fetch, serves, and leaves nothing behind', async () => {
    const asked: unknown[] = [];
    const rig = servingRig({
      startDemo: async () => sample(rig.order),
      methods: {
        'settings.set': async (change) => {
          asked.push(change);
          return { pageLimit: 100, indexRelays: [], theme: 'system', requestBudget: 8 };
        },
        'accounts.list': async () => [],
        'accounts.add': async (args) => {
          asked.push(args);
          return sampleAccount();
        },
        'fetch.start': async (args) => {
          asked.push(args);
          return { run: 1 };
        },
      },
    });
    const running = rig.run('demo');
    await expect.poll(() => rig.stdout.text).toBe(`${URL_WITH_TOKEN}\n`);
    const [options] = rig.opened;
    expect(options).toMatchObject({ demo: true, mode: 'owner' });
    expect(options?.dataDirectory).not.toBe(rig.directory);
    expect(statSync(options?.dataDirectory ?? '').isDirectory()).toBe(true);
    expect(asked).toEqual([
      // Before there is an account to look anything up for: nothing goes to public relays.
      { indexRelays: ['ws://127.0.0.1:1', 'ws://127.0.0.1:2'] },
      { key: NPUB, label: 'sample', write: ['ws://127.0.0.1:1', 'ws://127.0.0.1:2'], read: ['ws://127.0.0.1:2'] },
      { account: PUBKEY },
    ]);
    rig.signals.emit('SIGTERM');
    expect(await running).toBe(0);
    expect(rig.order).toEqual(['listen anywhere', 'server closed', 'relays closed']);
    expect(existsSync(options?.dataDirectory ?? '')).toBe(false);
  });

  it('keeps its archive in a directory that is named, and its relays on the ports that they had there', async () => {
    const asked: unknown[] = [];
    const ports: (readonly number[])[] = [];
    let accounts: AccountSummary[] = [];
    const rig = servingRig({
      startDemo: async (options) => {
        ports.push(options.ports);
        return sample([]);
      },
      methods: {
        'settings.set': async () => ({ pageLimit: 100, indexRelays: [], theme: 'system', requestBudget: 8 }),
        'accounts.list': async () => accounts,
        'accounts.add': async () => sampleAccount(),
        'accounts.setRelays': async (args) => {
          asked.push(args.relays);
          return sampleAccount();
        },
        'fetch.start': async () => ({ run: 1 }),
      },
    });
    for (const signal of ['SIGINT', 'SIGTERM']) {
      const running = rig.run('demo', '--data', rig.absentDirectory);
      await expect.poll(() => rig.stdout.text).toBe(`${URL_WITH_TOKEN}\n`);
      rig.signals.emit(signal);
      expect(await running).toBe(signal === 'SIGINT' ? 3 : 0);
      rig.stdout.text = '';
      accounts = [sampleAccount()];
      // The first start leaves an archive.
      writeFileSync(join(rig.absentDirectory, 'holdfast.db'), '');
    }
    expect(rig.opened.map(({ dataDirectory }) => dataDirectory)).toEqual([rig.absentDirectory, rig.absentDirectory]);
    expect(ports).toEqual([[], [1, 2]]);
    expect(asked).toEqual([
      [
        { url: 'ws://127.0.0.1:1', write: true, read: false, extra: false },
        { url: 'ws://127.0.0.1:2', write: true, read: true, extra: false },
      ],
    ]);
  });

  it('refuses a directory with an archive that is not a demo’s, and changes nothing', async () => {
    const rig = servingRig();
    expect(await rig.run('demo', '--data', rig.directory)).toBe(2);
    expect(rig.stderr.text).toMatch(/^holdfast: .* holds an archive that is not a demo’s\. [^\n]+\n$/);
    expect(rig.opened).toEqual([]);
    expect(readdirSync(rig.directory)).toEqual(['holdfast.db']);
  });
});
