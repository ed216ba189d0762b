import { expect, test } from 'vitest';
import { alice } from '../relays/event-builder.ts';
import { eventsSent, notes, SyncRig } from './delivery-rig.ts';

/** Turns of the event loop after which it is closed. */
const MOMENTS = [0, 1, 3, 6, 10];

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test.each(['sync.start', 'fetch.start', 'sync.reverify'] as const)(
  'closing at any moment of %s refuses it in plain words, or stops it cleanly',
  async (method) => {
    const rig = await SyncRig.start();
    const relay = await rig.startRelay();
    await rig.establish([relay], notes(40));
    const run = method === 'sync.reverify' ? (await rig.sync()).id : 0;
    const call = (): Promise<unknown> =>
      method === 'sync.reverify'
        ? rig.engine.methods['sync.reverify']({ run })
        : rig.engine.methods[method]({ account: alice.pubkey });
    for (const moment of MOMENTS) {
      const begun = call().then(
        () => 'begun',
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      );
      await turns(moment);
      let isClosed = false;
      const closing = rig.engine.close().then(() => (isClosed = true));
      for (let passed = 0; !isClosed && passed < 20_000; passed += 1) await rig.clock.pass(50);
      expect(isClosed).toBe(true);
      await closing;
      expect(['begun', 'cancelled']).toContain(await begun);
      const sent = eventsSent(relay).length;
      await rig.clock.pass(1000);
      expect(eventsSent(relay)).toHaveLength(sent);
      await rig.restart();
      const runs = await rig.engine.methods['runs.list']({});
      expect(runs.filter(({ status }) => status === 'active')).toEqual([]);
    }
    await rig.close();
  },
  60_000,
);
