import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { startEngine, startRelay } from './engine-rig.ts';

test('a run whose data directory is deleted ends with that fault, on every relay, and asks nobody any further', async () => {
  const directory = scratchDirectory();
  const events = buildHistory({ count: 400, from: 1_600_000_000, to: 1_600_100_000 });
  const relays = await Promise.all([startRelay({ events }), startRelay({ events })]);
  const engine = await startEngine(directory);
  await engine.methods['accounts.add']({ key: alice.npub, write: relays.map(({ url }) => url) });
  const { run } = await engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging', limit: 2 });
  const pages = async (): Promise<number> =>
    (await engine.topics.activity.snapshot({})).runs[0]?.relays.reduce((sum, relay) => sum + relay.pages, 0) ?? 0;
  while ((await pages()) < 2) await new Promise((resolve) => setTimeout(resolve, 1));

  rmSync(directory, { recursive: true });

  const fault = await thrownFault(() => engine.runEnded(run));
  expect(fault.code).toBe('storage');
  expect(fault.message).toContain(directory);
  expect(await thrownFault(() => engine.runEnded(run))).toBe(fault);
  expect((await engine.topics.activity.snapshot({})).runs).toEqual([]);
  await engine.close();
  // To the end, a walk takes some 400 pages.
  for (const { log } of relays) expect(log.entries.length).toBeLessThan(200);
});
