import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import {
  acceptWithoutStoring,
  neverOk,
  rateLimitPublishing,
  refusePublications,
} from '../relays/behaviours/publishing.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, idsAsked, idsOf, notes, START, SyncRig } from './delivery-rig.ts';

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

describe('a sync that is interrupted', () => {
  it('by cancelling: what was sent is looked for first on Resume, and nothing that arrived is sent again', async () => {
    const events = notes(40);
    const relay = await relayWithout(events);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length >= 15);
    expect(await rig.engine.methods['runs.cancel']({ run })).toEqual({ cancelled: true });
    const cancelled = await rig.ended(run);
    expect(cancelled).toMatchObject({ status: 'cancelled', resumable: true });
    const sentBefore = eventsSent(relay);
    const totals = (await rig.report(run)).totals;
    expect(totals.pending).toBe(40 - sentBefore.length);

    expect(await rig.resume(run)).toMatchObject({ status: 'complete' });
    const sentAfter = eventsSent(relay).slice(sentBefore.length);
    expect(sentAfter.filter((id) => sentBefore.includes(id))).toEqual([]);
    const firstQuestion = relay.log.entries.find(({ type, text }) => type === 'REQ' && text.includes('"ids"'));
    const firstSentAfter = relay.log.received('EVENT')[sentBefore.length];
    expect(firstQuestion?.index).toBeLessThan(firstSentAfter?.index ?? 0);
    expect([...sentBefore, ...sentAfter].sort()).toEqual(idsOf(events).sort());
  });

  it('by another process that leaves word', async () => {
    await relayWithout(notes(40), rateLimitPublishing(3));
    const run = await rig.begin();
    await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
    const reader = await rig.openReader();
    await reader.methods['runs.cancel']({ run });
    await reader.close();
    expect(await rig.ended(run)).toMatchObject({ status: 'cancelled', resumable: true });
  });

  it('by closing Holdfast: it can be resumed after the next start', async () => {
    const events = notes(40);
    const relay = await relayWithout(events);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length >= 10);
    await rig.restart();
    const [summary] = await rig.engine.methods['runs.list']({});
    expect(summary).toMatchObject({ id: run, type: 'sync', status: 'cancelled', resumable: true });
    const { runs } = await rig.engine.methods['fetch.resume']({});
    expect(runs).toEqual([run]);
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect(new Set(eventsSent(relay)).size).toBe(40);
    expect(eventsSent(relay)).toHaveLength(40);
  });

  it('during a cool-down: nothing that had not left counts as sent', async () => {
    const relay = await relayWithout(notes(20), rateLimitPublishing(5));
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length >= 6);
    await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
    await rig.engine.methods['runs.cancel']({ run });
    await rig.ended(run);
    const deliveries = await rig.deliveries(run);
    const pending = deliveries.filter(({ state }) => state === 'pending');
    expect(pending.length).toBeGreaterThanOrEqual(14);
    const sent = eventsSent(relay);
    for (const { attempts, event } of deliveries) expect(attempts).toBe(sent.filter((id) => id === event).length);
  });
});

