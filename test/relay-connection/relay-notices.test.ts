import { describe, expect, it } from 'vitest';
import type { QueryResult, Waiting } from '../../main/relays/relay-query.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

async function ask(network: FakeNetwork, limit = 500): Promise<{ subscription: string; result: Promise<QueryResult> }> {
  const result = network.connection.query({ limit }, { onEvent: () => undefined, idleTimeoutMs: 30_000 });
  await settle();
  return { subscription: network.socket.subscription, result };
}

/** Time passes until whatever is open has ended. */
async function ending(network: FakeNetwork, result: Promise<QueryResult>) {
  await network.clock.pass(60_000);
  const settled = await result;
  return settled.sent ? settled.outcome : settled.failure;
}

describe('a NOTICE that can only be about the one open query ends it', () => {
  it.each([
    ['invalid: limitation.max_limit 300', { ending: 'notice', refusedLimit: true }],
    ['limit is too large, the maximum is 300', { ending: 'notice', refusedLimit: true }],
    ['Limit too high: Filter limit must be less than or equal to 500', { ending: 'notice', refusedLimit: true }],
    ['ERROR: too many concurrent REQs', { ending: 'notice', tooManyRequests: true }],
    ['Maximum concurrent subscription count reached', { ending: 'notice', tooManyRequests: true }],
    [
      'Too many subscriptions: Number of subscriptions must be less than or equal to 10',
      { ending: 'notice', tooManyRequests: true },
    ],
    ['ERROR: bad req: total filter items too large', { ending: 'notice' }],
    ['could not parse command', { ending: 'notice' }],
    ['rate limited: please wait', { ending: 'rate-limited' }],
    ['error: too fast, slow down please', { ending: 'rate-limited' }],
    ['auth-required: we only serve members', { ending: 'auth-required' }],
  ])('%j', async (text, expected) => {
    const network = new FakeNetwork();
    const { subscription, result } = await ask(network);
    network.socket.says('NOTICE', text);
    await settle();
    expect(await ending(network, result)).toMatchObject({ ...expected, message: text });
    expect(network.socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
  });
});

describe('a NOTICE is not pinned on a query', () => {
  it.each([
    'welcome to our relay',
    'Notes are kept for 90 days',
    'Welcome. Our event size limit is 128 KB.',
    'Welcome. Maximum subscriptions: 20, max limit 500',
    'This relay supports negentropy',
    '',
  ])('when it refuses nothing: %j', async (text) => {
    const network = new FakeNetwork();
    const { result } = await ask(network);
    network.socket.says('NOTICE', text);
    expect(await ending(network, result)).toMatchObject({ ending: 'timeout' });
  });

  it('when the query has been answered already', async () => {
    const network = new FakeNetwork();
    const { subscription, result } = await ask(network);
    network.socket.says('EVENT', subscription, shapedEvent(1));
    network.socket.says('NOTICE', 'error: something failed');
    expect(await ending(network, result)).toMatchObject({ ending: 'timeout', received: 1 });
  });

  it('when two queries could be meant', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const second = await ask(network);
    network.socket.says('NOTICE', 'error: could not read the database');
    network.socket.says('EOSE', second.subscription);
    expect(await ending(network, second.result)).toMatchObject({ ending: 'eose' });
    expect(await ending(network, first.result)).toMatchObject({ ending: 'timeout' });
  });
});

