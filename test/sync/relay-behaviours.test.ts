import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { requireAuthentication } from '../relays/behaviours/authentication.ts';
import { closedWith } from '../relays/behaviours/closing.ts';
import {
  acceptWithoutStoring,
  answerDuplicate,
  neverOk,
  rateLimitPublishing,
  refuseFramesAbove,
  refuseOlderThan,
  refusePublications,
} from '../relays/behaviours/publishing.ts';
import { buildEvent } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, idsAsked, idsOf, notes, START, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

/** A write relay that lacks all of some events and, once that is established, behaves like this. */
async function relayWithout(events: readonly SignedEvent[], ...behaviours: Behaviour[]): Promise<ScriptedRelay> {
  const relay = await rig.startRelay();
  await rig.establish([relay], events);
  relay.behave(...behaviours);
  return relay;
}

describe('8: a relay that answers the reading back with CLOSED', () => {
  it('auth-required: is asked once, nothing is concluded, and the copies stay accepted and resumable', async () => {
    const relay = await relayWithout(notes(3), requireAuthentication());
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.totals(summary.id)).toEqual({ accepted: 3 });
    for (const delivery of await rig.deliveries(summary.id)) {
      expect(delivery).toMatchObject({ reason: 'not-read-back', verifiedAt: null });
      expect(delivery.message).toMatch(/only after authentication/);
    }
    expect(relay.requests()).toHaveLength(1);
    relay.behave();
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
    expect(eventsSent(relay)).toHaveLength(3);
  });

  it.each(['error: busy', 'restricted: not for you'])(
    '%s: is asked three times, and then nothing is concluded',
    async (words) => {
      const relay = await relayWithout(notes(3), closedWith(words));
      const summary = await rig.sync();
      expect(await rig.totals(summary.id)).toEqual({ accepted: 3 });
      expect(relay.requests()).toHaveLength(3);
      const delivery = await rig.delivery(summary.id, notes(3)[0] as SignedEvent);
      expect(delivery).toMatchObject({ reason: 'not-read-back' });
      expect(delivery.steps.map(({ outcome }) => outcome).slice(0, 2)).toEqual(['accepted', 'inconclusive']);
      expect(delivery.steps[1]?.message).toBe(words);
    },
  );

  it('rate-limited: is asked again after the cool-down', async () => {
    let refused = 0;
    const relay = await relayWithout(notes(3), {
      name: 'limits the rate of the first two',
      takeRequest({ connection, subscription }) {
        if (refused === 2) return false;
        refused += 1;
        connection.send(['CLOSED', subscription, 'rate-limited: slow down']);
        return true;
      },
    });
    const began = rig.clock.monotonicMs();
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'complete' });
    expect(rig.clock.monotonicMs() - began).toBeGreaterThanOrEqual(2 * 65_000);
    expect(relay.requests()).toHaveLength(3);
  });
});

describe('8: a relay that refuses events for want of authentication', () => {
  it('is not sent them again in this run, and they are not refused for ever', async () => {
    const relay = await relayWithout(notes(2), refusePublications('auth-required: log in'));
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ rejected: 2 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({
      reason: 'auth-required',
      lasting: false,
      attempts: 1,
    });
    expect(await rig.missing()).toBe(2);
    relay.behave();
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
  });
});

describe('16: a relay that says OK and stores nothing', () => {
  it('is looked at twice, with a pause; the copies are unverified, still missing, and never sent again by Resume', async () => {
    const events = notes(4);
    const relay = await relayWithout(events, acceptWithoutStoring());
    const began = rig.clock.monotonicMs();
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.totals(summary.id)).toEqual({ unverified: 4 });
    expect(rig.clock.monotonicMs() - began).toBeGreaterThanOrEqual(10_000);
    const delivery = await rig.delivery(summary.id, events[0] as SignedEvent);
    expect(delivery).toMatchObject({ state: 'unverified', reason: 'not-returned', verifiedAt: null });
    // The second time it was asked for by itself.
    expect(delivery.steps.map(({ outcome }) => outcome)).toEqual([
      'accepted',
      'not-found',
      'inconclusive',
      'not-found',
    ]);
    expect(await rig.missing()).toBe(4);

    await rig.resume(summary.id);
    expect(await rig.totals(summary.id)).toEqual({ unverified: 4 });
    expect(eventsSent(relay)).toHaveLength(4);
  });

  it('and returns them later all the same: Resume finds them', async () => {
    const events = notes(2);
    const relay = await relayWithout(events, acceptWithoutStoring());
    const summary = await rig.sync();
    for (const event of events) relay.store.add(event);
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
    expect(await rig.totals(summary.id)).toEqual({ verified: 2 });
    expect(eventsSent(relay)).toHaveLength(2);
  });
});

