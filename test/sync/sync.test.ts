import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventsSent, idsAsked, idsOf, notes, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

describe('a sync to an honest relay', () => {
  it('sends what is missing, oldest first, reads it back, and leaves nothing missing', async () => {
    const events = notes(12);
    const relay = await rig.startRelay({ events: events.slice(0, 5) });
    await rig.establish([relay], events);
    expect(await rig.missing()).toBe(7);

    const summary = await rig.sync();

    expect(summary).toMatchObject({ type: 'sync', status: 'complete', resumable: false });
    expect(await rig.totals(summary.id)).toEqual({ verified: 7 });
    expect(eventsSent(relay)).toEqual(idsOf(events.slice(5)));
    expect(idsAsked(relay).flat().sort()).toEqual(idsOf(events.slice(5)).sort());
    expect(relay.store.size).toBe(12);
    expect(await rig.missing()).toBe(0);
  });
});
