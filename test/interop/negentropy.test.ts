import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../main/engine.ts';
import type { CoverageRange, RunSummary } from '../../preload/contract.ts';
import { alice, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { startCountingProxy, type CountingProxy } from './counting-proxy.ts';
import { interopPython, startInteropRelay, type InteropRelay } from './interop-relay.ts';

const found = interopPython();
const python = 'python' in found ? found.python : null;
const title =
  'skipped' in found ? `comparing with a foreign relay (skipped: ${found.skipped})` : 'comparing with a foreign relay';
const TWO_KILOBYTES = 2048;

describe.skipIf(python === null)(title, () => {
  const history = buildHistory({ count: 2000, from: 1_600_000_000, to: 1_700_000_000, perSecond: 3, kinds: [1, 6, 7] });
  let relay: InteropRelay;
  let proxy: CountingProxy;
  let engine: Engine;
  let directory: string;

  beforeAll(async () => {
    relay = await startInteropRelay(python ?? '');
    await relay.preload(history);
    proxy = await startCountingProxy(relay.url);
    directory = mkdtempSync(join(tmpdir(), 'holdfast-interop-'));
    engine = await createEngine({
      dataDirectory: directory,
      host: 'browser',
      version: 'test',
      mode: 'owner',
      verifierThreads: 1,
    });
    await engine.methods['accounts.add']({ key: alice.npub, write: [proxy.url] });
  });

  afterAll(async () => {
    await engine.close();
    await proxy.close();
    await relay.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const run = async (recheck: boolean): Promise<RunSummary> => {
    const { run: id } = await engine.methods['fetch.start']({ account: alice.pubkey, recheck, strategy: 'negentropy' });
    return engine.runEnded(id);
  };
  const latestRange = async (): Promise<CoverageRange | undefined> => {
    const tree = await engine.methods['coverage.tree']({ account: alice.pubkey });
    return tree.relays[0]?.ranges.toSorted((a, b) => a.until - b.until || a.id - b.id).at(-1);
  };

  it('brings the whole history by NIP-77', async () => {
    expect(await run(false)).toMatchObject({ status: 'complete', newlyArchived: 2000 });
    expect(await latestRange()).toMatchObject({
      strategy: 'negentropy',
      status: 'complete',
      found: 2000,
      fetched: 2000,
    });
  });

  it('rechecks with nothing new without downloading a body, under two kilobytes each way', async () => {
    proxy.take();
    expect(await run(true)).toMatchObject({ status: 'complete', newlyArchived: 0 });
    const { toRelay, fromRelay } = proxy.take();
    expect(toRelay).toBeLessThan(TWO_KILOBYTES);
    expect(fromRelay).toBeLessThan(TWO_KILOBYTES);
    expect(toRelay).toBeGreaterThan(0);
  });

  it('finds exactly what is new on each side', async () => {
    const onlyThere = buildHistory({ count: 20, from: 1_610_000_000, to: 1_690_000_000 }).map(({ created_at }) =>
      buildEvent({ createdAt: created_at, content: 'only there' }),
    );
    const onlyHere = buildHistory({ count: 20, from: 1_605_000_000, to: 1_695_000_000 }).map(({ created_at }) =>
      buildEvent({ createdAt: created_at, content: 'only here' }),
    );
    await relay.preload(onlyThere);
    await engine.importLines(onlyHere.map((event) => JSON.stringify(event)));
    expect(await run(true)).toMatchObject({ status: 'complete', newlyArchived: 20 });
    expect(await latestRange()).toMatchObject({ found: 2020, fetched: 2020, notFetched: 0 });
    const copies = await engine.methods['coverage.copies']({ account: alice.pubkey });
    expect(copies).toMatchObject({ events: 2040, none: 20, one: 2020, undetermined: 0 });
    for (const { id } of onlyHere) {
      expect((await engine.methods['events.find']({ id }))?.relays).toMatchObject([{ state: 'absent' }]);
    }
    for (const { id } of onlyThere) {
      expect((await engine.methods['events.find']({ id }))?.relays).toMatchObject([{ state: 'present' }]);
    }
  });
});
