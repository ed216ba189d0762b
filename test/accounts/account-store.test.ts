import { describe, expect, test } from 'vitest';
import {
  addAccount,
  isSource,
  listAccounts,
  mergeRoles,
  readAccount,
  readAccountRelays,
  renameAccount,
  setAccountRelays,
} from '../../main/accounts/account-store.ts';
import type { AccountRelay } from '../../preload/contract.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, bob } from '../relays/event-builder.ts';

function relay(url: string, ...roles: ('read' | 'write' | 'extra')[]): AccountRelay {
  return { url, read: roles.includes('read'), write: roles.includes('write'), extra: roles.includes('extra') };
}

const relays = [
  relay('wss://b.example', 'write'),
  relay('wss://a.example', 'read'),
  relay('wss://c.example/x', 'extra'),
];
const newAccount = { pubkey: alice.pubkey, label: 'Alice', relays, createdAt: 1_700_000_000 };

describe('roles of a relay', () => {
  test('add up for every spelling of its URL, in the order of the first', () => {
    expect(
      mergeRoles([
        relay('wss://A.example/', 'read'),
        relay('wss://b.example', 'extra'),
        relay('wss://a.example:443', 'write'),
      ]),
    ).toEqual([
      { ...relay('wss://A.example/', 'read', 'write'), key: 'wss://a.example' },
      { ...relay('wss://b.example', 'extra'), key: 'wss://b.example' },
    ]);
  });

  test('that are none drop the relay', () => {
    expect(mergeRoles([relay('wss://a.example')])).toEqual([]);
  });

  test('make a source of write relays and extra sources, never of read-only ones', () => {
    expect(isSource(relay('', 'read'))).toBe(false);
    expect(isSource(relay('', 'write'))).toBe(true);
    expect(isSource(relay('', 'extra'))).toBe(true);
    expect(isSource(relay('', 'read', 'extra'))).toBe(true);
  });

  test('as an extra source never include writing', () => {
    expect(mergeRoles([relay('wss://a.example', 'extra'), relay('wss://a.example', 'read')])).toMatchObject([
      { write: false },
    ]);
  });
});

describe('the account store', () => {
  test('keeps accounts with their relays in order and as they were written', async () => {
    const { db } = await openScratchDatabase();
    const account = await addAccount(db, newAccount);

    expect(await listAccounts(db)).toEqual([{ id: account.id, pubkey: alice.pubkey, label: 'Alice' }]);
    expect((await readAccountRelays(db, account.id)).map(({ key: _, relayId: __, ...rest }) => rest)).toEqual(relays);
  });

  test('refuses an account that is there already, and changes nothing', async () => {
    const { db } = await openScratchDatabase();
    const { id } = await addAccount(db, newAccount);

    const fault = await thrownFault(() =>
      addAccount(db, { ...newAccount, label: 'again', relays: [relay('wss://new.example', 'write')] }),
    );

    expect(fault.code).toBe('invalid-argument');
    expect(fault.message).toContain(alice.npub);
    expect(await listAccounts(db)).toEqual([{ id, pubkey: alice.pubkey, label: 'Alice' }]);
    expect(await readAccountRelays(db, id)).toHaveLength(3);
    expect(await db.selectFrom('relays').selectAll().execute()).toHaveLength(3);
  });

  test('refuses a bad URL, and adds or changes nothing', async () => {
    const { db } = await openScratchDatabase();
    const bad = [relay('wss://fine.example', 'write'), relay('http://a.example', 'write')];

    expect((await thrownFault(() => addAccount(db, { ...newAccount, relays: bad }))).message).toContain(
      'http://a.example',
    );
    expect(await listAccounts(db)).toEqual([]);

    const { id } = await addAccount(db, newAccount);
    const before = await readAccountRelays(db, id);
    expect((await thrownFault(() => setAccountRelays(db, id, bad))).code).toBe('invalid-argument');
    expect(await readAccountRelays(db, id)).toEqual(before);
  });

  test('replaces the relays of one account only, and knows a relay again', async () => {
    const { db } = await openScratchDatabase();
    const first = await addAccount(db, newAccount);
    const second = await addAccount(db, { ...newAccount, pubkey: bob.pubkey });
    const known = await readAccountRelays(db, first.id);

    await setAccountRelays(db, first.id, [relay('wss://d.example', 'write'), relay('WSS://B.example', 'read')]);

    const changed = await readAccountRelays(db, first.id);
    expect(changed.map(({ url }) => url)).toEqual(['wss://d.example', 'WSS://B.example']);
    expect(changed[1]?.relayId).toBe(known[0]?.relayId);
    expect(await readAccountRelays(db, second.id)).toEqual(known);
  });

  test('renames, and takes a name away', async () => {
    const { db } = await openScratchDatabase();
    const { id } = await addAccount(db, newAccount);

    await renameAccount(db, id, 'Alicia');
    expect((await readAccount(db, alice.pubkey)).label).toBe('Alicia');
    await renameAccount(db, id, null);
    expect((await readAccount(db, alice.pubkey)).label).toBeNull();
  });

  test('names an account that it does not know', async () => {
    const { db } = await openScratchDatabase();

    const fault = await thrownFault(() => readAccount(db, bob.pubkey));

    expect(fault.code).toBe('unknown-account');
    expect(fault.message).toContain(bob.npub);
  });
});