describe('what changed since the selection was made', () => {
  it('an event that was deleted meanwhile is withdrawn', async () => {
    const events = notes(30);
    const last = events.at(-1) as SignedEvent;
    const relay = await relayWithout(
      events,
      refusePublications('rate-limited: wait', () => held),
    );
    let held = true;
    const run = await rig.begin();
    await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
    await rig.import([buildEvent({ kind: 5, createdAt: START, tags: [['e', last.id]] })]);
    held = false;
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect(await rig.totals(run)).toEqual({ verified: 29, withdrawn: 1 });
    const delivery = await rig.delivery(run, last);
    expect(delivery).toMatchObject({ state: 'withdrawn', reason: 'deleted' });
    expect(delivery.steps.at(-1)).toMatchObject({ type: 'withdraw', outcome: 'withdrawn' });
    expect(relay.store.all().some(({ event }) => event.id === last.id)).toBe(false);
  });

  it('everything for a relay that is no write relay any more is withdrawn', async () => {
    const relay = await relayWithout(notes(30), rateLimitPublishing(4));
    const run = await rig.begin();
    await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
    const sent = eventsSent(relay).length;
    await rig.engine.methods['accounts.setRelays']({
      account: alice.pubkey,
      relays: [{ url: relay.url, read: true, write: false, extra: true }],
    });
    await rig.engine.methods['runs.cancel']({ run });
    await rig.ended(run);
    const resumed = await rig.resume(run);
    expect(resumed).toMatchObject({ status: 'complete', resumable: false });
    expect(await rig.totals(run)).toEqual({ verified: 4, withdrawn: 26 });
    expect((await rig.deliveries(run)).at(-1)).toMatchObject({ reason: 'no-write-relay' });
    expect(eventsSent(relay)).toHaveLength(sent);
  });

  it('a copy that turned up by itself is withdrawn', async () => {
    const events = notes(5);
    const relay = await relayWithout(events);
    await relay.stop();
    const { id: run } = await rig.sync();
    await relay.listen();
    for (const event of events.slice(0, 2)) relay.store.add(event);
    await rig.fetching.fetch({ recheck: true });
    expect(await rig.resume(run)).toMatchObject({ status: 'complete' });
    expect(await rig.totals(run)).toEqual({ verified: 3, withdrawn: 2 });
    expect((await rig.deliveries(run))[0]).toMatchObject({ state: 'withdrawn', reason: 'present' });
    expect(eventsSent(relay)).toEqual(idsOf(events.slice(2)));
  });
});

describe('one run at a time', () => {
  it('a sync refuses to begin while a fetch is at work, and the other way round', async () => {
    const relay = await relayWithout(notes(30), rateLimitPublishing(4));
    const run = await rig.begin();
    await expect(rig.begin()).rejects.toMatchObject({ code: 'already-active' });
    await expect(rig.engine.methods['fetch.start']({ account: alice.pubkey })).rejects.toMatchObject({
      code: 'already-active',
    });
    await expect(rig.engine.methods['sync.reverify']({ run })).rejects.toMatchObject({ code: 'already-active' });
    await rig.engine.methods['runs.cancel']({ run });
    await rig.ended(run);
    relay.behave();
  });

  it('two syncs begun at once: one of them is refused', async () => {
    const relay = await relayWithout(notes(10));
    const begun = await Promise.allSettled([rig.begin(), rig.begin()]);
    expect(begun.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const one of begun) if (one.status === 'fulfilled') await rig.ended(one.value);
    expect(eventsSent(relay)).toHaveLength(10);
  });
});

