import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { integerOf, shown, textOf, valueOf, type OldRow, type OldValue } from './old-row.ts';
import { judgeTime } from './old-time.ts';
import { internRelays, numberOf, oldRelay } from './relay-numbers.ts';
import type { CarryContext, CarryRows } from './carry-context.ts';
import { aside, type Remark, type RowFate } from './row-fate.ts';

const PUBLIC_KEY = /^[0-9a-f]{64}$/;
const ROLES = ['read', 'write', 'extra'] as const;

/**
 * Accounts. Those of this archive's own first version were brought over by the migration, and are looked at here; those of
 * a file are added with their relays, unless the account is here already: then it stays as it is.
 */
export const carryAccounts: CarryRows = (rows, context) =>
  Promise.resolve(async (trx) => {
    const fates: RowFate[] = [];
    for (const row of rows) fates.push(await carryAccount(trx, row, context));
    return fates;
  });

async function carryAccount(trx: Transaction<Tables>, row: OldRow, context: CarryContext): Promise<RowFate> {
  const pubkey = textOf(row, 'pubkey');
  if (pubkey === null) return aside('wrong-type', `The public key is ${shown(valueOf(row, 'pubkey'))}, no text.`);
  if (!PUBLIC_KEY.test(pubkey)) {
    return aside('wrong-shape', `The public key is ${shown(pubkey)}, not 64 lower-case hex characters.`);
  }
  const remarks: Remark[] = [];
  for (const column of ['label', 'signer_ref']) {
    const value = valueOf(row, column);
    if (value !== null && typeof value !== 'string') {
      remarks.push({ problem: 'wrong-type', detail: `${column} is ${shown(value)}, no text, and was left out.` });
    }
  }
  const created = judgeTime('created_at', valueOf(row, 'created_at'), context.now);
  if (created.at === null) remarks.push({ problem: created.problem, detail: created.detail });
  const known = await trx.selectFrom('accounts').select(['id']).where('pubkey', '=', pubkey).executeTakeFirst();
  const id = integerOf(row, 'id');
  if (known !== undefined) {
    if (context.source.isOwn && created.at === null) {
      await trx.updateTable('accounts').set({ created_at: 0 }).where('id', '=', known.id).execute();
    }
    return { outcome: context.source.isOwn && known.id === id ? 'carried' : 'merged', remarks };
  }
  if (context.source.isOwn || id === null) {
    return aside('wrong-shape', `The account's number is ${shown(valueOf(row, 'id'))}, which cannot be used.`, remarks);
  }
  const added = await trx
    .insertInto('accounts')
    .values({
      pubkey,
      label: textOf(row, 'label'),
      signer_ref: textOf(row, 'signer_ref'),
      created_at: created.at ?? 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await addRelays(trx, added.id, context.reader.relaysOf(id));
  return { outcome: 'carried', remarks };
}

/** The relay list of a new account: rows of one relay add up their roles, as in the migration. */
async function addRelays(trx: Transaction<Tables>, account: number, rows: readonly OldRow[]): Promise<void> {
  const given = rows.flatMap((row) => {
    const relay = oldRelay(valueOf(row, 'url'));
    return relay === null ? [] : [{ row, relay }];
  });
  const numbers = await internRelays(
    trx,
    given.map(({ relay }) => relay),
  );
  for (const [position, { row, relay }] of given.entries()) {
    const [read, write, extra] = ROLES.map((role) => (isSet(valueOf(row, role)) ? 1 : 0));
    await sql`insert into account_relays (account_id, relay_id, url, read, write, extra, position)
      values (${account}, ${numberOf(numbers, relay)}, ${relay.url}, ${read}, ${write}, ${extra}, ${position})
      on conflict do update set read = max(read, excluded.read), write = max(write, excluded.write),
        extra = max(extra, excluded.extra)`.execute(trx);
  }
}

/** A role is a number other than 0; text or bytes in its place say nothing. */
function isSet(value: OldValue): boolean {
  return (typeof value === 'number' && value !== 0) || typeof value === 'bigint';
}

/**
 * Rows of relay lists. The lists themselves came over with their accounts; here it is told of each row whether its relay
 * stands in the list of now. A list that was changed since, or was here before a file was chosen, is left as it is.
 */
export const carryAccountRelays: CarryRows = (rows, context) =>
  Promise.resolve(async (trx) => {
    const seen = new Map<number, Set<string>>();
    const fates: RowFate[] = [];
    for (const row of rows) fates.push(await judgeAccountRelay(trx, row, context, seen));
    return fates;
  });

async function judgeAccountRelay(
  trx: Transaction<Tables>,
  row: OldRow,
  context: CarryContext,
  seen: Map<number, Set<string>>,
): Promise<RowFate> {
  const old = integerOf(row, 'account_id');
  const account = await context.accounts.find(trx, old);
  if (old === null || account === null) {
    return aside(
      'unknown-account',
      `There is no account ${shown(valueOf(row, 'account_id'))} with a valid public key.`,
    );
  }
  const url = valueOf(row, 'url');
  if (typeof url !== 'string') return aside('wrong-type', `The relay's address is ${shown(url)}, no text.`);
  const relay = oldRelay(url);
  if (relay === null) return aside('bad-url', `${shown(url)} is not the address of a relay.`);
  const remarks: Remark[] = [];
  for (const role of ROLES) {
    const value = valueOf(row, role);
    if (typeof value === 'number' || typeof value === 'bigint') continue;
    remarks.push({ problem: 'wrong-type', detail: `${role} is ${shown(value)}, no number, and was taken as no.` });
  }
  const keys = seen.get(account) ?? earlierKeys(context, old, row.rowid);
  seen.set(account, keys);
  const isListed = await trx
    .selectFrom('account_relays')
    .innerJoin('relays', 'relays.id', 'account_relays.relay_id')
    .select('relays.id')
    .where('account_relays.account_id', '=', account)
    .where('relays.key', '=', relay.key)
    .executeTakeFirst();
  if (isListed === undefined) return { outcome: 'information', remarks };
  if (!keys.has(relay.key)) {
    keys.add(relay.key);
    const cameWithIt = context.source.isOwn || account > context.source.accountsBefore;
    return { outcome: cameWithIt ? 'carried' : 'merged', remarks };
  }
  const detail = `${shown(url)} is the same relay as one in another row; their roles were added up.`;
  return { outcome: 'merged', remarks: [...remarks, { problem: 'duplicate', detail }] };
}

/** Relays of an account that rows before this one named. */
function earlierKeys({ reader }: CarryContext, account: number, before: bigint): Set<string> {
  return new Set(
    reader.relaysOf(account, before).flatMap((row) => {
      const relay = oldRelay(valueOf(row, 'url'));
      return relay === null ? [] : [relay.key];
    }),
  );
}
