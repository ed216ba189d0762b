import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { refusePublications } from '../relays/behaviours/publishing.ts';
import { buildEvent } from '../relays/event-builder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
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

/** Does this with every published event instead of answering it. */
function answers(name: string, answer: (event: SignedEvent, connection: RelayConnection) => void): Behaviour {
  return {
    name,
    takeMessage(message, connection) {
      if (message.type !== 'EVENT') return false;
      answer(message.event as SignedEvent, connection);
      return true;
    },
  };
}

/** Does this with the first so many published events. */
function firstEvents(count: number, act: (connection: RelayConnection) => void): Behaviour {
  let met = 0;
  return {
    name: `acts on the first ${count} events`,
    takeMessage(message, connection) {
      if (message.type !== 'EVENT' || met === count) return false;
      met += 1;
      act(connection);
      return true;
    },
  };
}

describe('a connection that is lost over an event', () => {
  it('is no refusal when nobody closed it', async () => {
    const relay = await relayWithout(
      notes(1),
      firstEvents(3, (connection) => connection.terminate()),
    );
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
    expect(eventsSent(relay)).toHaveLength(4);
  });

  it('is no refusal when Holdfast closed it itself over a frame that it does not take', async () => {
    await relayWithout(
      notes(1),
      firstEvents(3, (connection) => connection.send(['NOTICE', 'x'.repeat(3_000_000)])),
    );
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
  });

  it('is no refusal when the relay is going away', async () => {
    await relayWithout(
      notes(1),
      firstEvents(3, (connection) => connection.close(1001, 'restarting')),
    );
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
  });

  it('each time leaves the event unverified, to be sent again by Resume', async () => {
    const relay = await relayWithout(
      notes(1),
      answers('loses every connection', (_, connection) => connection.terminate()),
    );
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
    expect(eventsSent(relay)).toHaveLength(4);
    const [delivery] = await rig.deliveries(summary.id);
    expect(delivery).toMatchObject({ state: 'unverified', reason: 'no-answer', lasting: false });
    expect(delivery?.message).toMatch(/ended each time this event was sent/);
    relay.behave();
    expect(await rig.resume(summary.id)).toMatchObject({ status: 'complete' });
  });

  it('by a relay that closes it over any event refuses none of them for good', async () => {
    await relayWithout(
      notes(2),
      answers('closes at events', (_, connection) => connection.close(1008, 'no')),
    );
    const summary = await rig.sync();
    const rejected = (await rig.deliveries(summary.id)).filter(({ state }) => state === 'rejected');
    expect(rejected.length).toBeGreaterThan(0);
    for (const delivery of rejected) expect(delivery.lasting).toBe(false);
    expect(summary).toMatchObject({ status: 'partial', resumable: true });
  });
});

describe('a NOTICE', () => {
  const small = notes(2);
  const large = buildEvent({ createdAt: START - 5000, content: 'x'.repeat(5000) });

  it('with words about sizes refuses nothing', async () => {
    const relay = await relayWithout(small, {
      name: 'chats',
      takeMessage(message, connection) {
        if (message.type === 'EVENT') connection.send(['NOTICE', 'info: event size is fine']);
        return false;
      },
    });
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
    expect(relay.store.size).toBe(2);
  });

  it('that complains about the size does not count against the OK that follows it', async () => {
    await relayWithout(small, {
      name: 'complains and takes it',
      takeMessage(message, connection) {
        if (message.type === 'EVENT') connection.send(['NOTICE', 'event too large']);
        return false;
      },
    });
    expect(await rig.sync()).toMatchObject({ status: 'complete' });
  });

  it('that complains about the size does not count against an event that is read back', async () => {
    const relay = await relayWithout([...small, large]);
    relay.behave(
      answers('complains without an OK, and stores', (event, connection) => {
        relay.store.add(event);
        if (event.id === large.id) connection.send(['NOTICE', 'event too large']);
        else connection.send(['OK', event.id, true, '']);
      }),
    );
    const run = await rig.begin();
    expect(await rig.endedInTime(run)).toMatchObject({ status: 'complete' });
    expect(await rig.totals(run)).toEqual({ verified: 3 });
  });
});

