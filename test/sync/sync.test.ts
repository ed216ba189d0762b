import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { acceptWithoutStoring, rateLimitPublishing, refuseOlderThan } from '../relays/behaviours/publishing.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';
import { countStates, eventsSent, idsAsked, idsOf, notes, START, SyncRig } from './delivery-rig.ts';

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

  it('sends the signed event field for field', async () => {
    const content = 'quotes " and \\, a control \u0001, U+2028 \u2028, an emoji 🦄 and half of one \ud83e';
    const event = buildEvent({ createdAt: START - 50, content, tags: [['t', '\u0000'], []] });
    const relay = await rig.startRelay();
    await rig.establish([relay], [event]);
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
    const [frame] = relay.log.received('EVENT');
    expect(JSON.parse(frame?.text ?? '')).toEqual(['EVENT', event]);
  });

  it('sends profile and lists first and deletion requests last, one at a time with a pause', async () => {
    const profile = buildEvent({ kind: 0, createdAt: START - 10, content: '{}' });
    const follows = buildEvent({ kind: 3, createdAt: START - 20, content: '' });
    const [one, two] = notes(2) as [SignedEvent, SignedEvent];
    const deletions = [1, 2, 3].map((n) =>
      buildEvent({ kind: 5, createdAt: START - 90_000 + n, tags: [['e', String(n).repeat(64)]] }),
    );
    const relay = await rig.startRelay();
    await rig.establish([relay], [...deletions, one, profile, two, follows]);
    const began = rig.clock.monotonicMs();
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
    expect(eventsSent(relay)).toEqual(idsOf([follows, profile, one, two, ...deletions]));
    expect(rig.clock.monotonicMs() - began).toBeGreaterThanOrEqual(3000);
  });

  it('sends nothing twice, and nothing by itself', async () => {
    const events = notes(4);
    const relay = await rig.startRelay();
    await rig.establish([relay], events);
    await rig.clock.pass(3_600_000);
    expect(eventsSent(relay)).toEqual([]);
    await rig.sync();
    await expect(rig.begin()).rejects.toMatchObject({ code: 'nothing-to-do' });
    expect(eventsSent(relay)).toHaveLength(4);
  });

  it('sends only what the narrowing selects, to write relays only', async () => {
    const events = [...notes(6), buildEvent({ kind: 7, createdAt: START - 500, content: '+' })];
    const [, second, third] = events as [SignedEvent, SignedEvent, SignedEvent];
    const relays = [await rig.startRelay(), await rig.startRelay()] as const;
    await rig.establish(relays, events);
    const { id } = await rig.sync({
      relays: [relays[0].url],
      kinds: [1],
      since: second.created_at,
      until: third.created_at,
    });
    expect(eventsSent(relays[0])).toEqual([second.id, third.id]);
    expect(eventsSent(relays[1])).toEqual([]);
    expect(await rig.report(id)).toMatchObject({
      narrowing: { relays: [relays[0].url], kinds: [1], since: second.created_at, until: third.created_at },
    });
    const extra = await rig.startRelay();
    await rig.engine.methods['accounts.setRelays']({
      account: alice.pubkey,
      relays: [
        { url: relays[0].url, read: false, write: true, extra: false },
        { url: extra.url, read: false, write: false, extra: true },
      ],
    });
    await expect(rig.begin({ relays: [extra.url] })).rejects.toMatchObject({ code: 'unknown-relay' });
    await expect(rig.begin({ since: 9, until: 3 })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(rig.begin({ kinds: [30_000] })).rejects.toMatchObject({ code: 'nothing-to-do' });
  });
});

describe('a sync to several relays that differ', () => {
  it('ends with exactly the right states, and a second one offers only what is still missing', async () => {
    const events = notes(30);
    const gap = (from: number, to: number): SignedEvent[] => events.filter((_, index) => index < from || index >= to);
    const honest = [
      await rig.startRelay({ events: gap(0, 10) }),
      await rig.startRelay({ events: gap(10, 25) }),
      await rig.startRelay({ events: gap(28, 30) }),
    ] as const;
    const lying = await rig.startRelay({ events: gap(5, 12) });
    const limiting = await rig.startRelay({ events: gap(0, 20) });
    const choosy = await rig.startRelay({ events: gap(0, 6) });
    const relays = [...honest, lying, limiting, choosy];
    await rig.establish(relays, events);
    lying.behave(acceptWithoutStoring());
    let lifted = false;
    limiting.behave(rateLimitPublishing(4, { lifted: () => lifted }));
    choosy.behave(refuseOlderThan(events[4]?.created_at ?? 0));
    expect(await rig.missing()).toBe(10 + 15 + 2 + 7 + 20 + 6);

    const run = await rig.begin();
    rig.clock.after(100_000, () => {
      lifted = true;
    });
    const summary = await rig.ended(run);

    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    const statesOf = async (relay: (typeof relays)[number]) => countStates(await rig.deliveries(run, relay));
    expect(await statesOf(honest[0])).toEqual({ verified: 10 });
    expect(await statesOf(honest[1])).toEqual({ verified: 15 });
    expect(await statesOf(honest[2])).toEqual({ verified: 2 });
    expect(await statesOf(lying)).toEqual({ unverified: 7 });
    expect(await statesOf(limiting)).toEqual({ verified: 20 });
    expect(await statesOf(choosy)).toEqual({ rejected: 4, verified: 2 });
    for (const relay of [...honest, limiting]) expect(relay.store.size).toBe(30);
    expect(summary.deliveries).toMatchObject({ verified: 49, unverified: 7, rejected: 4 });
    const reasons = (await rig.report(run)).reasons;
    expect(reasons).toEqual([
      { state: 'rejected', reason: 'invalid', count: 4 },
      { state: 'unverified', reason: 'not-returned', count: 7 },
    ]);

    const preview = await rig.engine.methods['sync.preview']({ account: alice.pubkey });
    expect(preview).toMatchObject({ total: 7, relays: [{ url: lying.url, count: 7 }] });
    const before = relays.map((relay) => eventsSent(relay).length);
    lying.behave();
    const second = await rig.sync();
    expect(second).toMatchObject({ status: 'complete' });
    expect(await rig.totals(second.id)).toEqual({ verified: 7 });
    const sentSince = relays.map((relay, index) => eventsSent(relay).length - (before[index] ?? 0));
    expect(sentSince).toEqual([0, 0, 0, 7, 0, 0]);
  });

  it('one that cannot be reached keeps its copies pending, and the others go on', async () => {
    const events = notes(3);
    const relays = [await rig.startRelay(), await rig.startRelay()] as const;
    await rig.establish(relays, events);
    await relays[0].stop();
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(countStates(await rig.deliveries(summary.id, relays[0]))).toEqual({ pending: 3 });
    expect(countStates(await rig.deliveries(summary.id, relays[1]))).toEqual({ verified: 3 });
    expect((await rig.deliveries(summary.id, relays[0]))[0]).toMatchObject({
      reason: 'not-sent',
      attempts: 0,
      sentAt: null,
    });

    await relays[0].listen();
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
    expect(eventsSent(relays[1])).toHaveLength(3);
  });

  it('that reaches none of them failed', async () => {
    const relay = await rig.startRelay();
    await rig.establish([relay], notes(3));
    await relay.stop();
    expect(await rig.sync()).toMatchObject({ status: 'failed', resumable: true });
  });
});
