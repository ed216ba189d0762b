import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../preload/contract.ts';
import { Fault } from '../../main/platform/fault.ts';
import { commandLineRig } from './command-line-rig.ts';
import type { Rig } from './command-line-rig.ts';
import { NPUB, PUBKEY, sampleAccount } from './sample-data.ts';

const WRONG_USAGES: [argv: string[], says: RegExp][] = [
  [[], /A command is missing/],
  [['account'], /A command is missing/],
  [['frobnicate'], /unknown command 'frobnicate'/],
  [['fetsch', NPUB], /unknown command 'fetsch'.*Did you mean fetch/],
  [['fetch'], /missing required argument 'key'/],
  [['fetch', NPUB, '--colour'], /unknown option '--colour'/],
  [['fetch', NPUB, 'more'], /too many arguments/],
  [['fetch', 'npub1nonsense'], /not a valid npub/],
  [['fetch', 'abc'], /no public key/],
  [['fetch', NPUB, '--limit', '1'], /page limit must be a whole number from 2 to 5000, not 1\./],
  [['fetch', NPUB, '--limit', '5001'], /page limit must be a whole number from 2 to 5000, not 5001\./],
  [['fetch', NPUB, '--limit', '1e2'], /whole number/],
  [['fetch', NPUB, '--limit', '-5'], /whole number/],
  [['fetch', NPUB, '--strategy', 'magic'], /auto, negentropy, paging/],
  [['fetch', NPUB, '--relay', 'https://relay.example'], /not a relay URL/],
  [['account', 'add', 'abc', '--write', 'wss://relay.example'], /no public key/],
  [['account', 'add', NPUB, '--write', 'relay.example'], /not a relay URL/],
  [['account', 'add', NPUB, '--label', 'x'.repeat(201)], /label is too long/],
  [['account', 'show', 'abc'], /no public key/],
  [['account', 'relays', NPUB, '--reset', '--write', 'wss://relay.example'], /--reset cannot be combined/],
  [['account', 'relays', NPUB, '--extra', 'ftp://relay.example'], /not a relay URL/],
  [['resume', 'first'], /whole number from 1 on/],
  [['refetch'], /missing required argument 'range'/],
  [['refetch', '0'], /whole number from 1 on/],
  [['refetch', '3', '--limit', 'many'], /whole number/],
  [['runs', 'abc'], /no public key/],
  [['cancel', '1.5'], /whole number from 1 on/],
  [['coverage', 'abc'], /no public key/],
  [['import'], /missing required argument 'file'/],
  [['import', '/nowhere/at/all.jsonl'], /There is no file/],
  [['import', '/'], /is a directory/],
  [['export', 'abc'], /no public key/],
  [['export', '--kind', '65536'], /whole number from 0 to 65535/],
  [['export', '--since', 'yesterday'], /Unix seconds or a date/],
  [['export', '--since', '2024-02-31'], /Unix seconds or a date/],
  [['export', '--until', '2024-13-01'], /Unix seconds or a date/],
  [['export', '--since', '2024-02-02', '--until', '2024-02-01'], /--since is later than --until/],
  [['serve', '--port', '65536'], /whole number from 0 to 65535/],
  [['runs', '--data', ''], /data directory after --data is empty/],
  [['runs', '--data'], /argument missing/],
];

describe('wrong usage', () => {
  it.each(WRONG_USAGES)('of %j ends with exit code 2 and one line, and touches nothing', async (argv, says) => {
    const rig = commandLineRig();
    expect(await rig.run(...argv)).toBe(2);
    expect(rig.stdout.text).toBe('');
    expect(rig.stderr.text).toMatch(/^holdfast: [^\n]+\n$/);
    expect(rig.stderr.text).toMatch(says);
    expect(rig.opened).toEqual([]);
  });

  it('is one JSON document on standard error with --json, wherever that stands', async () => {
    for (const argv of [
      ['--json', 'fetch', 'abc'],
      ['fetch', 'abc', '--json'],
      ['fetch', '--json', '--bogus'],
    ]) {
      const rig = commandLineRig();
      expect(await rig.run(...argv)).toBe(2);
      expect(rig.stdout.text).toBe('');
      const document = rig.stderr.document;
      expect(document).toMatchObject({ error: { code: 'invalid-argument' } });
      expect(Object.keys(document as object)).toEqual(['error']);
      expect(Object.keys((document as { error: object }).error)).toEqual(['code', 'message', 'details']);
    }
  });

  it('never repeats a secret key', async () => {
    const rig = commandLineRig();
    const secret = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5';
    expect(await rig.run('account', 'add', secret)).toBe(2);
    expect(rig.stderr.text).not.toContain(secret.slice(0, 12));
  });
});

