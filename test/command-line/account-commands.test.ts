import { describe, expect, it } from 'vitest';
import type { AccountRelay } from '../../preload/contract.ts';
import { commandLineRig } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount } from './sample-data.ts';

const relay = (url: string, ...roles: string[]): AccountRelay => ({
  url,
  read: roles.includes('read'),
  write: roles.includes('write'),
  extra: roles.includes('extra'),
});

describe('account add', () => {
  it('hands on the key as it was given, with the relays of each role', async () => {
    const asked: unknown[] = [];
    const rig = commandLineRig({
      methods: {
        'accounts.add': async (args) => {
          asked.push(args);
          return sampleAccount();
        },
      },
    });
    const code = await rig.run(
      ...['account', 'add', NPUB, '--label', 'alice', '--write', 'wss://a.example', '--write', 'wss://b.example'],
      ...['--read', 'wss://c.example', '--extra', 'wss://d.example', '--data', rig.absentDirectory],
    );
    expect(code).toBe(0);
    expect(asked).toEqual([
      {
        key: NPUB,
        label: 'alice',
        write: ['wss://a.example', 'wss://b.example'],
        read: ['wss://c.example'],
        extra: ['wss://d.example'],
      },
    ]);
    expect(rig.stdout.text).toContain(`Added alice: ${NPUB}`);
    expect(rig.stderr.text).toBe('');
    expect(rig.opened[0]?.mode).toBe('owner');
  });

  it('says what to do when no source relay is known', async () => {
    const rig = commandLineRig({
      methods: { 'accounts.add': async () => sampleAccount({ relays: [], sourceRelays: 0 }) },
    });
    expect(await rig.run('account', 'add', NPUB)).toBe(0);
    expect(rig.stderr.text).toContain('account relays npub1');
  });

  it('ends with exit code 3 when interrupted during the look-up, and closes the engine', async () => {
    const rig = commandLineRig({
      methods: {
        'accounts.add': () => {
          rig.signals.emit('SIGINT');
          return new Promise(() => undefined);
        },
      },
    });
    expect(await rig.run('account', 'add', NPUB, '--json')).toBe(3);
    expect(rig.stdout.text).toBe('');
    expect(rig.stderr.document).toMatchObject({ error: { code: 'cancelled' } });
    expect(rig.closed).toBe(1);
  });
});

describe('account list', () => {
  it('has exactly the promised fields with --json', async () => {
    const rig = commandLineRig({ methods: { 'accounts.list': async () => [sampleAccount({ label: null })] } });
    expect(await rig.run('--json', 'account', 'list')).toBe(0);
    expect(rig.stdout.document).toEqual([
      {
        pubkey: PUBKEY,
        npub: NPUB,
        label: null,
        relays: [{ url: 'wss://relay-a.example', read: true, write: true, extra: false }],
      },
    ]);
  });

  it('is aligned for a person, and shows foreign text on one line without control characters', async () => {
    const rig = commandLineRig({
      methods: { 'accounts.list': async () => [sampleAccount({ label: 'a\u001b]0;x\u0007\nb' })] },
    });
    expect(await rig.run('account', 'list')).toBe(0);
    expect(rig.stdout.lines[1]).toMatch(/^a�]0;x� b {2}npub1\w+ {2}12,431 +1 of 1 {2}2023-11-1/);
    expect(rig.stdout.lines[2]).toBe('  write  read         wss://relay-a.example');
  });
});

describe('account show', () => {
  it('has the summary and the published lists', async () => {
    const list = { eventId: 'e'.repeat(64), createdAt: 1, seenAt: 2, relays: [relay('wss://a.example', 'write')] };
    const rig = commandLineRig({
      methods: { 'accounts.list': async () => [sampleAccount()], 'accounts.publishedLists': async () => [list] },
    });
    expect(await rig.run('account', 'show', NPUB, '--json')).toBe(0);
    expect(rig.stdout.document).toEqual({ ...sampleAccount(), publishedLists: [list] });
  });

  it('of a key that is no account is exit code 2', async () => {
    const rig = commandLineRig({ methods: { 'accounts.list': async () => [] } });
    expect(await rig.run('account', 'show', NPUB)).toBe(2);
    expect(rig.stderr.text).toBe(
      `holdfast: There is no account ${NPUB} here. Add it with: holdfast account add ${NPUB}\n`,
    );
  });
});

describe('account relays', () => {
  const before = [
    relay('wss://a.example', 'write', 'read'),
    relay('wss://b.example', 'write'),
    relay('wss://c.example', 'extra'),
  ];

  async function change(...options: string[]): Promise<unknown> {
    let asked: unknown = null;
    const rig = commandLineRig({
      methods: {
        'accounts.list': async () => [sampleAccount({ relays: before })],
        'accounts.setRelays': async (args) => {
          asked = args.relays;
          return sampleAccount({ relays: args.relays });
        },
        'accounts.resetRelays': async (args) => {
          asked = args;
          return sampleAccount();
        },
      },
    });
    expect(await rig.run('account', 'relays', NPUB, '--json', ...options)).toBe(0);
    expect(Object.keys(rig.stdout.document as object)).toEqual(['pubkey', 'npub', 'label', 'relays']);
    return asked;
  }

  it('only shows them without options', async () => {
    expect(await change()).toBeNull();
  });

  it('replaces the named role, leaves the others, and drops relays without any role', async () => {
    expect(await change('--write', 'wss://d.example')).toEqual([
      relay('wss://a.example', 'read'),
      relay('wss://c.example', 'extra'),
      relay('wss://d.example', 'write'),
    ]);
  });

  it('takes two spellings of one relay for one relay', async () => {
    expect(await change('--extra', 'WSS://A.example:443/')).toEqual([
      relay('wss://a.example', 'write', 'read', 'extra'),
      relay('wss://b.example', 'write'),
    ]);
  });

  it('empties a role by “none”', async () => {
    expect(await change('--extra', 'none')).toEqual([before[0], before[1]]);
  });

  it('resets to the published list', async () => {
    expect(await change('--reset')).toEqual({ account: PUBKEY });
  });
});
