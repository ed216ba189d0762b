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
  'skipped' in found ? `sending to a foreign relay (skipped: ${found.skipped})` : 'sending to a foreign relay';

describe.skipIf(python === null)(title, () => {
  const history = [
    ...buildHistory({ count: 240, from: 1_600_000_000, to: 1_700_000_000, perSecond: 3, kinds: [1, 6, 7] }),
    buildEvent({ kind: 0, createdAt: 1_650_000_000, content: '{"name":"alice"}' }),
    buildEvent({ kind: 30_023, createdAt: 1_650_000_001, content: 'an article 🦄', tags: [['d', 'one']] }),
  ];
  let relay: InteropRelay;
  let capped: InteropRelay;
  let engine: Engine;
  let directory: string;
  let run: number;

  beforeAll(async () => {
    [relay, capped] = await Promise.all([
      startInteropRelay(python ?? ''),
      startInteropRelay(python ?? '', { maxLimit: 40 }),
    ]);
    await Promise.all([relay.preload(history.slice(0, 100)), capped.preload(history.slice(150))]);
    directory = mkdtempSync(join(tmpdir(), 'holdfast-interop-'));
    engine = await createEngine({
      dataDirectory: directory,
      host: 'browser',
      version: 'test',
      mode: 'owner',
      verifierThreads: 1,
    });
    await engine.methods['accounts.add']({ key: alice.npub, write: [relay.url, capped.url] });
    await engine.importLines(history.map((event) => JSON.stringify(event)));
    const fetched = await engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging' });
    expect(await engine.runEnded(fetched.run)).toMatchObject({ status: 'complete' });
  });

  afterAll(async () => {
    await engine.close();
    await Promise.all([relay.close(), capped.close()]);
    rmSync(directory, { recursive: true, force: true });
  });

  it('brings what each relay lacks, and verifies every copy, also where answers are capped', async () => {
    const started = await engine.methods['sync.start']({ account: alice.pubkey });
    run = started.run;
    expect(started.copies).toBe(142 + 150);
    expect(await engine.runEnded(run)).toMatchObject({ status: 'complete', deliveries: { verified: 292 } });
    const { total } = await engine.methods['candidates.tree']({ account: alice.pubkey });
    expect(total).toBe(0);
  });

  it('finds every copy again when they are verified once more', async () => {
    await engine.methods['sync.reverify']({ run });
    expect(await engine.runEnded(run)).toMatchObject({ status: 'complete', deliveries: { verified: 292 } });
  });

  it('agrees with a comparison afterwards: nothing is missing', async () => {
    const { run: recheck } = await engine.methods['fetch.start']({ account: alice.pubkey, recheck: true });
    expect(await engine.runEnded(recheck)).toMatchObject({ status: 'complete', newlyArchived: 0, found: 2 * 242 });
    await expect(engine.methods['sync.start']({ account: alice.pubkey })).rejects.toMatchObject({
      code: 'nothing-to-do',
    });
  });
});
