import type { AccountSummary } from '../../preload/contract.ts';
import { parseAccountKey, toNpub } from '../accounts/account-key.ts';
import type { ServiceTable } from '../ipc/service-table.ts';
import { Fault } from '../platform/fault.ts';
import { formatShortKey, singleLine } from './plain-text.ts';
import type { Session } from './session.ts';

/** The public key in hex that an npub, an nprofile or hex names. Throws `invalid-argument`. */
export function parseKey(text: string): string {
  return parseAccountKey(text).pubkey;
}

/** The account of a public key. Throws `unknown-account`. */
export async function findAccount(session: Session, pubkey: string): Promise<AccountSummary> {
  const accounts = await session.call('accounts.list', {});
  const account = accounts.find((candidate) => candidate.pubkey === pubkey);
  if (account === undefined) throw unknownAccount(pubkey);
  return account;
}

/** The fault of a key that is no account here; it says how to make it one. */
export function unknownAccount(pubkey: string): Fault {
  const npub = toNpub(pubkey);
  return new Fault('unknown-account', `There is no account ${npub} here. Add it with: holdfast account add ${npub}`, {
    account: pubkey,
  });
}

/** How an account is called in tables: its label, or its shortened npub. */
export function accountName(account: Pick<AccountSummary, 'label' | 'npub'>): string {
  const label = account.label === null ? '' : singleLine(account.label);
  return label === '' ? formatShortKey(account.npub) : label;
}

/** Names of accounts by public key, for reports about several; `list` answers `accounts.list`. */
export async function accountNames(list: ServiceTable['accounts.list']): Promise<(pubkey: string) => string> {
  const accounts = await list({});
  const names = new Map(accounts.map((account) => [account.pubkey, accountName(account)]));
  return (pubkey) => names.get(pubkey) ?? formatShortKey(toNpub(pubkey));
}