const CODES: [ErrorCode, number][] = [
  ['invalid-argument', 2],
  ['unknown-account', 2],
  ['unknown-relay', 2],
  ['unknown-run', 2],
  ['unknown-range', 2],
  ['cancelled', 3],
  ['already-active', 1],
  ['nothing-to-do', 1],
  ['not-found', 1],
  ['network', 1],
  ['storage', 1],
  ['internal', 1],
  ['data-directory-unusable', 1],
  ['database-newer', 1],
  ['database-damaged', 1],
];

describe('a fault of the engine', () => {
  it.each(CODES)('%s ends with exit code %i, one line, and a closed engine', async (code, exitCode) => {
    const rig = commandLineRig({
      methods: {
        'fetch.start': async () => {
          throw new Fault(code, 'It did\nnot \u001b[31mwork.', { why: 1 });
        },
      },
    });
    expect(await rig.run('fetch', NPUB)).toBe(exitCode);
    expect(rig.stderr.text).toBe('holdfast: It did not �[31mwork.\n');
    expect(rig.stdout.text).toBe('');
    expect(rig.closed).toBe(1);
  });

  it('keeps its code, message and details with --json', async () => {
    const rig = commandLineRig({
      methods: {
        'fetch.start': async () => {
          throw new Fault('already-active', 'A run is active.', { run: 4 });
        },
      },
    });
    expect(await rig.run('--json', 'fetch', NPUB)).toBe(1);
    expect(rig.stderr.document).toEqual({
      error: { code: 'already-active', message: 'A run is active.', details: { run: 4 } },
    });
    expect(rig.stdout.text).toBe('');
  });
});

describe('a data directory', () => {
  const inUse = async (): Promise<never> => {
    throw new Fault('data-directory-in-use', 'Another Holdfast is using it.');
  };

  it.each([[['fetch', NPUB]], [['account', 'add', NPUB]], [['resume']], [['import', '-']], [['serve']]])(
    'in use by another process stops %j with one message and exit code 1',
    async (argv) => {
      const rig = commandLineRig({ createEngine: inUse });
      expect(await rig.run(...argv, '--quiet')).toBe(1);
      expect(rig.stderr.text).toBe('holdfast: Another Holdfast is using it.\n');
      expect(rig.opened).toHaveLength(1);
    },
  );

  it('in use by another process is read beside its owner', async () => {
    const rig = commandLineRig({
      createEngine: async (asked, engine) => (asked.mode === 'reader' ? engine : inUse()),
      methods: { 'accounts.list': async () => [sampleAccount()] },
    });
    expect(await rig.run('account', 'list', '--json')).toBe(0);
    expect(rig.opened.map(({ mode }) => mode)).toEqual(['owner', 'reader']);
  });

  it('that does not exist is answered from, and not created, by reading commands', async () => {
    const answers: [string[], string][] = [
      [['account', 'list', '--json'], '[]\n'],
      [['runs', '--json'], '[]\n'],
      [['resume', '--json'], '{"runs":[]}\n'],
      [['export'], ''],
      [['export', '--json'], '[]\n'],
      [['account', 'list'], 'No accounts yet. Add one with: holdfast account add NPUB\n'],
    ];
    for (const [argv, answer] of answers) {
      const rig = commandLineRig();
      expect(await rig.run(...argv, '--data', rig.absentDirectory)).toBe(0);
      expect(rig.stdout.text).toBe(answer);
      expect(rig.stderr.lines).toHaveLength(1);
      expect(rig.stderr.text).toContain(`there is no archive in ${rig.absentDirectory} yet`);
      expect(rig.opened).toEqual([]);
      expect(existsSync(rig.absentDirectory)).toBe(false);
    }
  });

  it('that does not exist knows no account, run or range', async () => {
    const usages = [
      ['fetch', NPUB],
      ['coverage', NPUB],
      ['account', 'show', NPUB],
      ['account', 'relays', NPUB],
      ['runs', NPUB],
      ['export', NPUB],
      ['resume', '1'],
      ['refetch', '1'],
      ['cancel', '1'],
    ];
    for (const argv of usages) {
      const rig = commandLineRig();
      expect(await rig.run(...argv, '--data', rig.absentDirectory)).toBe(2);
      expect(rig.stderr.text).toMatch(/^holdfast: There is no (account npub1|run 1 |range 1 )/);
      expect(rig.opened).toEqual([]);
    }
  });

  it('that is a file is one message and exit code 1', async () => {
    const rig = commandLineRig();
    expect(await rig.run('runs', '--data', `${rig.directory}/holdfast.db`)).toBe(1);
    expect(rig.stderr.text).toMatch(/^holdfast: The data directory .* is not a directory\.\n$/);
  });

  it('comes from --data before or after the command, else from the environment', async () => {
    const methods = { 'accounts.list': async () => [] };
    const named = commandLineRig({ methods });
    await named.run('--data', named.directory, 'account', 'list');
    await named.run('account', 'list', '--data', named.directory);
    await named.run('account', 'list');
    expect(named.opened.map(({ dataDirectory }) => dataDirectory)).toEqual(Array(3).fill(named.directory));
  });
});

