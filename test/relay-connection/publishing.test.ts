import { describe, expect, it } from 'vitest';
import type { PublishOutcome, PublishResult } from '../../main/relays/relay-query.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

async function send(network: FakeNetwork, event: SignedEvent): Promise<() => Promise<PublishOutcome>> {
  const result: Promise<PublishResult> = network.connection.publish(event, { okTimeoutMs: 20_000 });
  await network.clock.pass(20);
  return async () => {
    const settled = await result;
    if (!settled.sent) {
      throw new Error(settled.failure.message);
    }
    return settled.outcome;
  };
}

describe('publishing', () => {
  it('sends the event as it is and is accepted by the OK for its ID', async () => {
    const network = new FakeNetwork();
    const event = shapedEvent(1);
    const outcome = await send(network, event);
    expect(network.socket.sent).toEqual([['EVENT', event]]);
    network.socket.says('OK', shapedEvent(2).id, false, 'blocked: another event');
    network.socket.says('OK', event.id, true, '');
    expect(await outcome()).toMatchObject({ state: 'accepted', duplicate: false });
  });

  it.each([true, false])('takes a duplicate for stored, OK %s', async (accepted) => {
    const network = new FakeNetwork();
    const outcome = await send(network, shapedEvent(1));
    network.socket.says('OK', shapedEvent(1).id, accepted, 'duplicate: already have this event');
    expect(await outcome()).toMatchObject({ state: 'accepted', duplicate: true, reason: { prefix: 'duplicate' } });
  });

  it.each([
    ['invalid: created_at too early', true, 'invalid'],
    ['blocked: not on the list', true, 'blocked'],
    ['pow: 28 bits required', true, 'pow'],
    ['error: database is locked', false, 'error'],
    ['auth-required: log in first', false, 'auth-required'],
    ['rate-limited: slow down', false, 'rate-limited'],
  ])('keeps the reason of a refusal: %j', async (words, lasting, prefix) => {
    const network = new FakeNetwork();
    const outcome = await send(network, shapedEvent(1));
    network.socket.says('OK', shapedEvent(1).id, false, words);
    expect(await outcome()).toMatchObject({ state: 'rejected', lasting, reason: { prefix, text: words } });
  });

  it('decides nothing without an OK', async () => {
    const network = new FakeNetwork();
    const timeout = await send(network, shapedEvent(1));
    await network.clock.pass(20_000);
    expect(await timeout()).toMatchObject({ state: 'unknown', cause: 'timeout' });
    const lost = await send(network, shapedEvent(2));
    network.socket.ends({ cause: 'lost', code: null, reason: 'reset' });
    expect(await lost()).toMatchObject({ state: 'unknown', cause: 'disconnect', message: 'reset' });
  });

  it('ignores an OK that comes after the time-out', async () => {
    const network = new FakeNetwork();
    const outcome = await send(network, shapedEvent(1));
    await network.clock.pass(20_000);
    network.socket.says('OK', shapedEvent(1).id, true, '');
    expect((await outcome()).state).toBe('unknown');
  });

  it('gives two deliveries of one event an OK each', async () => {
    const network = new FakeNetwork();
    const first = await send(network, shapedEvent(1));
    const second = await send(network, shapedEvent(1));
    network.socket.says('OK', shapedEvent(1).id, true, '');
    network.socket.says('OK', shapedEvent(1).id, true, 'duplicate: twice');
    expect(await first()).toMatchObject({ duplicate: false });
    expect(await second()).toMatchObject({ duplicate: true });
  });

  it('pauses 65 seconds when it is rate-limited, and reading goes on', async () => {
    const network = new FakeNetwork();
    const outcome = await send(network, shapedEvent(1));
    network.socket.says('OK', shapedEvent(1).id, false, 'rate-limited: slow down');
    await outcome();
    expect(network.connection.healthSnapshot().state).toBe('rate-limited');
    const query = network.connection.query({}, { onEvent: () => undefined });
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    expect(await query).toMatchObject({ sent: true });

    const waiting: unknown[] = [];
    void network.connection.publish(shapedEvent(2), { onWaiting: (state) => waiting.push(state?.reason ?? null) });
    await network.clock.pass(64_979);
    expect(network.sockets[0]?.verbs('EVENT')).toHaveLength(1);
    await network.clock.pass(21);
    expect(network.socket.verbs('EVENT').at(-1)).toEqual(['EVENT', shapedEvent(2)]);
    expect(waiting).toEqual(['rate limited by the relay', null]);
  });

  it('pauses when a NOTICE says so, and that delivery may be repeated', async () => {
    const network = new FakeNetwork();
    const outcome = await send(network, shapedEvent(1));
    network.socket.says('NOTICE', 'you are posting too fast');
    expect(await outcome()).toMatchObject({ state: 'rejected', lasting: false });
    expect(network.connection.healthSnapshot().state).toBe('rate-limited');
  });

  it('is cancelled by its signal', async () => {
    const network = new FakeNetwork();
    const stop = new AbortController();
    const result = network.connection.publish(shapedEvent(1), { signal: stop.signal });
    await settle();
    stop.abort();
    expect(await result).toMatchObject({ outcome: { state: 'unknown', cause: 'cancelled' } });
  });
});

describe('a frame that is too large for the relay', () => {
  const large = shapedEvent(2, { content: 'x'.repeat(10_000) });

  it('is rejected for good, alone, when the relay closes with 1009', async () => {
    const network = new FakeNetwork();
    const small = await send(network, shapedEvent(1));
    const tooLarge = await send(network, large);
    const other = await send(network, shapedEvent(3));
    network.socket.ends({ code: 1009, reason: '' });
    expect(await tooLarge()).toMatchObject({ state: 'rejected', lasting: true });
    expect(await small()).toMatchObject({ state: 'unknown', cause: 'disconnect' });
    expect(await other()).toMatchObject({ state: 'unknown', cause: 'disconnect' });
  });

  it('is rejected for good, alone, when a NOTICE says so', async () => {
    const network = new FakeNetwork();
    const small = await send(network, shapedEvent(1));
    const tooLarge = await send(network, large);
    network.socket.says('NOTICE', 'message too large');
    expect(await tooLarge()).toMatchObject({ state: 'rejected', lasting: true, reason: { text: 'message too large' } });
    network.socket.says('OK', shapedEvent(1).id, true, '');
    expect(await small()).toMatchObject({ state: 'accepted' });
  });

  it('is not blamed on a delivery when a larger query is open', async () => {
    const network = new FakeNetwork();
    const small = await send(network, shapedEvent(1));
    const query = network.connection.query(
      { ids: Array.from({ length: 200 }, (_, index) => shapedEvent(index).id) },
      { onEvent: () => undefined },
    );
    await settle();
    network.socket.says('NOTICE', 'message too large');
    expect(await query).toMatchObject({ outcome: { ending: 'notice' } });
    network.socket.says('OK', shapedEvent(1).id, true, '');
    expect(await small()).toMatchObject({ state: 'accepted' });
  });
});
