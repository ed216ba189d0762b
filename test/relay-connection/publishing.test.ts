import { describe, expect, it } from 'vitest';
import type { LateAnswer, PublishOutcome, PublishResult } from '../../main/relays/relay-query.ts';
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

  it('decides nothing by an OK that says neither yes nor no, and keeps its words', async () => {
    const network = new FakeNetwork();
    const outcome = await send(network, shapedEvent(1));
    network.socket.says('OK', shapedEvent(1).id, 'blocked: perhaps');
    expect(await outcome()).toMatchObject({
      state: 'unknown',
      cause: 'unclear',
      message: expect.stringContaining('blocked: perhaps'),
    });
  });

  it('names the code of a relay that closed the connection, and none for a connection that was lost', async () => {
    const network = new FakeNetwork();
    const closed = await send(network, shapedEvent(1));
    network.socket.ends({ cause: 'by-relay', code: 1008, reason: 'no' });
    expect(await closed()).toMatchObject({ cause: 'disconnect', closeCode: 1008 });
    for (const cause of ['lost', 'frame-too-large', 'frame-unusable'] as const) {
      await network.clock.pass(600_000);
      const lost = await send(network, shapedEvent(1));
      network.socket.ends({ cause, code: null, reason: 'gone' });
      expect(await lost()).toMatchObject({ cause: 'disconnect', closeCode: null });
    }
  });

  it('passes on an OK that comes after the time-out, once, while the connection lasts', async () => {
    const network = new FakeNetwork();
    const late: LateAnswer[] = [];
    const publish = async (event: SignedEvent): Promise<void> => {
      const result = network.connection.publish(event, { onLateAnswer: (answer) => late.push(answer) });
      await network.clock.pass(20_020);
      expect(await result).toMatchObject({ outcome: { state: 'unknown', cause: 'timeout' } });
    };
    await publish(shapedEvent(1));
    await publish(shapedEvent(2));
    await publish(shapedEvent(3));
    network.socket.says('OK', shapedEvent(1).id, true, '');
    network.socket.says('OK', shapedEvent(1).id, true, '');
    network.socket.says('OK', shapedEvent(2).id, false, 'blocked: not on the list');
    expect(late).toMatchObject([
      { state: 'accepted' },
      { state: 'rejected', by: 'ok', reason: { text: 'blocked: not on the list' } },
    ]);
    network.socket.ends();
    await network.connection.readyToPublish();
    network.socket.says('OK', shapedEvent(3).id, true, '');
    expect(late).toHaveLength(2);
  });

  it('asks whether the event may still be sent when everything else was waited for', async () => {
    const network = new FakeNetwork();
    const limited = await send(network, shapedEvent(1));
    network.socket.says('OK', shapedEvent(1).id, false, 'rate-limited: slow down');
    await limited();
    let mayBeSent = true;
    const asked: number[] = [];
    const result = network.connection.publish(shapedEvent(2), {
      mayBeSent: () => {
        asked.push(network.clock.monotonicMs());
        return Promise.resolve(mayBeSent);
      },
    });
    await network.clock.pass(30_000);
    expect(asked).toEqual([]);
    mayBeSent = false;
    await network.clock.pass(40_000);
    expect(asked).toHaveLength(1);
    expect(await result).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
    expect(network.sockets.flatMap((socket) => socket.verbs('EVENT'))).toHaveLength(1);
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
    expect(network.connection.healthSnapshot().state).toBe('rate-limited');
    await network.clock.pass(5_000);
    expect(await outcome()).toMatchObject({ state: 'rejected', lasting: false, by: 'notice' });
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
    expect(await tooLarge()).toMatchObject({ state: 'rejected', lasting: true, by: 'close' });
    expect(await small()).toMatchObject({ state: 'unknown', cause: 'disconnect' });
    expect(await other()).toMatchObject({ state: 'unknown', cause: 'disconnect' });
  });

  it('is rejected, alone, when a NOTICE says so and no OK follows', async () => {
    const network = new FakeNetwork();
    const small = await send(network, shapedEvent(1));
    const tooLarge = await send(network, large);
    network.socket.says('NOTICE', 'message too large');
    network.socket.says('OK', shapedEvent(1).id, true, '');
    expect(await small()).toMatchObject({ state: 'accepted' });
    await network.clock.pass(5_000);
    expect(await tooLarge()).toMatchObject({
      state: 'rejected',
      lasting: true,
      by: 'notice',
      reason: { text: 'message too large' },
    });
  });

  it('was not too large after all when an OK follows the NOTICE', async () => {
    const network = new FakeNetwork();
    const outcome = await send(network, large);
    network.socket.says('NOTICE', 'message too large');
    await network.clock.pass(4_000);
    network.socket.says('OK', large.id, true, '');
    expect(await outcome()).toMatchObject({ state: 'accepted' });
  });

  it.each(['info: event size is fine', 'Welcome. Our event size limit is 128 KB.', 'max message length is 16384'])(
    'is not meant by a NOTICE that refuses nothing: %j',
    async (text) => {
      const network = new FakeNetwork();
      const outcome = await send(network, large);
      network.socket.says('NOTICE', text);
      await network.clock.pass(20_000);
      expect(await outcome()).toMatchObject({ state: 'unknown', cause: 'timeout' });
    },
  );

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
