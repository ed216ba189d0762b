import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { closedWith } from '../relays/behaviours/closing.ts';
import { refusePublications } from '../relays/behaviours/publishing.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, notes, SyncRig } from './delivery-rig.ts';

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

describe('a relay that closes the connection once, and then neither answers nor stores', () => {
  it.each([1, 3])('is sent each of %d events twice at the most, and the sync ends', async (count) => {
    let met = 0;
    const relay = await relayWithout(notes(count), {
      name: 'closes once, then is silent',
      decidePublication(_, connection) {
        met += 1;
        if (met === 1) connection.close(1011, 'oops');
        return { store: false, answer: null };
      },
    });
    const run = await rig.begin();
    expect(await rig.endedInTime(run)).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.totals(run)).toEqual({ unverified: count });
    expect(eventsSent(relay).length).toBeLessThanOrEqual(2 * count);
  });
});

describe('a relay that takes events only after authentication', () => {
  it('is sent a few and not all of them, also by Resume; what was not sent says why', async () => {
    const relay = await relayWithout(notes(150), refusePublications('auth-required: log in'));
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    const sent = eventsSent(relay).length;
    expect(sent).toBeGreaterThanOrEqual(10);
    expect(sent).toBeLessThan(20);
    expect(await rig.totals(summary.id)).toEqual({ rejected: sent, pending: 150 - sent });
    const waiting = (await rig.deliveries(summary.id)).find(({ state }) => state === 'pending');
    expect(waiting).toMatchObject({ reason: 'not-sent', attempts: 0 });
    expect(waiting?.message).toMatch(/only after authentication: auth-required: log in/);

    await rig.resume(summary.id);
    expect(eventsSent(relay).length - sent).toBeLessThan(20);
    relay.behave();
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
  });

  it('for some of them only is sent the others', async () => {
    const events = notes(30);
    const wanting = new Set(events.filter((_, index) => index % 2 === 0).map(({ id }) => id));
    await relayWithout(
      events,
      refusePublications('auth-required: log in', ({ id }) => wanting.has(id)),
    );
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ rejected: 15, verified: 15 });
  });
});

describe('a relay that cannot be asked for what it was sent', () => {
  it('is sent no more, and says so of what waits', async () => {
    const relay = await relayWithout(notes(350), closedWith('error: no reading today'));
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    const sent = eventsSent(relay).length;
    expect(sent).toBeLessThanOrEqual(200);
    expect(await rig.totals(summary.id)).toEqual({ accepted: sent, pending: 350 - sent });
    expect((await rig.deliveries(summary.id)).find(({ state }) => state === 'pending')?.message).toMatch(
      /could not be read back/,
    );

    // Nothing is sent before what was sent earlier could be looked for.
    await rig.resume(summary.id);
    expect(eventsSent(relay)).toHaveLength(sent);
    relay.behave();
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
    expect(eventsSent(relay)).toHaveLength(350);
  });
});
