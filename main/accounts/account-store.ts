import type { Transaction } from 'kysely';
import type { AccountRelay } from '../../preload/contract.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { Fault } from '../platform/fault.ts';
import { parseRelayUrl } from '../relays/relay-key.ts';
import { toNpub } from './account-key.ts';

export interface Account {
  id: number;
  /** 64 hex characters. */
  pubkey: string;
  label: string | null;
}

/** A relay in its roles for an account. */
export interface RoledRelay extends AccountRelay {
  relayId: number;
  key: string;
}

export async function listAccounts(db: ReadableDatabase): Promise<Account[]> {
  return db.selectFrom('accounts').select(['id', 'pubkey', 'label']).orderBy('id').execute();
}

/** @throws Fault `unknown-account` that names the account. */
export async function readAccount(db: ReadableDatabase, pubkey: string): Promise<Account> {
  const account = await db
    .selectFrom('accounts')
    .select(['id', 'pubkey', 'label'])
    .where('pubkey', '=', pubkey)
    .executeTakeFirst();
  if (account === undefined) {
    throw new Fault('unknown-account', `There is no account ${toNpub(pubkey)} here. Add it first.`, {
      account: pubkey,
    });
  }
  return account;
}

/** The account of an ID that a foreign key vouches for. */
export async function readAccountById(db: ReadableDatabase, id: number): Promise<Account> {
  return db.selectFrom('accounts').select(['id', 'pubkey', 'label']).where('id', '=', id).executeTakeFirstOrThrow();
}

/** @throws Fault `invalid-argument` when the account is here already; nothing is changed then. */
export async function addAccount(
  db: WritableDatabase,
  account: { pubkey: string; label: string | null; relays: readonly AccountRelay[]; createdAt: number },
): Promise<Account> {
  const relays = mergeRoles(account.relays);
  return db.transaction().execute(async (trx) => {
    const known = await trx.selectFrom('accounts').select('id').where('pubkey', '=', account.pubkey).executeTakeFirst();
    if (known !== undefined) {
      throw new Fault('invalid-argument', `${toNpub(account.pubkey)} is already one of your accounts.`, {
        account: account.pubkey,
      });
    }
    const { id } = await trx
      .insertInto('accounts')
      .values({ pubkey: account.pubkey, label: account.label, signer_ref: null, created_at: account.createdAt })
      .returning('id')
      .executeTakeFirstOrThrow();
    await replaceRelays(trx, id, relays);
    return { id, pubkey: account.pubkey, label: account.label };
  });
}

export async function renameAccount(db: WritableDatabase, id: number, label: string | null): Promise<void> {
  await db.updateTable('accounts').set({ label }).where('id', '=', id).execute();
}

/** Replaces an account's local relay list. Ranges and evidence of relays that are no longer listed stay. */
export async function setAccountRelays(
  db: WritableDatabase,
  accountId: number,
  relays: readonly AccountRelay[],
): Promise<void> {
  const merged = mergeRoles(relays);
  await db.transaction().execute((trx) => replaceRelays(trx, accountId, merged));
}

export async function readAccountRelays(db: ReadableDatabase, accountId: number): Promise<RoledRelay[]> {
  const rows = await db
    .selectFrom('account_relays')
    .innerJoin('relays', 'relays.id', 'account_relays.relay_id')
    .select(['relays.id', 'relays.key', 'account_relays.url', 'read', 'write', 'extra'])
    .where('account_id', '=', accountId)
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    relayId: row.id,
    key: row.key,
    url: row.url,
    read: row.read === 1,
    write: row.write === 1,
    extra: row.extra === 1,
  }));
}

/** Whether history is fetched from a relay in these roles: write relays and extra sources, never read-only ones. */
export function isSource(relay: Pick<AccountRelay, 'write' | 'extra'>): boolean {
  return relay.write || relay.extra;
}

/**
 * One entry for each relay key, in order, roles added up; entries without any role are dropped.
 *
 * @throws Fault `invalid-argument` for a URL that is no relay's.
 */
export function mergeRoles(relays: readonly AccountRelay[]): (AccountRelay & { key: string })[] {
  const merged = new Map<string, AccountRelay & { key: string }>();
  for (const relay of relays) {
    if (!relay.read && !relay.write && !relay.extra) continue;
    const { key, url } = parseRelayUrl(relay.url);
    const known = merged.get(key);
    merged.set(key, {
      key,
      url: known?.url ?? url,
      read: relay.read || known?.read === true,
      write: relay.write || known?.write === true,
      extra: relay.extra || known?.extra === true,
    });
  }
  return [...merged.values()];
}

async function replaceRelays(
  trx: Transaction<Tables>,
  accountId: number,
  relays: readonly (AccountRelay & { key: string })[],
): Promise<void> {
  await trx.deleteFrom('account_relays').where('account_id', '=', accountId).execute();
  for (const [position, relay] of relays.entries()) {
    await trx
      .insertInto('relays')
      .values({ key: relay.key, url: relay.url, observed_cap: null, accepted_limit: null })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const { id } = await trx.selectFrom('relays').select('id').where('key', '=', relay.key).executeTakeFirstOrThrow();
    await trx
      .insertInto('account_relays')
      .values({
        account_id: accountId,
        relay_id: id,
        url: relay.url,
        read: relay.read ? 1 : 0,
        write: relay.write ? 1 : 0,
        extra: relay.extra ? 1 : 0,
        position,
      })
      .execute();
  }
}
