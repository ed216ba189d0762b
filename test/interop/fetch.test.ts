import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../main/engine.ts';
import { alice, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { interopPython, startInteropRelay, type InteropRelay } from './interop-relay.ts';

const found = interopPython();
const python = 'python' in found ? found.python : null;
const title =
  'skipped' in found ? `fetching from a foreign relay (skipped: ${found.skipped})` : 'fetching from a foreign relay';

describe.skipIf(python === null)(title, () => {
  const history = buildHistory({ count: 1500, from: 1_600_000_000, to: 1_700_000_000, perSecond: 3, kinds: [1, 6, 7] });
  let relay: InteropRelay;
  let capped: InteropRelay;
  let engine: Engine;
  let directory: string;

  beforeAll(async () => {
    [relay, capped] = await Promise.all([
      startInteropRelay(python ?? ''),
      startInteropRelay(python ?? '', { maxLimit: 40 }),
    ]);
    await Promise.all([relay.preload(history), capped.preload(history.slice(0, 300))]);
    directory = mkdtempSync(join(tmpdir(), 'holdfast-interop-'));
    engine = await createEngine({
      dataDirectory: directory,
      host: 'browser',
      version: 'test',
      mode: 'owner',
      verifierThreads: 1,
    });
    await engine.methods['accounts.add']({ key: alice.npub, write: [relay.url], extra: [capped.url] });
  });

  afterAll(async () => {
    await engine.close();
    await Promise.all([relay.close(), capped.close()]);
    rmSync(directory, { recursive: true, force: true });
  });

  const archived = async (): Promise<Set<string>> => {
    const ids = new Set<string>();
    for await (const event of engine.exportEvents({ account: alice.pubkey })) ids.add(event.id);
    return ids;
  };

  it('brings the whole history by paging, also where pages are capped below the limit', async () => {
    const { run } = await engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging' });
    const ended = await engine.runEnded(run);
    expect(ended).toMatchObject({ status: 'complete', newlyArchived: 1500 });
    expect(ended.relays.map(({ url, found: count }) => [url, count]).sort()).toEqual(
      [
        [relay.url, 1500],
        [capped.url, 300],
      ].sort(),
    );
    expect(await archived()).toEqual(new Set(history.map(({ id }) => id)));
  });

  it('brings only what is newer the second time', async () => {
    const fresh = buildEvent({ createdAt: Math.floor(Date.now() / 1000), content: 'just now' });
    await relay.preload([fresh]);
    const { run } = await engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging' });
    expect(await engine.runEnded(run)).toMatchObject({ status: 'complete', found: 1, newlyArchived: 1 });
  });

  it('finds on recheck what was imported with an old date', async () => {
    const old = buildEvent({ createdAt: 1_650_000_000, content: 'imported later' });
    await relay.preload([old]);
    const { run } = await engine.methods['fetch.start']({ account: alice.pubkey, recheck: true, strategy: 'paging' });
    expect(await engine.runEnded(run)).toMatchObject({ status: 'complete', newlyArchived: 1 });
    expect((await archived()).has(old.id)).toBe(true);
  });
});
