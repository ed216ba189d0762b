import { describe, expect, it, vi } from 'vitest';
import type { QueryOptions, QueryOutcome, QueryResult, RelayFilter } from '../../main/relays/relay-query.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

async function ask(network: FakeNetwork, options: Partial<QueryOptions> = {}, filter: RelayFilter = { limit: 100 }) {
  const result = network.connection.query(filter, { onEvent: () => undefined, ...options });
  await settle();
  return { subscription: network.socket.subscription, outcome: () => outcomeOf(result) };
}

async function outcomeOf(result: Promise<QueryResult>): Promise<QueryOutcome> {
  const settled = await result;
  if (!settled.sent) {
    throw new Error(`not sent: ${settled.failure.message}`);
  }
  return settled.outcome;
}

describe('an answer counts what came with it and could not be read', () => {
  it.each<[string, (socket: FakeNetwork['socket'], subscription: string) => void]>([
    ['broken JSON', (socket, subscription) => socket.handlers.onText(`["EVENT","${subscription}",`, 30)],
    ['no array', (socket) => socket.handlers.onText('{"EVENT":1}', 11)],
    ['a binary frame', (socket) => socket.handlers.onBinary(500)],
    ['an event without subscription', (socket) => socket.says('EVENT', shapedEvent(1))],
    ['an event in another spelling', (socket, subscription) => socket.says('event', subscription, shapedEvent(1))],
    ['an event for nobody', (socket) => socket.says('EVENT', 'nobody-asked', shapedEvent(1))],
    ['a malformed event for nobody', (socket) => socket.says('EVENT', 'nobody-asked', 7)],
  ])('%s', async (_name, say) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    say(network.socket, subscription);
    say(network.socket, subscription);
    network.socket.says('EOSE', subscription);
    expect(await outcome()).toMatchObject({ ending: 'eose', received: 0, unreadable: 2, lateEvents: 0 });
  });

  it('but not what holds no events, nor what came before or after it was open', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const { socket } = network;
    socket.handlers.onBinary(1);
    socket.says('EOSE', first.subscription);
    await first.outcome();
    socket.handlers.onBinary(1);
    const { subscription, outcome } = await ask(network);
    socket.handlers.onText('', 0);
    socket.handlers.onText(' \n', 2);
    socket.says('NOTICE', 'welcome');
    socket.says('PONG', 'x');
    socket.says('EOSE', 'nobody-asked');
    socket.says('OK', 'f'.repeat(64), true, '');
    socket.says('EVENT', subscription, shapedEvent(1));
    socket.says('EOSE', subscription);
    expect(await outcome()).toMatchObject({ received: 1, unreadable: 0, lateEvents: 0 });
  });

  it('for every request that it may have been meant for', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const second = await ask(network);
    network.socket.handlers.onBinary(1);
    network.socket.says('EOSE', first.subscription);
    network.socket.says('EOSE', second.subscription);
    expect([(await first.outcome()).unreadable, (await second.outcome()).unreadable]).toEqual([1, 1]);
  });

  it('and takes events that still come for a request of ours that we gave up for what they are', async () => {
    const network = new FakeNetwork();
    const stop = new AbortController();
    const given = await ask(network, { signal: stop.signal });
    stop.abort();
    await given.outcome();
    const { subscription, outcome } = await ask(network);
    network.socket.says('EVENT', given.subscription, shapedEvent(1));
    network.socket.says('EOSE', subscription);
    expect(await outcome()).toMatchObject({ received: 0, unreadable: 0, lateEvents: 0 });
  });
});

describe('an EOSE before the end of the answer', () => {
  it('is found out while the relay answers a ping; the events are delivered and counted as late', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const { subscription, outcome } = await ask(network, { onEvent });
    const { socket } = network;
    socket.says('EVENT', subscription, shapedEvent(1));
    socket.says('EOSE', subscription);
    socket.says('EVENT', subscription, shapedEvent(2));
    socket.says('EVENT', subscription, 'nonsense');
    socket.says('EOSE', subscription, ['finish']);
    expect(socket.verbs('CLOSE')).toEqual([]);
    expect(await outcome()).toMatchObject({ ending: 'eose', received: 3, malformed: 1, lateEvents: 2 });
    expect(onEvent).toHaveBeenCalledTimes(2);
    expect(socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
  });

  it('shows in the next outcome when the events come later still', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    network.socket.says('EOSE', first.subscription);
    expect(await first.outcome()).toMatchObject({ lateEvents: 0 });
    network.socket.says('EVENT', first.subscription, shapedEvent(1));
    for (const lateEvents of [1, 0]) {
      const next = await ask(network);
      network.socket.says('EOSE', next.subscription);
      expect(await next.outcome()).toMatchObject({ received: 0, unreadable: 0, lateEvents });
    }
  });

  it.each<[string, RelayFilter, unknown[]]>([
    ['a page that is full', { limit: 1 }, []],
    ['all events that were asked for by ID', { ids: [shapedEvent(1).id] }, []],
    ['an answer that has more by its own words', { limit: 100 }, [['more']]],
  ])('is not looked for after %s', async (_name, filter, hint) => {
    const network = new FakeNetwork();
    const { subscription } = await ask(network, {}, filter);
    const { socket } = network;
    socket.says('EVENT', subscription, shapedEvent(1));
    socket.says('EOSE', subscription, ...hint);
    expect([socket.pings, socket.verbs('CLOSE')]).toEqual([0, [['CLOSE', subscription]]]);
  });

  it('is looked for during two seconds when the relay answers no pings', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.answersPings = false;
    network.socket.says('EOSE', subscription);
    await network.clock.pass(1_999);
    expect(network.socket.verbs('CLOSE')).toEqual([]);
    await network.clock.pass(1);
    expect(network.socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
    expect((await outcome()).ending).toBe('eose');
  });

  it('is looked for by a ping of its own: an answer to an earlier one proves nothing', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const second = await ask(network);
    const { socket } = network;
    socket.answersPings = false;
    socket.says('EOSE', first.subscription);
    socket.says('EOSE', second.subscription);
    socket.handlers.onPong('1');
    await settle();
    expect(socket.verbs('CLOSE')).toEqual([['CLOSE', first.subscription]]);
    socket.handlers.onPong('2');
    expect((await second.outcome()).ending).toBe('eose');
  });

  it.each<[string, (socket: FakeNetwork['socket'], subscription: string) => void, string]>([
    ['the connection ends', (socket) => socket.ends(), 'eose'],
    ['the relay closes the subscription', (socket, subscription) => socket.says('CLOSED', subscription, ''), 'eose'],
    [
      'the relay then asks for authentication',
      (socket, subscription) => socket.says('CLOSED', subscription, 'auth-required: members only'),
      'auth-required',
    ],
    ['a frame ends the connection', (socket) => socket.ends({ cause: 'frame-too-large', reason: 'large' }), 'failed'],
  ])('leaves nothing hanging when meanwhile %s', async (_name, happen, ending) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.answersPings = false;
    network.socket.says('EOSE', subscription);
    happen(network.socket, subscription);
    expect((await outcome()).ending).toBe(ending);
  });
});