describe('an OK without true or false', () => {
  it('is no refusal: what was stored is verified', async () => {
    const relay = await relayWithout(notes(2));
    relay.behave(
      answers('short OK', (event, connection) => {
        relay.store.add(event);
        connection.send(['OK', event.id]);
      }),
    );
    const summary = await rig.sync();
    expect(summary).toMatchObject({ status: 'complete' });
    expect(await rig.delivery(summary.id, notes(2)[0] as SignedEvent)).toMatchObject({ attempts: 1 });
  });

  it('is no acceptance either: what is not returned is unverified for want of an answer', async () => {
    await relayWithout(
      notes(2),
      answers('OK with a text', (event, connection) => connection.send(['OK', event.id, 'true', ''])),
    );
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ unverified: 2 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({ reason: 'no-answer' });
  });
});

describe('an OK that comes when it is not waited for any more', () => {
  /** Holds the answers back until they are let go. */
  function late(answer: (event: SignedEvent) => readonly unknown[]): { behaviour: Behaviour; letGo: () => void } {
    const held: (() => void)[] = [];
    return {
      behaviour: answers('answers late', (event, connection) => held.push(() => connection.send(answer(event)))),
      letGo: () => {
        for (const send of held) send();
      },
    };
  }

  it('and refuses: the reason is the word of the relay', async () => {
    const { behaviour, letGo } = late(({ id }) => ['OK', id, false, 'blocked: not on the list']);
    const relay = await relayWithout(notes(1), behaviour);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 1);
    await rig.clock.pass(22_000);
    letGo();
    await rig.endedInTime(run);
    const delivery = await rig.delivery(run, notes(1)[0] as SignedEvent);
    expect(delivery).toMatchObject({
      state: 'rejected',
      reason: 'blocked',
      message: 'blocked: not on the list',
      lasting: true,
    });
    expect(delivery.steps[0]).toMatchObject({ outcome: 'rejected', message: 'blocked: not on the list' });
  });

  it('and accepts: it is not said that the relay gave no answer', async () => {
    const { behaviour, letGo } = late(({ id }) => ['OK', id, true, '']);
    const relay = await relayWithout(notes(1), behaviour);
    const run = await rig.begin();
    await rig.passUntil(() => eventsSent(relay).length === 1);
    await rig.clock.pass(22_000);
    letGo();
    await rig.endedInTime(run);
    const delivery = await rig.delivery(run, notes(1)[0] as SignedEvent);
    expect(delivery).toMatchObject({ state: 'unverified', reason: 'not-returned' });
    expect(delivery.steps[0]).toMatchObject({ outcome: 'accepted' });
    // An event that the relay said yes to is not sent again within its run.
    relay.behave();
    await rig.resume(run);
    expect(eventsSent(relay)).toHaveLength(1);
  });
});

describe('a refusal that says that the relay has the event', () => {
  it.each(['Event already exists', 'error: duplicate key value violates unique constraint "events_pkey"'])(
    'is read back: %j',
    async (words) => {
      const events = notes(2);
      const relay = await relayWithout(events);
      relay.behave(
        answers('has it', (event, connection) => {
          relay.store.add(event);
          connection.send(['OK', event.id, false, words]);
        }),
      );
      const summary = await rig.sync();
      expect(summary).toMatchObject({ status: 'complete' });
      const delivery = await rig.delivery(summary.id, events[0] as SignedEvent);
      expect(delivery.steps.map(({ outcome }) => outcome)).toEqual(['rejected', 'found']);
    },
  );

  it('stays a refusal when the event is not returned', async () => {
    const events = notes(2);
    const relay = await relayWithout(events, refusePublications('blocked: you already have 2 events here'));
    const summary = await rig.sync();
    expect(await rig.totals(summary.id)).toEqual({ rejected: 2 });
    expect((await rig.deliveries(summary.id))[0]).toMatchObject({ reason: 'blocked', lasting: true, attempts: 1 });
    expect(eventsSent(relay)).toHaveLength(2);
  });
});
