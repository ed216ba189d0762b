import type { Command } from 'commander';
import type { AccountRelay, AccountSummary, PublishedRelayList } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { accountName, findAccount, parseKey, unknownAccount } from './account-lookup.ts';
import { collectRelay, collectRelayOrNone } from './argument-parsers.ts';
import { EXIT } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';
import { formatCellTime, formatCount, formatDate, formatQuantity, formatTime, singleLine } from './plain-text.ts';
import { mergeRelayRoles } from './relay-roles.ts';
import type { RelayRoles } from './relay-roles.ts';
import { neverEmpty, withSession } from './session.ts';
import type { Invocation, RunCommand } from './session.ts';
import { tableLines } from './text-table.ts';

const KEY = 'npub, nprofile or 64 hexadecimal characters';

/** Adds `account add|list|show|relays` to the program. */
export function addAccountCommands(program: Command, run: RunCommand): void {
  const account = program.command('account').description('add accounts, list them, and choose their relays');

  account
    .command('add')
    .description('add an account by its public key')
    .argument('<key>', KEY)
    .option('--label <name>', 'a name of your own for it')
    .option('--write <url>', 'relay it writes to: a source of Fetch (repeatable)', collectRelay)
    .option('--read <url>', 'relay it reads from: not fetched (repeatable)', collectRelay)
    .option('--extra <url>', 'further source of Fetch, never written to (repeatable)', collectRelay)
    .addHelpText(
      'after',
      '\nWithout relays, the published relay list (NIP-65) is looked up. With relays, nobody is asked.\n\n' +
        'Examples:\n  holdfast account add npub1…\n' +
        '  holdfast account add npub1… --label alice --write wss://relay-a.example --write wss://relay-b.example',
    )
    .action((key: string, options: RelayRoles & { label?: string }) => run((call) => add(call, key, options)));

  account
    .command('list')
    .description('list the accounts and the roles of their relays')
    .action(() => run(list));

  account
    .command('show')
    .description('show one account: its archive, relays and published relay lists')
    .argument('<key>', KEY)
    .action((key: string) => run((call) => show(call, parseKey(key))));

  account
    .command('relays')
    .description('show or change the relays of an account')
    .argument('<key>', KEY)
    .option('--write <url>', 'replace the write relays (repeatable; “none” for no relay)', collectRelayOrNone)
    .option('--read <url>', 'replace the read relays (repeatable; “none” for no relay)', collectRelayOrNone)
    .option('--extra <url>', 'replace the extra sources (repeatable; “none” for no relay)', collectRelayOrNone)
    .option('--reset', 'take read and write relays from the newest published list; extra sources stay')
    .addHelpText(
      'after',
      '\nOnly the roles that are named change. Nothing is published.\n\nExamples:\n' +
        '  holdfast account relays npub1…                                 show them\n' +
        '  holdfast account relays npub1… --write wss://relay-a.example   one write relay, read and extra as before\n' +
        '  holdfast account relays npub1… --extra none                    no extra sources any more',
    )
    .action((key: string, options: RelayRoles & { reset?: boolean }) =>
      run((call) => relays(call, parseKey(key), options)),
    );
}

async function add(call: Invocation, key: string, options: RelayRoles & { label?: string }): Promise<ExitCode> {
  // A wrong key is found before a data directory is made for it.
  parseKey(key);
  if (options.label !== undefined && options.label.length > 200) {
    throw new Fault('invalid-argument', 'The label is too long: at most 200 characters.');
  }
  return withSession(call, 'create', neverEmpty, async (session) => {
    const isDiscovery = ![options.write, options.read, options.extra].some((urls) => urls !== undefined);
    if (isDiscovery) call.messages.note('looking for the published relay list …');
    const account = await session.call('accounts.add', { key, ...options });
    if (call.json) {
      await call.out.document(identityDocument(account));
      return EXIT.complete;
    }
    await call.out.lines([`Added ${accountName(account)}: ${account.npub}`, ...relayLines(account.relays)]);
    if (account.sourceRelays === 0) {
      await call.out.flush();
      call.messages.note(
        `there is nothing to fetch from yet; name relays with: holdfast account relays ${account.npub} --write URL`,
      );
    }
    return EXIT.complete;
  });
}

async function list(call: Invocation): Promise<ExitCode> {
  const print = async (accounts: AccountSummary[]): Promise<ExitCode> => {
    if (call.json) {
      await call.out.document(accounts.map(identityDocument));
    } else if (accounts.length === 0) {
      await call.out.lines(['No accounts yet. Add one with: holdfast account add NPUB']);
    } else {
      await call.out.lines(accountLines(accounts));
    }
    return EXIT.complete;
  };
  return withSession(
    call,
    'read',
    () => print([]),
    async (session) => print(await session.call('accounts.list', {})),
  );
}

