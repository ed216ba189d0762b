import { nprofileEncode } from 'nostr-tools/nip19';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../main/engine.ts';
import type { AccountRelay } from '../../preload/contract.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { addEvents, withBadSignature } from '../relays/behaviours/corruption.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { refusingPort } from '../relays/unreachable-relays.ts';
import { NOW, startEngine, startRelay } from './engine-rig.ts';

const older = buildEvent({ kind: 10_002, createdAt: 1000, tags: [['r', 'wss://old.example']] });
const newer = buildEvent({
  kind: 10_002,
  createdAt: 2000,
  tags: [
    ['r', 'wss://both.example'],
    ['r', 'wss://read.example', 'read'],
  ],
});
const PUBLISHED: AccountRelay[] = [
  { url: 'wss://both.example', read: true, write: true, extra: false },
  { url: 'wss://read.example', read: true, write: false, extra: false },
];

let engine: Engine;

beforeEach(async () => {
  engine = await startEngine(scratchDirectory());
});

async function useIndexRelays(...relays: (ScriptedRelay | string)[]): Promise<void> {
  await engine.methods['settings.set']({
    indexRelays: relays.map((relay) => (typeof relay === 'string' ? relay : relay.url)),
  });
}

async function downRelay(): Promise<string> {
  return `ws://127.0.0.1:${await refusingPort()}`;
}

describe('adding an account', () => {
  test('takes the newest list of all index relays, one of them down, and keeps every version', async () => {
    const [stale, fresh] = [await startRelay({ events: [older] }), await startRelay({ events: [newer] })];
    await useIndexRelays(await downRelay(), stale, fresh);

    const account = await engine.methods['accounts.add']({ key: alice.npub, label: 'Alice' });

    expect(account).toMatchObject({
      pubkey: alice.pubkey,
      npub: alice.npub,
      label: 'Alice',
      relays: PUBLISHED,
      sourceRelays: 1,
    });
    expect(await engine.methods['accounts.publishedLists']({ account: alice.pubkey })).toEqual([
      { eventId: newer.id, createdAt: 2000, seenAt: NOW, relays: PUBLISHED },
      {
        eventId: older.id,
        createdAt: 1000,
        seenAt: NOW,
        relays: [{ url: 'wss://old.example', read: true, write: true, extra: false }],
      },
    ]);
  });

  test('believes no list with a bad signature or by somebody else, however new', async () => {
    const evil = [['r', 'wss://evil.example']];
    const liar = await startRelay({
      behaviours: [
        addEvents([
          withBadSignature(buildEvent({ kind: 10_002, createdAt: 9000, tags: evil })),
          buildEvent({ kind: 10_002, createdAt: 9000, tags: evil, author: bob }),
        ]),
      ],
    });
    await useIndexRelays(liar, await startRelay({ events: [older] }));

    expect((await engine.methods['accounts.add']({ key: alice.pubkey })).relays).toMatchObject([
      { url: 'wss://old.example' },
    ]);
    expect(await engine.methods['accounts.publishedLists']({ account: alice.pubkey })).toHaveLength(1);
  });

  test('asks the relays that an nprofile names, too', async () => {
    const [index, hinted] = [await startRelay(), await startRelay({ events: [newer] })];
    await useIndexRelays(index);

    const { relays } = await engine.methods['accounts.add']({
      key: nprofileEncode({ pubkey: alice.pubkey, relays: [hinted.url] }),
    });

    expect(relays).toEqual(PUBLISHED);
    expect(index.requests()).toHaveLength(1);
  });

  test('makes extra sources of an nprofile’s relays when nobody has a list, and passes over what is no relay', async () => {
    const relay = await startRelay();
    await useIndexRelays(relay);
    const key = nprofileEncode({ pubkey: alice.pubkey, relays: [relay.url, 'https://no.example', 'junk'] });

    expect((await engine.methods['accounts.add']({ key })).relays).toEqual([
      { url: relay.url, read: false, write: false, extra: true },
    ]);
  });

  test('adds nothing when nobody answers', async () => {
    await useIndexRelays(await downRelay(), await downRelay());

    const fault = await thrownFault(() => engine.methods['accounts.add']({ key: alice.npub }));

    expect(fault.code).toBe('network');
    expect(await engine.methods['accounts.list']({})).toEqual([]);
  });

  test('asks nobody when relays are given', async () => {
    const [index, given] = [await startRelay({ events: [newer] }), await startRelay({ events: [newer] })];
    await useIndexRelays(index);

    const { relays } = await engine.methods['accounts.add']({
      key: alice.npub,
      write: [given.url],
      read: [`${given.url}/`, 'wss://r.example'],
      extra: ['wss://x.example'],
    });

    expect(relays).toEqual([
      { url: given.url, read: true, write: true, extra: false },
      { url: 'wss://r.example', read: true, write: false, extra: false },
      { url: 'wss://x.example', read: false, write: false, extra: true },
    ]);
    expect([index, given].flatMap(({ log }) => log.entries)).toEqual([]);
  });

  test('twice is refused without asking anybody, and changes nothing', async () => {
    const index = await startRelay({ events: [newer] });
    await useIndexRelays(index);
    const before = await engine.methods['accounts.add']({
      key: alice.npub,
      label: 'Alice',
      write: ['wss://w.example'],
    });

    for (const args of [{ key: alice.pubkey }, { key: alice.npub, label: 'Again', write: ['wss://other.example'] }]) {
      expect((await thrownFault(() => engine.methods['accounts.add'](args))).code).toBe('invalid-argument');
    }

    expect(await engine.methods['accounts.list']({})).toEqual([before]);
    expect(index.log.entries).toEqual([]);
  });

  test.each([
    ['a bad key', { key: 'npub1nonsense' }],
    ['a bad URL', { key: alice.npub, write: ['wss://fine.example', 'ftp://bad.example'] }],
  ])('with %s changes nothing', async (_, args) => {
    expect((await thrownFault(() => engine.methods['accounts.add'](args))).code).toBe('invalid-argument');
    expect(await engine.methods['accounts.list']({})).toEqual([]);
  });
});

