import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { closeSocketMidPage } from '../relays/behaviours/closing.ts';
import { corruptEvents, withChangedContent } from '../relays/behaviours/corruption.ts';
import { neverEose } from '../relays/behaviours/end-of-stored-events.ts';
import { capPages } from '../relays/behaviours/paging.ts';
import { acceptWithoutStoring } from '../relays/behaviours/publishing.ts';
import { buildEvent } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, idsAsked, notes, START, SyncRig } from './delivery-rig.ts';

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

describe('reading back', () => {
  it('concludes nothing from an answer that was cut off: a relay that caps at ten is asked until all came', async () => {
    const events = notes(35);
    const relay = await relayWithout(events, capPages(10));
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'complete' });
    expect(await rig.totals(summary.id)).toEqual({ verified: 35 });
    expect(eventsSent(relay)).toHaveLength(35);
    for (const { id } of await rig.deliveries(summary.id)) {
      const { steps } = await rig.engine.methods['sync.delivery']({ delivery: id });
      expect(steps.some(({ outcome }) => outcome === 'not-found')).toBe(false);
      expect(steps.at(-1)).toMatchObject({ type: 'read-back', outcome: 'found' });
    }
  });

  it('finds out what a capping relay does not have, and only that', async () => {
    const events = notes(35);
    const lost = new Set(events.filter((_, index) => index % 7 === 3).map(({ id }) => id));
    await relayWithout(events, capPages(10), {
      name: 'loses some',
      decidePublication: ({ id }) => (lost.has(id) ? { store: false, answer: { accepted: true, message: '' } } : null),
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ verified: 30, unverified: 5 });
    const unverified = (await rig.deliveries(summary.id)).filter(({ state }) => state === 'unverified');
    expect(new Set(unverified.map(({ event }) => event))).toEqual(lost);
  });

  it('names the query that each look was part of, with its exact filter', async () => {
    const events = notes(3);
    const relay = await relayWithout(events);
    const summary = await rig.sync();
    const { steps } = await rig.delivery(summary.id, events[0] as SignedEvent);
    expect(steps).toMatchObject([
      { type: 'send', outcome: 'accepted', query: null },
      { type: 'read-back', outcome: 'found', query: expect.any(Number) },
    ]);
    expect(idsAsked(relay)).toHaveLength(1);
  });

  it('takes a body with another content under the right ID for no copy', async () => {
    const [good, bad] = notes(2) as [SignedEvent, SignedEvent];
    await relayWithout([good, bad], {
      name: 'returns one event changed',
      shapeAnswer: (steps) =>
        steps.map((step) =>
          step.type === 'event' && step.stored.event.id === bad.id
            ? { type: 'frame', frame: ['EVENT', step.subscription, withChangedContent(bad)] }
            : step,
        ),
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ verified: 1, unverified: 1 });
    expect(await rig.delivery(summary.id, bad)).toMatchObject({ state: 'unverified', reason: 'not-returned' });
    expect(await rig.missing()).toBe(1);
  });

  it('takes other events in the answer for no copies, and concludes nothing from them', async () => {
    const other = buildEvent({ content: 'not asked for' });
    await relayWithout(notes(3), acceptWithoutStoring(), corruptEvents({ offFilter: [other] }));
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ accepted: 3 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({ reason: 'not-read-back', verifiedAt: null });
  });

  it('concludes nothing from an answer of which a part could not be read', async () => {
    const relay = await relayWithout(notes(2), acceptWithoutStoring(), {
      name: 'sends broken frames',
      shapeAnswer: (steps) => [{ type: 'text', text: '["EVENT", "broken' }, ...steps],
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ accepted: 2 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({ reason: 'not-read-back' });
    relay.behave();
    await rig.resume(summary.id);
    expect(await rig.totals(summary.id)).toEqual({ unverified: 2 });
  });

  it('concludes nothing from an empty answer of which the relay says that it has more', async () => {
    await relayWithout(notes(3), {
      name: 'has more, and says nothing',
      takeRequest({ connection, subscription }) {
        connection.send(['EOSE', subscription, ['more']]);
        return true;
      },
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ accepted: 3 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({ reason: 'not-read-back' });
  });

  it('concludes nothing from the answers of a relay that ignores IDs', async () => {
    const relay = await relayWithout(notes(3), {
      name: 'ignores IDs',
      changeFilter: ({ ids: _, ...others }) => others,
    });
    for (let index = 0; index < 5; index += 1) {
      relay.store.add(buildEvent({ createdAt: START - 50 + index, content: `another ${index}` }));
    }
    const summary = await rig.sync();
    expect((await rig.totals(summary.id)).unverified ?? 0).toBe(0);
    expect((await rig.totals(summary.id)).verified ?? 0).toBe(0);
  });

  it('asks one by one before it says that nothing is returned: a relay that takes ten IDs at a time has everything', async () => {
    await relayWithout(notes(40), {
      name: 'answers nothing to more than ten IDs',
      takeRequest({ connection, subscription, filters }) {
        if ((filters[0]?.ids?.size ?? 0) <= 10) return false;
        connection.send(['EOSE', subscription]);
        return true;
      },
    });
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'complete' });
    expect(await rig.totals(summary.id)).toEqual({ verified: 40 });
  });

  it('goes on after an answer that the connection did not survive', async () => {
    const relay = await relayWithout(notes(5), closeSocketMidPage({ page: 1, after: 2 }));
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'complete' });
    expect(eventsSent(relay)).toHaveLength(5);
  });

  it('gives up after three answers that never end, and keeps what they brought', async () => {
    const events = notes(2);
    const [first] = events as [SignedEvent];
    const relay = await relayWithout(events, neverEose(), {
      name: 'returns the first one only',
      hides: ({ id }) => id !== first.id,
    });
    const run = await rig.begin();
    for (let answer = 1; answer <= 3; answer++) {
      await rig.passUntil(() => idsAsked(relay).length === answer);
      await rig.clock.pass(31_000);
    }
    const summary = await rig.ended(run);
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.totals(run)).toEqual({ verified: 1, accepted: 1 });
    expect(idsAsked(relay)).toHaveLength(3);
  });

  it('looks a second time at what a relay finds only after a moment', async () => {
    const events = notes(3);
    const relay = await relayWithout(events, emptyAtFirst());
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ verified: 3 });
    const { steps } = await rig.delivery(summary.id, events[0] as SignedEvent);
    expect(steps.map(({ outcome }) => outcome)).toEqual(['accepted', 'not-found', 'found']);
    expect(idsAsked(relay)).toHaveLength(2);
  });
});

/** The first answer holds nothing. */
function emptyAtFirst(): Behaviour {
  let answers = 0;
  return {
    name: 'finds nothing at first',
    shapeAnswer: (steps) => (++answers === 1 ? steps.filter(({ type }) => type !== 'event') : steps),
  };
}
