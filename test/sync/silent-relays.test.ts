import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PublishResult } from '../../main/relays/relay-query.ts';
import { RelaySilence } from '../../main/sync/relay-silence.ts';
import { neverOk } from '../relays/behaviours/publishing.ts';
import { eventsSent, notes, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

/** A relay that lacks so many events and never answers to one. */
async function silentRelay(count: number, store = true) {
  const relay = await rig.startRelay();
  await rig.establish([relay], notes(count));
  relay.behave(neverOk({ store }));
  return relay;
}

describe('a relay that keeps silent', () => {
  it('is sent a few events, and only these are called sent, on the run’s page as in the activity', async () => {
    const relay = await silentRelay(60);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 8);
    await rig.clock.pass(3000);

    expect(eventsSent(relay)).toHaveLength(8);
    expect(await rig.totals(run)).toEqual({ sent: 8, pending: 52 });
    const { runs } = await rig.engine.topics.activity.snapshot({});
    expect(runs[0]?.relays[0]?.deliveries).toEqual((await rig.report(run)).relays[0]?.totals);
    const untouched = (await rig.deliveries(run)).filter(({ state }) => state === 'pending');
    for (const delivery of untouched) expect(delivery).toMatchObject({ attempts: 0, sentAt: null });
    await rig.engine.methods['runs.cancel']({ run });
    await rig.ended(run);
  });

  it('is said to be waited for', async () => {
    const relay = await silentRelay(3);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 3);
    await rig.clock.pass(3000);
    const { runs } = await rig.engine.topics.activity.snapshot({});
    expect(runs[0]?.relays).toMatchObject([{ state: 'sending', reason: 'waits for the relay’s answer' }]);
    await rig.engine.methods['runs.cancel']({ run });
    await rig.ended(run);
  });

  it('is read back as soon as the first answers stay out, and then waited for no longer than is worth it', async () => {
    const relay = await silentRelay(60);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 60);
    await rig.clock.pass(5000);
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });

    expect(await rig.totals(run)).toEqual({ verified: 60 });
    expect(eventsSent(relay)).toHaveLength(60);
    const deliveries = await rig.deliveries(run);
    const waits = await Promise.all(
      deliveries.map(async ({ id }) => {
        const { steps } = await rig.engine.methods['sync.delivery']({ delivery: id });
        const sent = steps.find(({ type }) => type === 'send');
        return (sent?.completedAt ?? 0) - (sent?.at ?? 0);
      }),
    );
    // The usual time once, and not for every eight.
    expect(waits.filter((seconds) => seconds >= 19)).toHaveLength(8);
    expect(Math.max(...waits.slice(8))).toBeLessThanOrEqual(4);
    for (const { attempts } of deliveries) expect(attempts).toBe(1);
  });

  it('and stores nothing is given the usual time, and the next events only when those before are read back', async () => {
    const relay = await silentRelay(20, false);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 8);
    await rig.clock.pass(19_000);
    expect(eventsSent(relay)).toHaveLength(8);
    await rig.passUntil(() => eventsSent(relay).length > 8);
    const [first] = await rig.deliveries(run);
    expect(first?.state).toBe('sent');
    await rig.engine.methods['runs.cancel']({ run });
    await rig.ended(run);
  });
});

describe('silence', () => {
  const timeout: PublishResult = {
    sent: true,
    outcome: { state: 'unknown', cause: 'timeout', message: 'No OK', closeCode: null, sentAtMs: 0 },
  };

  it('is suspected at once of a relay that never answered, and of another only after a while', () => {
    const silence = new RelaySilence();
    silence.note(timeout);
    expect(silence.isSuspected).toBe(true);
    silence.answered();
    for (let count = 1; count < 8; count += 1) silence.note(timeout);
    expect(silence.isSuspected).toBe(false);
    silence.note(timeout);
    expect(silence.isSuspected).toBe(true);
  });

  it('costs less time once the relay is known to store, until it answers after all', () => {
    const silence = new RelaySilence();
    silence.note(timeout);
    silence.readBack(false);
    expect(silence.okTimeoutMs).toBeUndefined();
    silence.note(timeout);
    silence.readBack(true);
    expect(silence.okTimeoutMs).toBeLessThan(20_000);
    expect(silence.isSuspected).toBe(false);
    silence.note(timeout);
    expect(silence.isSuspected).toBe(false);
    silence.answered();
    expect(silence.okTimeoutMs).toBeUndefined();
  });

  it('is no matter of events that never left, or of a lost connection', () => {
    const silence = new RelaySilence();
    silence.note({ sent: false, failure: { code: 'cancelled', message: '' } });
    silence.note({
      sent: true,
      outcome: { state: 'unknown', cause: 'disconnect', message: 'gone', closeCode: 1006, sentAtMs: 0 },
    });
    expect(silence.isSuspected).toBe(false);
  });
});