describe('a NOTICE among several open queries', () => {
  it('ends the one that it names', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const second = await ask(network);
    network.socket.says('NOTICE', `error: ${first.subscription}: filter refused`);
    network.socket.says('EOSE', second.subscription);
    expect(await ending(network, first.result)).toMatchObject({ ending: 'notice' });
  });

  it('about too many requests ends the latest, lowers the budget, and what is asked next waits', async () => {
    const network = new FakeNetwork({ requestBudget: 4 });
    const first = await ask(network);
    const second = await ask(network);
    const third = await ask(network);
    network.socket.says('NOTICE', 'too many concurrent REQs');
    await settle();
    expect(await third.result).toMatchObject({ outcome: { ending: 'notice', tooManyRequests: true } });
    expect(network.connection.healthSnapshot()).toMatchObject({ requestBudget: 2, openRequests: 2 });

    const asked = network.socket.verbs('REQ').length;
    const fourth = ask(network);
    network.socket.says('EOSE', first.subscription);
    await network.clock.pass(4_999);
    expect(network.socket.verbs('REQ')).toHaveLength(asked);
    await network.clock.pass(1);
    expect(network.socket.verbs('REQ')).toHaveLength(asked + 1);
    network.socket.says('EOSE', network.socket.subscription);
    expect(await (await fourth).result).toMatchObject({ outcome: { ending: 'eose' } });
    network.socket.says('EOSE', second.subscription);
  });
});

it('a NOTICE about too many requests, while none of ours is unanswered, holds nothing back', async () => {
  const network = new FakeNetwork();
  const { subscription } = await ask(network);
  network.socket.says('EVENT', subscription, shapedEvent(1));
  for (let turn = 0; turn < 20; turn += 1) {
    network.socket.says('NOTICE', 'too many concurrent REQs');
  }
  await ask(network);
  expect(network.socket.verbs('REQ')).toHaveLength(2);
});

it('a query that is answered makes the next refusal of an open request count as the first again', async () => {
  const network = new FakeNetwork();
  const holds: number[] = [];
  for (const answered of [false, true, false]) {
    const query = await ask(network);
    network.socket.says(
      ...(answered ? ['EOSE', query.subscription] : ['CLOSED', query.subscription, 'error: too many concurrent REQs']),
    );
    await query.result;
    const { waitingUntil } = network.connection.healthSnapshot();
    holds.push(waitingUntil === null ? 0 : waitingUntil * 1000 - network.clock.nowMs());
    await network.clock.pass(20_000);
  }
  expect(holds).toEqual([5_000, 0, 5_000]);
});

describe('rate limiting', () => {
  it('stops reading for 65 seconds, tells whoever waits, and shows in the health', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    network.socket.says('CLOSED', first.subscription, 'rate-limited: slow down');
    await first.result;
    const { connection, clock } = network;
    expect(connection.healthSnapshot()).toMatchObject({
      state: 'rate-limited',
      waitingUntil: Math.ceil((clock.nowMs() + 65_000) / 1000),
    });

    const waiting: unknown[] = [];
    const untilMs = clock.nowMs() + 65_000;
    void connection.query({}, { onEvent: () => undefined, onWaiting: (state) => waiting.push(state) });
    await clock.pass(64_999);
    expect(network.socket.verbs('REQ')).toHaveLength(1);
    expect(waiting).toEqual([{ kind: 'rate-limited', untilMs, reason: 'rate limited by the relay' }]);
    await clock.pass(1);
    // The connection had nothing to do for a minute, so this is a new one.
    expect(network.sockets).toHaveLength(2);
    expect(network.socket.verbs('REQ')).toHaveLength(1);
    expect(waiting.at(-1)).toBeNull();
    expect(connection.healthSnapshot().state).toBe('healthy');
  });

  it('by a NOTICE while several queries are open cools down without ending any', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const second = await ask(network);
    network.socket.says('NOTICE', 'you are being rate limited');
    expect(network.connection.healthSnapshot().state).toBe('rate-limited');
    network.socket.says('EOSE', first.subscription);
    network.socket.says('EOSE', second.subscription);
    expect(await first.result).toMatchObject({ outcome: { ending: 'eose' } });
    expect(await second.result).toMatchObject({ outcome: { ending: 'eose' } });
  });

  it('is not prolonged by a NOTICE while nothing of ours is unanswered', async () => {
    const network = new FakeNetwork();
    const { subscription, result } = await ask(network);
    network.socket.says('CLOSED', subscription, 'rate-limited: slow down');
    await result;
    const next = ask(network);
    for (let second = 0; second < 60; second += 5) {
      await network.clock.pass(5_000);
      network.socket.says('NOTICE', 'rate-limited: slow down');
    }
    await network.clock.pass(5_000);
    expect(network.connection.healthSnapshot().state).toBe('healthy');
    expect(network.sockets.flatMap((socket) => socket.verbs('REQ'))).toHaveLength(2);
    network.socket.says('EOSE', network.socket.subscription);
    expect(await (await next).result).toMatchObject({ outcome: { ending: 'eose' } });
  });

  it('that never ends is not waited for longer than half an hour', async () => {
    const network = new FakeNetwork();
    const { connection, clock } = network;
    // Both stay unanswered, so that every complaint may be about either.
    connection.subscribe([{}], { onEvent: () => undefined });
    connection.subscribe([{}], { onEvent: () => undefined });
    await settle();
    network.socket.says('NOTICE', 'rate-limited: slow down');
    const kinds = new Set<unknown>();
    const results: QueryResult[] = [];
    const onWaiting = (waiting: Waiting | null): void => void kinds.add(waiting?.kind);
    void connection.query({}, { onEvent: () => undefined, onWaiting }).then((result) => results.push(result));
    for (let second = 5; second < 30 * 60; second += 5) {
      await clock.pass(5_000);
      network.socket.says('NOTICE', 'rate-limited: slow down');
    }
    expect(results).toEqual([]);
    await clock.pass(5_000);
    expect(results).toMatchObject([{ sent: false, failure: { code: 'rate-limited' } }]);
    expect(kinds).toEqual(new Set(['rate-limited']));
    expect(network.log.length).toBeLessThanOrEqual(20);

    await clock.pass(65_000);
    const later = connection.query({}, { onEvent: () => undefined });
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    expect(await later).toMatchObject({ outcome: { ending: 'eose' } });
  });

  it('of reading does not stop publishing', async () => {
    const network = new FakeNetwork();
    const { subscription, result } = await ask(network);
    network.socket.says('CLOSED', subscription, 'rate-limited: slow down');
    await result;
    void network.connection.publish(shapedEvent(1));
    await settle();
    expect(network.socket.verbs('EVENT')).toHaveLength(1);
  });
});

