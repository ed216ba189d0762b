import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { neverOk, rateLimitPublishing } from '../relays/behaviours/publishing.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, notes, START, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

async function relayWithout(events: readonly SignedEvent[], ...behaviours: Behaviour[]): Promise<ScriptedRelay> {
  const relay = await rig.startRelay();
  await rig.establish([relay], events);
  relay.behave(...behaviours);
  return relay;
}

const makeReadRelay = (relay: ScriptedRelay): Promise<unknown> =>
  rig.engine.methods['accounts.setRelays']({
    account: alice.pubkey,
    relays: [{ url: relay.url, read: true, write: false, extra: false }],
  });

describe('right before an event leaves', () => {
  it('nothing is sent to a relay that was a write relay when its events were prepared', async () => {
    const relay = await relayWithout(notes(40), neverOk());
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length >= 8);
    await makeReadRelay(relay);
    const sent = eventsSent(relay).length;
    await rig.endedInTime(run);
    expect(eventsSent(relay)).toHaveLength(sent);
    expect(await rig.totals(run)).toEqual({ verified: sent, withdrawn: 40 - sent });
    expect((await rig.deliveries(run)).find(({ state }) => state === 'withdrawn')).toMatchObject({
      reason: 'no-write-relay',
    });
  });

  it('nothing is sent to one that ceased to be a write relay while sending had to wait', async () => {
    const relay = await relayWithout(notes(20), rateLimitPublishing(4));
    const run = await rig.begin();
    await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
    const sent = eventsSent(relay).length;
    relay.behave();
    await makeReadRelay(relay);
    await rig.ended(run);
    expect(eventsSent(relay)).toHaveLength(sent);
    expect(await rig.totals(run)).toEqual({ verified: 4, withdrawn: 16 });
  });

  it('an event is held back that was deleted while others of its chunk were being sent, and the others go on', async () => {
    const events = notes(40);
    const last = events.at(-1) as SignedEvent;
    const relay = await relayWithout(events, neverOk());
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length >= 8);
    await rig.import([buildEvent({ kind: 5, createdAt: START, tags: [['e', last.id]] })]);
    await rig.endedInTime(run);
    expect(eventsSent(relay)).not.toContain(last.id);
    expect(await rig.totals(run)).toEqual({ verified: 39, withdrawn: 1 });
    expect(await rig.delivery(run, last)).toMatchObject({ state: 'withdrawn', reason: 'deleted', attempts: 0 });
  });

  it('an event is held back that expires while others of its chunk are being sent', async () => {
    const expiring = buildEvent({ createdAt: START - 10, tags: [['expiration', String(START + 30)]] });
    const relay = await relayWithout([...notes(39), expiring], neverOk());
    const run = await rig.begin();
    await rig.endedInTime(run);
    expect(eventsSent(relay)).not.toContain(expiring.id);
    expect(await rig.delivery(run, expiring)).toMatchObject({ state: 'withdrawn', reason: 'expired', attempts: 0 });
  });
});
