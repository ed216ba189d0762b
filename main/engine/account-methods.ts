import type { AccountRelay, AccountSummary, PublishedRelayList } from '../../preload/contract.ts';
import { parseAccountKey } from '../accounts/account-key.ts';
import {
  addAccount,
  listAccounts,
  readAccount,
  readAccountRelays,
  renameAccount,
  setAccountRelays,
  type Account,
} from '../accounts/account-store.ts';
import { lookUpRelayLists } from '../accounts/relay-list-discovery.ts';
import { readRelayLists } from '../accounts/relay-list-history.ts';
import { isNewerVersion, readRelayList } from '../accounts/relay-list.ts';
import { readAccountSummary } from '../coverage/account-summary.ts';
import type { ServiceTable, TopicSource } from '../ipc/service-table.ts';
import { nowSeconds } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import { relayKeyOrNull } from '../relays/relay-key.ts';
import { readSettings } from '../settings/settings-store.ts';
import { archiver } from './archiver.ts';
import { requireOwner, type EngineParts } from './engine-parts.ts';

type AccountMethods = Pick<
  ServiceTable,
  | 'accounts.list'
  | 'accounts.add'
  | 'accounts.rename'
  | 'accounts.setRelays'
  | 'accounts.publishedLists'
  | 'accounts.discover'
  | 'accounts.resetRelays'
>;

/** The contract's methods on accounts and their relay lists. */
export function accountMethods(parts: EngineParts): AccountMethods {
  const { db, turns, changes } = parts;
  const summary = (account: Account): Promise<AccountSummary> =>
    readAccountSummary(db, account, turns.activeRunOf(account.pubkey));
  const changed = async (pubkey: string): Promise<AccountSummary> => {
    changes.tell('accounts', 'coverage');
    return summary(await readAccount(db, pubkey));
  };
  return {
    'accounts.list': () => accountSummaries(parts),
    'accounts.add': async (args) => {
      requireOwner(parts);
      await add(parts, args);
      return changed(parseAccountKey(args.key).pubkey);
    },
    'accounts.rename': async ({ account, label }) => {
      requireOwner(parts);
      await renameAccount(db, (await readAccount(db, account)).id, label);
      return changed(account);
    },
    'accounts.setRelays': async ({ account, relays }) => {
      requireOwner(parts);
      await setAccountRelays(db, (await readAccount(db, account)).id, relays);
      return changed(account);
    },
    'accounts.publishedLists': async ({ account }) => readRelayLists(db, (await readAccount(db, account)).pubkey),
    'accounts.discover': async ({ account }) => {
      requireOwner(parts);
      const list = await discover(parts, await readAccount(db, account));
      changes.tell('accounts');
      return list;
    },
    'accounts.resetRelays': async ({ account }) => {
      requireOwner(parts);
      await resetRelays(parts, await readAccount(db, account));
      return changed(account);
    },
  };
}

export async function accountSummaries({ reading, turns }: EngineParts): Promise<AccountSummary[]> {
  const summaries: AccountSummary[] = [];
  for (const account of await listAccounts(reading)) {
    summaries.push(await readAccountSummary(reading, account, turns.activeRunOf(account.pubkey)));
  }
  return summaries;
}

export function accountTopic(parts: EngineParts): TopicSource<'accounts'> {
  return { snapshot: () => accountSummaries(parts), onDidChange: (listener) => parts.changes.on('accounts', listener) };
}

/** With relays given nobody is asked. Otherwise the published list is looked up first, and nothing is added when nobody answers. */
async function add(parts: EngineParts, args: Parameters<ServiceTable['accounts.add']>[0]): Promise<void> {
  const { db, relays, verifier, clock } = parts;
  const key = parseAccountKey(args.key);
  const createdAt = nowSeconds(clock);
  const label = args.label ?? null;
  const given = rolesGiven(args);
  if (given.length > 0) {
    await addAccount(db, { pubkey: key.pubkey, label, relays: given, createdAt });
    return;
  }
  await refuseKnown(parts, key.pubkey);
  const { indexRelays } = await readSettings(db);
  const { events } = await lookUpRelayLists(relays, verifier, key.pubkey, [...key.relays, ...indexRelays]);
  const [newest] = events.toSorted((a, b) => (isNewerVersion(a, b) ? -1 : 1));
  const list = newest === undefined ? hintsAsExtraSources(key.relays) : readRelayList(newest);
  await addAccount(db, { pubkey: key.pubkey, label, relays: list, createdAt });
  await archiver(parts)(events);
}

async function refuseKnown({ db }: EngineParts, pubkey: string): Promise<void> {
  if ((await listAccounts(db)).some((account) => account.pubkey === pubkey)) {
    await addAccount(db, { pubkey, label: null, relays: [], createdAt: 0 });
  }
}

function rolesGiven(args: { read?: string[]; write?: string[]; extra?: string[] }): AccountRelay[] {
  const none = { read: false, write: false, extra: false };
  return [
    ...(args.write ?? []).map((url) => ({ ...none, url, write: true })),
    ...(args.read ?? []).map((url) => ({ ...none, url, read: true })),
    ...(args.extra ?? []).map((url) => ({ ...none, url, extra: true })),
  ];
}

/** Hints of an nprofile say where somebody saw the account: good enough to fetch from, not to send to. */
function hintsAsExtraSources(urls: readonly string[]): AccountRelay[] {
  return urls
    .filter((url) => relayKeyOrNull(url) !== null)
    .map((url) => ({ url, read: false, write: false, extra: true }));
}

/** Asks index relays and the account's own relays; every version found is kept. Null when relays answered and none has a list. */
async function discover(parts: EngineParts, account: Account): Promise<PublishedRelayList | null> {
  const { db, relays, verifier } = parts;
  const { indexRelays } = await readSettings(db);
  const own = (await readAccountRelays(db, account.id)).map(({ url }) => url);
  const { events } = await lookUpRelayLists(relays, verifier, account.pubkey, [...indexRelays, ...own]);
  await archiver(parts)(events);
  return (await readRelayLists(db, account.pubkey))[0] ?? null;
}

/** The local read/write list becomes the newest published one; extra sources stay extra sources. */
async function resetRelays(parts: EngineParts, account: Account): Promise<void> {
  const { db } = parts;
  let [published] = await readRelayLists(db, account.pubkey);
  published ??= (await discover(parts, account)) ?? undefined;
  if (published === undefined) {
    throw new Fault(
      'not-found',
      'No published relay list was found for this account, so there is nothing to reset to. Its relays stay as they are.',
      {
        account: account.pubkey,
      },
    );
  }
  const extras = (await readAccountRelays(db, account.id))
    .filter((relay) => relay.extra)
    .map(({ url }) => ({ url, read: false, write: false, extra: true }));
  await setAccountRelays(db, account.id, [...published.relays, ...extras]);
}
