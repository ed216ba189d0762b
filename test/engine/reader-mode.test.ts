import { expect, test } from 'vitest';
import type { Engine } from '../../main/engine.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { holdAnswers } from '../relays/behaviours/end-of-stored-events.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { Gate } from '../relays/gate.ts';
import { NOW, startEngine, startRelay } from './engine-rig.ts';

/** Everything that an engine answers about what is kept. */
async function answers(engine: Engine): Promise<unknown> {
  return [
    await engine.methods['accounts.list']({}),
    await engine.methods['runs.list']({}),
    await engine.methods['settings.get']({}),
    await engine.methods['coverage.tree']({ account: alice.pubkey }),
  ];
}

test('a reader beside an owner answers the same and refuses to change anything', async () => {
  const directory = scratchDirectory();
  const relay = await startRelay({ events: [buildEvent({ kind: 10_002 })] });
  const owner = await startEngine(directory);
  await owner.methods['accounts.add']({ key: alice.npub, write: [relay.url] });
  await owner.importLines([JSON.stringify(buildEvent())]);
  const reader = await startEngine(directory, { mode: 'reader' });
  const before = await answers(owner);
  const seen = relay.log.entries.length;

  expect(await answers(reader)).toEqual(before);
  const account = alice.pubkey;
  const changes = [
    () => reader.methods['accounts.add']({ key: 'f'.repeat(64), write: [relay.url] }),
    () => reader.methods['accounts.rename']({ account, label: 'x' }),
    () => reader.methods['accounts.setRelays']({ account, relays: [] }),
    () => reader.methods['accounts.discover']({ account }),
    () => reader.methods['accounts.resetRelays']({ account }),
    () => reader.methods['fetch.start']({ account }),
    () => reader.methods['fetch.resume']({}),
    () => reader.methods['fetch.refetch']({ range: 1 }),
    () => reader.methods['archive.import']({ lines: JSON.stringify(buildEvent({ content: 'new' })) }),
    () => reader.importLines([JSON.stringify(buildEvent({ content: 'new' }))]),
    () => reader.methods['settings.set']({ pageLimit: 7 }),
  ];
  for (const change of changes) {
    const fault = await thrownFault(change);
    expect(fault.code).toBe('data-directory-in-use');
    expect(fault.message).toContain(directory);
  }

  expect(await answers(owner)).toEqual(before);
  expect(relay.log.entries).toHaveLength(seen);
});

test('a reader exports and finds what the owner archived', async () => {
  const directory = scratchDirectory();
  const owner = await startEngine(directory);
  await owner.importLines([JSON.stringify(buildEvent())]);
  const reader = await startEngine(directory, { mode: 'reader' });

  const exported: unknown[] = [];
  for await (const event of reader.exportEvents({ account: alice.pubkey })) exported.push(event);

  expect(exported).toEqual([buildEvent()]);
  expect(await reader.methods['events.find']({ id: buildEvent().id })).toMatchObject({ event: buildEvent() });
});

test('a reader leaves word, and the owner cancels the run', async () => {
  const directory = scratchDirectory();
  const gate = new Gate();
  const relay = await startRelay({ events: [buildEvent()], behaviours: [holdAnswers(gate)] });
  const clock = new FakeClock(NOW * 1000);
  const owner = await startEngine(directory, { clock });
  await owner.methods['accounts.add']({ key: alice.npub, write: [relay.url] });
  const { run } = await owner.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging' });
  const reader = await startEngine(directory, { mode: 'reader' });
  while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve));

  expect(await reader.methods['runs.cancel']({ run })).toEqual({ cancelled: true });
  let ended = false;
  const ending = owner.runEnded(run).finally(() => (ended = true));
  while (!ended) await clock.pass(1000);

  expect(await ending).toMatchObject({ status: 'cancelled', resumable: true });
  expect(await reader.methods['runs.cancel']({ run })).toEqual({ cancelled: false });
  expect((await thrownFault(() => reader.methods['runs.cancel']({ run: 99 }))).code).toBe('unknown-run');
});

test('a reader without an archive says so and creates none', async () => {
  expect((await thrownFault(() => startEngine(scratchDirectory(), { mode: 'reader' }))).code).toBe('not-found');
});
