import { describe, expect, it, vi } from 'vitest';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

describe('a live subscription', () => {
  it('goes on after EOSE, for as long as it likes, and closes when asked', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const onEose = vi.fn();
    const live = network.connection.subscribe(
      [
        { kinds: [1], limit: 0 },
        { kinds: [5], limit: 0 },
      ],
      { onEvent, onEose },
    );
    await settle();
    const { socket } = network;
    const { subscription } = socket;
    expect(socket.sent).toEqual([['REQ', subscription, { kinds: [1], limit: 0 }, { kinds: [5], limit: 0 }]]);
    socket.says('EOSE', subscription);
    await network.clock.pass(3_600_000);
    socket.says('EVENT', subscription, shapedEvent(1));
    expect(onEose).toHaveBeenCalledTimes(1);
    expect(onEvent).toHaveBeenCalledTimes(1);
    expect(network.connection.healthSnapshot()).toMatchObject({ openRequests: 1, connected: true });

    live.close();
    expect(await live.ended).toMatchObject({ sent: true, outcome: { ending: 'cancelled', received: 1 } });
    expect(socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
    expect(network.connection.healthSnapshot().openRequests).toBe(0);
  });

  it('says how it ended when the relay or the network ends it', async () => {
    const network = new FakeNetwork();
    const closed = network.connection.subscribe([{}], { onEvent: () => undefined });
    await settle();
    network.socket.says('CLOSED', network.socket.subscription, 'auth-required: log in');
    expect(await closed.ended).toMatchObject({ outcome: { ending: 'auth-required' } });
    const lost = network.connection.subscribe([{}], { onEvent: () => undefined });
    await settle();
    network.socket.ends();
    expect(await lost.ended).toMatchObject({ outcome: { ending: 'disconnect' } });
  });

  it('notices a half open connection by itself', async () => {
    const network = new FakeNetwork();
    const live = network.connection.subscribe([{}], { onEvent: () => undefined });
    await settle();
    network.socket.answersPings = false;
    await network.clock.pass(20_000);
    expect(await live.ended).toMatchObject({ outcome: { ending: 'disconnect' } });
  });

  it('can be closed before it was ever sent', async () => {
    const network = new FakeNetwork();
    network.attempts.push('hangs');
    const live = network.connection.subscribe([{}], { onEvent: () => undefined });
    live.close();
    expect(await live.ended).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
  });

  it('leaves room for queries', async () => {
    const network = new FakeNetwork({ requestBudget: 1 });
    network.connection.subscribe([{}], { onEvent: () => undefined });
    const query = network.connection.query({}, { onEvent: () => undefined });
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    expect(await query).toMatchObject({ outcome: { ending: 'eose' } });
  });
});