describe('an AUTH challenge', () => {
  it('is remembered while the connection lasts, and never answered by itself', async () => {
    const network = new FakeNetwork();
    const { result } = await ask(network);
    network.socket.says('AUTH', 'prove it');
    expect(network.connection.authChallenge).toBe('prove it');
    expect(network.socket.verbs('AUTH')).toEqual([]);
    network.socket.ends();
    await result;
    expect(network.connection.authChallenge).toBeNull();
  });
});

describe('the log', () => {
  it('says nothing about what goes as it should', async () => {
    const network = new FakeNetwork();
    const { subscription, result } = await ask(network);
    network.socket.says('NOTICE', 'welcome to the relay');
    network.socket.says('EOSE', subscription);
    await result;
    const session = network.connection.openNegentropy({}, '61', { onMessage: () => null });
    await settle();
    network.socket.says('NOTICE', 'ERROR: NEG-OPEN is not supported here');
    expect(await session).toMatchObject({ outcome: { ending: 'notice' } });
    await network.clock.pass(60_000);
    expect(network.socket.closed).toBe(true);
    await ask(network);
    network.socket.says('EOSE', network.socket.subscription);
    await settle();
    network.socket.ends({ code: 1001, reason: 'bye' });
    expect(network.log).toEqual([]);
  });

  it('names what is out of the ordinary, but not without end', async () => {
    const network = new FakeNetwork();
    await ask(network);
    await ask(network);
    network.socket.says('NOTICE', 'error: could not read the database');
    for (let turn = 0; turn < 100; turn += 1) {
      network.socket.says('BLAH', 'x');
    }
    network.socket.ends({ code: 1011, reason: 'broken' });
    expect(network.log[0]).toContain('says: "error: could not read the database"');
    expect(network.log[1]).toContain('unknown verb BLAH');
    expect(network.log.slice(-2)).toEqual([
      'wss://relay.example says more than is noted here',
      'wss://relay.example The relay closed the connection (1011): broken',
    ]);
    expect(network.log).toHaveLength(21);
  });
});