describe('17: a relay that refuses old events', () => {
  it('is not offered them again by itself, but on demand', async () => {
    const events = notes(6);
    const [, , , fourth] = events;
    const relay = await relayWithout(events, refuseOlderThan(fourth?.created_at ?? 0));
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: false });
    expect(await rig.totals(summary.id)).toEqual({ rejected: 3, verified: 3 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({
      state: 'rejected',
      reason: 'invalid',
      message: 'invalid: created_at too early',
      lasting: true,
      attempts: 1,
    });
    expect(await rig.report(summary.id)).toMatchObject({ refused: 3, resumable: false });
    expect(await rig.missing()).toBe(0);
    await expect(rig.begin()).rejects.toMatchObject({ code: 'nothing-to-do' });
    await expect(rig.resume(summary.id)).rejects.toMatchObject({ code: 'nothing-to-do' });

    const again = await rig.sync({ includeRefused: true });
    expect(await rig.totals(again.id)).toEqual({ rejected: 3 });

    relay.behave();
    await rig.engine.methods['sync.retryRefused']({ run: again.id, relay: relay.url });
    expect(await rig.ended(again.id)).toMatchObject({ status: 'complete' });
    expect(await rig.totals(again.id)).toEqual({ verified: 3 });
  });
});

describe('18: a relay that has the event already', () => {
  it('says duplicate: accepted, then verified', async () => {
    await relayWithout(notes(2), answerDuplicate());
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'complete' });
    const delivery = await rig.delivery(summary.id, notes(2)[0] as SignedEvent);
    expect(delivery).toMatchObject({ state: 'verified', duplicate: true });
    expect(delivery.steps.map(({ outcome }) => outcome)).toEqual(['duplicate', 'found']);
  });

  it('says duplicate with OK false: the same', async () => {
    await relayWithout(notes(1), {
      name: 'refuses duplicates',
      decidePublication: () => ({ store: true, answer: { accepted: false, message: 'duplicate: have it' } }),
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ verified: 1 });
  });

  it('says duplicate and does not return it: unverified all the same', async () => {
    await relayWithout(notes(1), {
      name: 'claims to have everything',
      decidePublication: () => ({ store: false, answer: { accepted: true, message: 'duplicate: have it' } }),
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ unverified: 1 });
  });
});

describe('19: a relay that limits the rate of publishing', () => {
  it('is left alone for the cool-down, and the run goes on by itself', async () => {
    const events = notes(30);
    let lifted = false;
    const relay = await relayWithout(events, rateLimitPublishing(10, { lifted: () => lifted }));
    const began = rig.clock.monotonicMs();
    const run = await rig.begin();
    rig.clock.after(3 * 65_000, () => {
      lifted = true;
    });
    const summary = await rig.ended(run);
    expect(summary).toMatchObject({ status: 'complete' });
    expect(await rig.totals(run)).toEqual({ verified: 30 });
    expect(rig.clock.monotonicMs() - began).toBeGreaterThanOrEqual(3 * 65_000);
    // While it cools down it is not bothered: at most what was on its way when it complained, and one more look each time.
    expect(eventsSent(relay).length).toBeLessThan(30 + 8 * 5);
  });

  it('is not waited for endlessly, and what it did not take is resumable', async () => {
    const relay = await relayWithout(notes(5), rateLimitPublishing(2));
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.totals(summary.id)).toEqual({ pending: 3, verified: 2 });
    expect((await rig.deliveries(summary.id)).find(({ state }) => state === 'pending')).toMatchObject({
      reason: 'not-sent',
      message: expect.stringContaining('keeps limiting the rate'),
    });
    relay.behave();
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
  });
});