async function show(call: Invocation, pubkey: string): Promise<ExitCode> {
  return withSession(call, 'read', missing(pubkey), async (session) => {
    const account = await findAccount(session, pubkey);
    const published = await session.call('accounts.publishedLists', { account: pubkey });
    if (call.json) {
      await call.out.document({ ...account, publishedLists: published });
    } else {
      await call.out.lines([...factLines(account), '', ...relayLines(account.relays), ...publishedLines(published)]);
    }
    return EXIT.complete;
  });
}

async function relays(call: Invocation, pubkey: string, options: RelayRoles & { reset?: boolean }): Promise<ExitCode> {
  const { write, read, extra } = options;
  const changes = [write, read, extra].some((urls) => urls !== undefined);
  if (options.reset === true && changes) {
    throw new Fault('invalid-argument', '--reset cannot be combined with --write, --read or --extra.');
  }
  const need = options.reset === true || changes ? 'change' : 'read';
  return withSession(call, need, missing(pubkey), async (session) => {
    let account = await findAccount(session, pubkey);
    if (options.reset === true) account = await session.call('accounts.resetRelays', { account: pubkey });
    if (changes) {
      const merged = mergeRelayRoles(account.relays, options);
      account = await session.call('accounts.setRelays', { account: pubkey, relays: merged });
    }
    if (call.json) await call.out.document(identityDocument(account));
    else await call.out.lines([`${accountName(account)}: ${account.npub}`, ...relayLines(account.relays)]);
    return EXIT.complete;
  });
}

function missing(pubkey: string): () => never {
  return () => {
    throw unknownAccount(pubkey);
  };
}

/** The fields of an account that `account list --json` promises. */
function identityDocument({ pubkey, npub, label, relays: list }: AccountSummary): Record<string, unknown> {
  return { pubkey, npub, label, relays: list.map(({ url, read, write, extra }) => ({ url, read, write, extra })) };
}

function accountLines(accounts: readonly AccountSummary[]): string[] {
  const lines = tableLines(
    [
      { title: 'account' },
      { title: 'npub' },
      { title: 'events', align: 'right' },
      { title: 'history complete', align: 'right' },
      { title: 'last checked (UTC)' },
    ],
    accounts.map((account) => [
      accountName(account),
      account.npub,
      formatCount(account.archive.events),
      `${account.completeRelays} of ${account.sourceRelays}`,
      formatCellTime(account.checkedAt, 'never'),
    ]),
  );
  const [title = '', ...rows] = lines;
  return [title, ...rows.flatMap((row, index) => [row, ...relayLines(accounts[index]?.relays ?? [])])];
}

function factLines(account: AccountSummary): string[] {
  const { archive } = account;
  const span = archive.events === 0 ? '' : `, ${formatDate(archive.oldest)} to ${formatDate(archive.newest)}`;
  const facts = [
    `${account.label === null ? '' : `${singleLine(account.label)}: `}${account.npub}`,
    `  public key    ${account.pubkey}`,
    `  archive       ${formatQuantity(archive.events, 'event')}${span}`,
    `  history       complete on ${account.completeRelays} of ${formatQuantity(account.sourceRelays, 'source relay')}`,
    `  last checked  ${formatTime(account.checkedAt, 'never')}`,
  ];
  if (account.unfinishedRanges > 0) {
    facts.push(`  unfinished    ${formatQuantity(account.unfinishedRanges, 'range')}; go on with: holdfast resume`);
  }
  if (account.activeRun !== null) facts.push(`  in progress   run ${account.activeRun}`);
  return facts;
}

function relayLines(list: readonly AccountRelay[]): string[] {
  if (list.length === 0) return ['  no relays'];
  return list.map((relay) => {
    const roles = (['write', 'read', 'extra'] as const).map((role) => (relay[role] ? role : '').padEnd(role.length));
    return `  ${roles.join('  ')}  ${singleLine(relay.url)}`;
  });
}

function publishedLines(lists: readonly PublishedRelayList[]): string[] {
  if (lists.length === 0) return ['', 'No published relay list is known.'];
  return lists.flatMap((published, index) => [
    '',
    `Published ${formatTime(published.createdAt)}${index === 0 ? ' (newest)' : ''}, seen ${formatTime(published.seenAt)}`,
    ...relayLines(published.relays),
  ]);
}
