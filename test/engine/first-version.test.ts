import { expect, test } from 'vitest';
import type { Method, Methods } from '../../preload/contract.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { accountKey, relayUrl } from '../legacy/first-version-rows.ts';
import { generateRows, writeFirstVersion } from '../legacy/generated-first-version.ts';
import { startEngine } from './engine-rig.ts';

const account = accountKey(0).pubkey;

test('while the first version is brought over no run begins, and that is said', async () => {
  const directory = scratchDirectory();
  writeFirstVersion(directory, generateRows());
  const engine = await startEngine(directory);
  const call = <M extends Method>(method: M, args: Methods[M]['args']) =>
    thrownFault(async () => engine.methods[method](args));

  for (const fault of [
    await call('fetch.start', { account }),
    await call('fetch.resume', {}),
    await call('fetch.refetch', { range: 1 }),
    await call('sync.start', { account }),
    await call('sync.retryRefused', { run: 1 }),
    await call('sync.reverify', { run: 1 }),
    await call('legacy.importFile', { path: '/nowhere.db' }),
  ]) {
    expect([fault.code, fault.message]).toEqual([
      'already-active',
      expect.stringMatching(/^What the first version left is still being brought over \(\d+ %\)\. Try again/) as string,
    ]);
  }
  await engine.firstVersionBroughtOver();
  expect((await call('fetch.resume', {})).code).toBe('nothing-to-do');
  expect((await call('fetch.refetch', { range: 1 })).code).toBe('unknown-range');
});

test('how far it is is told, up to the end', async () => {
  const directory = scratchDirectory();
  const rows = generateRows();
  writeFirstVersion(directory, rows);
  const engine = await startEngine(directory);
  const told: { done: number; total: number }[] = [];
  await engine.firstVersionBroughtOver((progress) => told.push(progress));
  const total = Object.values(rows).reduce((sum, list) => sum + list.length, 0);
  expect(told[0]).toEqual({ done: 0, total });
  expect(told.at(-1)).toEqual({ done: total, total });
  expect(told.map(({ done }) => done)).toEqual(told.map(({ done }) => done).toSorted((a, b) => a - b));
});

test('what is brought over is there as if it had been fetched: the account, its archive, its relays', async () => {
  const directory = scratchDirectory();
  writeFirstVersion(directory, generateRows());
  const engine = await startEngine(directory);
  await engine.firstVersionBroughtOver();
  const accounts = await engine.methods['accounts.list']({});
  expect(accounts.map(({ pubkey, label, archive }) => ({ pubkey, label, events: archive.events }))).toEqual([
    { pubkey: account, label: 'Account 1', events: 41 },
    { pubkey: accountKey(1).pubkey, label: 'Account 2', events: 41 },
  ]);
  expect(accounts[0]?.relays.map(({ url }) => url)).toEqual([relayUrl(0), relayUrl(1), relayUrl(2)]);
  const [published] = await engine.methods['accounts.publishedLists']({ account });
  expect(published?.seenAt).toBe(1_689_996_000);
  const tree = await engine.methods['candidates.tree']({ account });
  expect(tree.total).toBe(0);
  const copies = await engine.methods['coverage.copies']({ account });
  expect(copies).toMatchObject({ events: 41, none: 1, one: 0, two: 40, more: 0 });
  expect(copies.relays.map(({ absent }) => absent)).toEqual([0, 0, 0]);
});

test('a reader beside the owner answers from what is there, and brings nothing over itself', async () => {
  const directory = scratchDirectory();
  writeFirstVersion(directory, generateRows());
  const owner = await startEngine(directory);
  const reader = await startEngine(directory, { mode: 'reader' });
  await reader.firstVersionBroughtOver();
  const fault = await thrownFault(() => reader.methods['legacy.importFile']({ path: '/nowhere.db' }));
  expect(fault.code).toBe('data-directory-in-use');
  await owner.firstVersionBroughtOver();
  expect((await reader.methods['accounts.list']({}))[0]?.archive.events).toBe(41);
});