describe('21: a relay that refuses frames above a size', () => {
  const large = buildEvent({ createdAt: START - 5000, content: 'x'.repeat(5000) });
  const events = [...notes(3), large];

  it.each(['ok', 'notice', 'close'] as const)(
    'by %s: that delivery is rejected as too large, the others arrive',
    async (by) => {
      const relay = await relayWithout(events, refuseFramesAbove(2000, { by }));
      const run = await rig.begin();
      await rig.endedInTime(run);
      expect(await rig.totals(run)).toEqual({ rejected: 1, verified: 3 });
      expect(await rig.delivery(run, large)).toMatchObject({
        state: 'rejected',
        reason: 'too-large',
        lasting: true,
      });
      expect(relay.store.size).toBe(3);
    },
  );

  it('by ending the connection without a word: sent by itself, the event that does it twice is rejected', async () => {
    const relay = await relayWithout(events, {
      name: 'cuts the connection at a large frame',
      takeFrame(frame, connection) {
        if (Buffer.byteLength(frame) <= 2000) return false;
        connection.close(1000, '');
        return true;
      },
    });
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ rejected: 1, verified: 3 });
    const delivery = await rig.delivery(summary.id, large);
    expect(delivery).toMatchObject({ state: 'rejected', reason: 'other', lasting: true });
    expect(delivery.message).toMatch(/each time this event was sent/);
    expect(delivery.attempts).toBeLessThanOrEqual(3);
    // Whatever was on its way together with it was cut off once at the most.
    const others = eventsSent(relay).filter((id) => id !== large.id);
    expect(others.length).toBeLessThanOrEqual(6);
  });

  it('sends frames above 64 KiB by themselves, others several at a time', async () => {
    const huge = [1, 2, 3].map((n) => buildEvent({ createdAt: START - n, content: String(n).repeat(70_000) }));
    const airborne = new Set<string>();
    const together = { small: 0, large: 0 };
    const relay = await relayWithout([...notes(20), ...huge]);
    relay.behave({
      name: 'takes its time for an OK',
      takeMessage(message, connection) {
        if (message.type !== 'EVENT') return false;
        const event = message.event as SignedEvent;
        airborne.add(event.id);
        const isLarge = huge.some(({ id }) => airborne.has(id));
        if (isLarge) together.large = Math.max(together.large, airborne.size);
        else together.small = Math.max(together.small, airborne.size);
        rig.clock.after(100, () => {
          airborne.delete(event.id);
          relay.store.add(event);
          connection.send(['OK', event.id, true, '']);
        });
        return true;
      },
    });
    const run = await rig.begin();
    await rig.passUntil(() => relay.store.size === 23);
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect(together.large).toBe(1);
    expect(together.small).toBeGreaterThan(2);
    expect(together.small).toBeLessThanOrEqual(8);
  });
});

describe('a relay that refuses for a reason that passes', () => {
  it('is sent the event three times, with pauses; then it is rejected for now, and Resume tries again', async () => {
    const [event] = notes(1) as [SignedEvent];
    const relay = await relayWithout([event], refusePublications('error: database is busy'));
    const began = rig.clock.monotonicMs();
    const summary = await rig.sync();
    expect(await rig.delivery(summary.id, event)).toMatchObject({
      state: 'rejected',
      reason: 'error',
      lasting: false,
      attempts: 3,
    });
    expect(rig.clock.monotonicMs() - began).toBeGreaterThanOrEqual(20_000);
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.report(summary.id)).toMatchObject({ resumable: true, refused: 0 });
    relay.behave();
    expect(await rig.engine.methods['fetch.resume']({})).toEqual({ runs: [summary.id] });
    expect(await rig.ended(summary.id)).toMatchObject({ status: 'complete', resumable: false });
  });

  it('is not sent it again by the run that it refused it in, once a later one has brought it', async () => {
    const relay = await relayWithout(notes(1), refusePublications('error: database is busy'));
    const refused = await rig.sync();
    relay.behave();
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
    const sent = eventsSent(relay).length;
    expect((await rig.engine.methods['runs.list']({})).map(({ resumable }) => resumable)).toEqual([
      false,
      false,
      false,
    ]);
    expect(await rig.report(refused.id)).toMatchObject({ resumable: false });
    await expect(rig.resume(refused.id)).rejects.toMatchObject({ code: 'nothing-to-do' });
    expect(eventsSent(relay)).toHaveLength(sent);
  });

  it('takes it the second time: verified', async () => {
    let asked = 0;
    await relayWithout(
      notes(5),
      refusePublications('error: try again', () => asked++ < 5),
    );
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ verified: 5 });
  });
});

describe('a relay that never says OK', () => {
  it('and stores: reading back decides, verified', async () => {
    const events = notes(3);
    const relay = await relayWithout(events, neverOk({ store: true }));
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 3);
    await rig.clock.pass(21_000);
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    const delivery = await rig.delivery(run, events[0] as SignedEvent);
    expect(delivery).toMatchObject({ state: 'verified', attempts: 1 });
    expect(delivery.steps.map(({ outcome }) => outcome)).toEqual(['unanswered', 'found']);
  });

  it('and stores nothing: reading back decides, unverified, and Resume sends it again', async () => {
    const events = notes(3);
    const relay = await relayWithout(events, neverOk({ store: false }));
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 3);
    await rig.clock.pass(21_000);
    expect(await rig.ended(run)).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.totals(run)).toEqual({ unverified: 3 });
    expect((await rig.deliveries(run))[0]).toMatchObject({ reason: 'no-answer', attempts: 1 });
    relay.behave();
    expect(await rig.resume(run)).toMatchObject({ status: 'complete' });
    expect((await rig.deliveries(run))[0]).toMatchObject({ state: 'verified', attempts: 2 });
    // It was looked for before it was sent again.
    const asked = idsAsked(relay).flat();
    expect(asked.slice(0, 3).sort()).toEqual(idsOf(events).sort());
  });
});