describe('an account’s relays', () => {
  const mine: AccountRelay[] = [
    { url: 'wss://mine.example', read: true, write: true, extra: false },
    { url: 'wss://source.example', read: false, write: false, extra: true },
    { url: 'wss://both.example', read: false, write: false, extra: true },
  ];

  test('go back to the published list on reset, and extra sources stay extra', async () => {
    await useIndexRelays(await startRelay({ events: [older] }), await startRelay({ events: [newer] }));
    await engine.methods['accounts.add']({ key: alice.npub, write: ['wss://w.example'] });
    await engine.methods['accounts.setRelays']({ account: alice.pubkey, relays: mine });

    const { relays } = await engine.methods['accounts.resetRelays']({ account: alice.pubkey });

    expect(relays).toEqual([
      { url: 'wss://both.example', read: true, write: true, extra: true },
      { url: 'wss://read.example', read: true, write: false, extra: false },
      { url: 'wss://source.example', read: false, write: false, extra: true },
    ]);
  });

  test('stay as they are when there is nothing to reset to, or nobody answers', async () => {
    const empty = await startRelay();
    await useIndexRelays(empty);
    await engine.methods['accounts.add']({ key: alice.npub, write: [empty.url] });
    const reset = () => engine.methods['accounts.resetRelays']({ account: alice.pubkey });

    expect((await thrownFault(reset)).code).toBe('not-found');
    await empty.stop();
    expect((await thrownFault(reset)).code).toBe('network');

    expect((await engine.methods['accounts.list']({}))[0]?.relays).toEqual([
      { url: empty.url, read: false, write: true, extra: false },
    ]);
  });

  test('are looked up on their own relays, too, without changing the local list', async () => {
    const own = await startRelay({ events: [newer] });
    await useIndexRelays(await startRelay());
    const before = await engine.methods['accounts.add']({ key: alice.npub, read: [own.url] });

    expect(await engine.methods['accounts.discover']({ account: alice.pubkey })).toMatchObject({
      eventId: newer.id,
      relays: PUBLISHED,
    });

    expect((await engine.methods['accounts.list']({}))[0]?.relays).toEqual(before.relays);
  });

  test('have no published list where relays answer and none has one', async () => {
    await useIndexRelays(await startRelay());
    await engine.methods['accounts.add']({ key: alice.npub, extra: ['ws://127.0.0.1:1'] });

    expect(await engine.methods['accounts.discover']({ account: alice.pubkey })).toBeNull();
  });

  test('refuse a bad URL, and stay', async () => {
    await engine.methods['accounts.add']({ key: alice.npub, write: ['wss://w.example'] });

    const bad = [{ url: 'w.example', read: true, write: true, extra: false }];
    expect(
      (await thrownFault(() => engine.methods['accounts.setRelays']({ account: alice.pubkey, relays: bad }))).code,
    ).toBe('invalid-argument');

    expect((await engine.methods['accounts.list']({}))[0]?.relays).toMatchObject([{ url: 'wss://w.example' }]);
  });
});

test('whoever watches accounts hears of every change', async () => {
  const heard = vi.fn();
  const stop = engine.topics.accounts.onDidChange(heard);

  await engine.methods['accounts.add']({ key: alice.npub, write: ['wss://w.example'] });
  expect(heard).toHaveBeenCalledTimes(1);
  expect(await engine.methods['accounts.rename']({ account: alice.pubkey, label: 'A' })).toMatchObject({ label: 'A' });
  await engine.methods['accounts.setRelays']({ account: alice.pubkey, relays: [] });
  expect(heard).toHaveBeenCalledTimes(3);
  stop();
  await engine.methods['accounts.rename']({ account: alice.pubkey, label: null });
  expect(heard).toHaveBeenCalledTimes(3);
});

test('an unknown account is named by every method', async () => {
  const account = bob.pubkey;
  const calls = [
    () => engine.methods['accounts.rename']({ account, label: 'x' }),
    () => engine.methods['accounts.setRelays']({ account, relays: [] }),
    () => engine.methods['accounts.publishedLists']({ account }),
    () => engine.methods['accounts.discover']({ account }),
    () => engine.methods['accounts.resetRelays']({ account }),
    () => engine.methods['fetch.start']({ account }),
    () => engine.methods['coverage.tree']({ account }),
    () => engine.methods['runs.list']({ account }),
    () => engine.methods['fetch.resume']({ account }),
  ];
  for (const call of calls) {
    const fault = await thrownFault(call);
    expect(fault.code).toBe('unknown-account');
    expect(fault.message).toContain(bob.npub);
  }
});