describe('verifying again', () => {
  it('looks for all verified copies, sends nothing, and says which are gone', async () => {
    const events = notes(6);
    const relay = await relayWithout(events);
    const { id: run } = await rig.sync();
    const [first] = events as [SignedEvent];
    const verifiedAt = (await rig.delivery(run, first)).verifiedAt ?? 0;
    await rig.clock.pass(86_400_000);
    relay.behave({ name: 'has lost the first', hides: ({ id }) => id === first.id });

    expect(await rig.report(run)).toMatchObject({ reverification: null });
    const begunAt = Math.floor(rig.clock.nowMs() / 1000);
    await rig.engine.methods['sync.reverify']({ run });
    // What goes on with a run begins with how it stands, and not with nothing.
    const { runs: going } = await rig.engine.topics.activity.snapshot({});
    expect(going).toMatchObject([{ deliveries: { verified: 6 } }]);
    expect(await rig.report(run)).toMatchObject({ reverification: { begunAt, endedAt: null, copies: 6, missing: 0 } });
    const summary = await rig.ended(run);

    const outcome = { begunAt, endedAt: summary.finishedAt, copies: 6, returned: 5, missing: 1 };
    expect(await rig.report(run)).toMatchObject({ reverification: outcome });
    expect(summary).toMatchObject({ reverification: outcome });
    // The day in between is no time that it took.
    expect(summary).toMatchObject({ status: 'partial', resumable: true, resumed: true });
    expect(await rig.report(run)).toMatchObject({ resumed: true });
    expect(await rig.totals(run)).toEqual({ verified: 5, unverified: 1 });
    expect(eventsSent(relay)).toHaveLength(6);
    const gone = await rig.delivery(run, first);
    expect(gone).toMatchObject({ state: 'unverified', reason: 'not-returned' });
    expect(gone.message).toMatch(/^It was returned at 2023-11-\d\d .* UTC, and is not returned any more\.$/);
    expect((await rig.delivery(run, events[1] as SignedEvent)).verifiedAt).toBeGreaterThan(verifiedAt);

    // It was there once: within this run it is not sent again, whatever happens.
    await rig.resume(run);
    expect(eventsSent(relay)).toHaveLength(6);
    expect(await rig.totals(run)).toEqual({ verified: 5, unverified: 1 });
    // What Resume finds out is not what came of looking again.
    relay.behave();
    await rig.clock.pass(60_000);
    await rig.resume(run);
    expect(await rig.totals(run)).toEqual({ verified: 6 });
    expect(await rig.report(run)).toMatchObject({ reverification: { copies: 6, returned: 5 } });
  });

  it('looks for a random sample', async () => {
    const relay = await relayWithout(notes(20));
    const { id: run } = await rig.sync();
    const asked = idsAsked(relay).flat().length;
    await rig.engine.methods['sync.reverify']({ run, sample: 5 });
    expect(await rig.ended(run)).toMatchObject({
      status: 'complete',
      reverification: { copies: 5, returned: 5, missing: 0 },
    });
    expect(idsAsked(relay).flat()).toHaveLength(asked + 5);
  });

  it('that is cancelled is no success, and leaves the copies verified', async () => {
    const relay = await relayWithout(notes(5));
    const { id: run } = await rig.sync();
    await relay.stop();
    await rig.engine.methods['sync.reverify']({ run });
    await rig.engine.methods['runs.cancel']({ run });
    expect(await rig.ended(run)).toMatchObject({
      status: 'cancelled',
      reverification: { copies: 5, returned: 0, missing: 0, endedAt: expect.any(Number) },
    });
    expect(await rig.totals(run)).toEqual({ verified: 5 });
  });

  it('that ended while Holdfast broke off leaves a complete run complete', async () => {
    await relayWithout(notes(5));
    const { id: run } = await rig.sync();
    await rig.pretendRunIsActive(run);
    await rig.restart();
    const [summary] = await rig.engine.methods['runs.list']({});
    expect(summary).toMatchObject({ id: run, status: 'complete' });
  });

  it('finds nothing to look for where nothing was verified', async () => {
    await relayWithout(notes(2), acceptWithoutStoring());
    const { id: run } = await rig.sync();
    await expect(rig.engine.methods['sync.reverify']({ run })).rejects.toMatchObject({ code: 'nothing-to-do' });
    const [fetch] = (await rig.engine.methods['runs.list']({})).filter(({ type }) => type === 'fetch');
    await expect(rig.engine.methods['sync.reverify']({ run: fetch?.id ?? 0 })).rejects.toMatchObject({
      code: 'unknown-run',
      message: expect.stringContaining('is no sync'),
    });
  });
});

describe('after a sudden end', () => {
  it('a sending that broke off is completed as interrupted by Resume', async () => {
    const events = notes(2);
    const relay = await relayWithout(events, neverOk({ store: true }));
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 2);
    await rig.copyAsAfterACrash();
    await rig.resume(run);
    expect(await rig.totals(run)).toEqual({ verified: 2 });
    const { steps } = await rig.delivery(run, events[0] as SignedEvent);
    expect(steps.map(({ outcome }) => outcome)).toEqual(['interrupted', 'found']);
    expect(eventsSent(relay)).toHaveLength(2);
  });
});