describe('the log of the engine', () => {
  const talkative = (): Rig =>
    commandLineRig({
      methods: { 'accounts.list': async () => [] },
      createEngine: async (asked, engine) => {
        asked.log?.('ws://relay.example says: "NEG-OPEN is not supported here"\n\u001b[2J');
        return engine;
      },
    });

  it('is kept in the data directory, on plain lines, and not on the terminal', async () => {
    const rig = talkative();
    expect(await rig.run('account', 'list')).toBe(0);
    expect(rig.stderr.text).toBe('');
    expect(readFileSync(join(rig.directory, 'holdfast.log'), 'utf8')).toBe(
      '2027-01-15 08:00:00 UTC  ws://relay.example says: "NEG-OPEN is not supported here" | �[2J\n',
    );
  });

  it.each([
    [[], /^holdfast: ws:\/\/relay\.example says: [^\n]+\n$/],
    [['--json'], /^\{"type":"remark","message":"ws:\/\/relay\.example says: [^\n]+\n$/],
  ])('is on standard error too with --verbose %j', async (manner, line) => {
    const rig = talkative();
    expect(await rig.run('account', 'list', '--verbose', ...manner)).toBe(0);
    expect(rig.stderr.text).toMatch(line);
    expect(rig.stdout.text).not.toContain('NEG-OPEN');
  });
});

describe('help', () => {
  it('goes to standard output with exit code 0, for the program and for every command', async () => {
    const commands = ['account', 'fetch', 'resume', 'refetch', 'runs', 'cancel', 'coverage', 'import', 'export'];
    for (const command of [...commands, 'serve', 'demo']) {
      const rig = commandLineRig();
      expect(await rig.run(command, '--help')).toBe(0);
      expect(rig.stdout.text).toContain(`Usage: holdfast ${command}`);
      expect(rig.stderr.text).toBe('');
    }
    const rig = commandLineRig();
    expect(await rig.run('--help')).toBe(0);
    for (const command of [...commands, 'serve', 'demo'])
      expect(rig.stdout.text).toMatch(new RegExp(`^  ${command}`, 'm'));
  });

  it('has the version', async () => {
    const rig = commandLineRig();
    expect(await rig.run('--version')).toBe(0);
    expect(rig.stdout.text).toBe('1.2.3\n');
  });

  it('knows keys in every spelling', async () => {
    const asked: unknown[] = [];
    const rig = commandLineRig({
      methods: {
        'fetch.start': async (args) => {
          asked.push(args);
          throw new Fault('nothing-to-do', 'enough');
        },
      },
    });
    for (const key of [NPUB, PUBKEY, PUBKEY.toUpperCase(), `nostr:${NPUB}`]) await rig.run('fetch', key);
    expect(asked).toEqual(Array(4).fill({ account: PUBKEY }));
  });
});
