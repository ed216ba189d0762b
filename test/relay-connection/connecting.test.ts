import { describe, expect, it } from 'vitest';
import { connectionFailure } from '../../main/relays/connection-failure.ts';
import type { QueryOptions } from '../../main/relays/relay-query.ts';
import { FakeNetwork, settle } from './fake-relay.ts';

function ask(network: FakeNetwork, options: Partial<QueryOptions> = {}) {
  return network.connection.query({ limit: 10 }, { onEvent: () => undefined, ...options });
}

const refused = connectionFailure('refused', 'connect ECONNREFUSED');

describe('connecting', () => {
  it('tries three times with growing delays, then says that nothing was sent', async () => {
    const network = new FakeNetwork();
    network.attempts.push(refused, refused, refused);
    const waits: (number | null)[] = [];
    const startMs = network.clock.nowMs();
    const result = ask(network, {
      onWaiting: (waiting) => waits.push(waiting === null ? null : (waiting.untilMs ?? 0) - startMs),
    });
    await network.clock.pass(4_999);
    expect(network.sockets).toHaveLength(1);
    await network.clock.pass(1);
    expect(network.sockets).toHaveLength(2);
    await network.clock.pass(9_999);
    expect(network.sockets).toHaveLength(2);
    await network.clock.pass(1);
    expect(await result).toEqual({ sent: false, failure: refused });
    expect(waits).toEqual([5_000, 15_000]);
    expect(network.connection.healthSnapshot()).toMatchObject({
      state: 'degraded',
      consecutiveFailures: 3,
      connected: false,
    });
  });

  it('goes on when a later attempt works', async () => {
    const network = new FakeNetwork();
    network.attempts.push(refused);
    const waits: unknown[] = [];
    const result = ask(network, { onWaiting: (waiting) => waits.push(waiting?.kind ?? null) });
    await network.clock.pass(5_000);
    expect(waits).toEqual(['backoff', null]);
    network.socket.says('EOSE', network.socket.subscription);
    expect(await result).toMatchObject({ sent: true, outcome: { ending: 'eose' } });
  });

  it.each(['bad-certificate', 'name-not-resolved', 'not-a-relay'] as const)(
    'tries no more than twice on %s',
    async (code) => {
      const network = new FakeNetwork();
      const failure = connectionFailure(code);
      network.attempts.push(failure, failure, failure);
      const result = ask(network);
      await network.clock.pass(60_000);
      expect(await result).toEqual({ sent: false, failure });
      expect(network.sockets).toHaveLength(2);
    },
  );

  it('gives a handshake five seconds', async () => {
    const network = new FakeNetwork();
    network.attempts.push('hangs');
    const result = ask(network, { connectAttempts: 1 });
    await network.clock.pass(4_999);
    expect(network.socket.terminated).toBeNull();
    await network.clock.pass(1);
    expect(await result).toMatchObject({ sent: false, failure: { code: 'connect-timeout' } });
    expect(network.socket.terminated).not.toBeNull();
  });

  it('ignores a socket that opens after its time was up', async () => {
    const network = new FakeNetwork();
    network.attempts.push('hangs');
    const result = ask(network, { connectAttempts: 1 });
    await network.clock.pass(5_000);
    await result;
    network.socket.handlers.onOpen();
    network.socket.says('AUTH', 'too late');
    expect(network.connection.isConnected).toBe(false);
    expect(network.connection.authChallenge).toBeNull();
  });

  it('does not wait for a backoff that would outlast its patience', async () => {
    const network = new FakeNetwork();
    network.attempts.push(...Array.from({ length: 5 }, () => refused));
    for (let round = 0; round < 5; round += 1) {
      network.connection.retryNow();
      await ask(network, { connectAttempts: 1 });
    }
    const result = await ask(network);
    expect(network.sockets).toHaveLength(5);
    expect(result).toMatchObject({ sent: false, failure: { code: 'refused' } });
    expect(result.sent ? '' : result.failure.message).toMatch(/ECONNREFUSED.*next attempt is due in 1 min/);
  });

  it('shares one attempt among all who wait for it', async () => {
    const network = new FakeNetwork();
    const results = [ask(network), ask(network), ask(network)];
    await settle();
    expect(network.sockets).toHaveLength(1);
    for (const [, subscription] of network.socket.verbs('REQ')) {
      network.socket.says('EOSE', subscription);
    }
    for (const result of results) {
      expect(await result).toMatchObject({ sent: true });
    }
  });

  it('is cancelled while it waits, without anything being sent', async () => {
    const network = new FakeNetwork();
    network.attempts.push(refused);
    const stop = new AbortController();
    const result = ask(network, { signal: stop.signal });
    await settle();
    stop.abort();
    expect(await result).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
    expect(await ask(network, { signal: stop.signal })).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
    await network.clock.pass(60_000);
    expect(network.sockets).toHaveLength(1);
  });

  it('is cancelled while a handshake hangs', async () => {
    const network = new FakeNetwork();
    network.attempts.push('hangs');
    const stop = new AbortController();
    const result = ask(network, { signal: stop.signal });
    await settle();
    stop.abort();
    expect(await result).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
  });

  it('is not disturbed by whoever is told about waiting', async () => {
    const network = new FakeNetwork();
    network.attempts.push(refused);
    const result = ask(network, {
      onWaiting: () => {
        throw new Error('no screen');
      },
    });
    await network.clock.pass(5_000);
    network.socket.says('EOSE', network.socket.subscription);
    expect(await result).toMatchObject({ sent: true });
  });
});

describe('coming back after the connection went away', () => {
  it('waits, and longer each time, until a query is answered again', async () => {
    const network = new FakeNetwork();
    for (const delayMs of [5_000, 10_000, 20_000]) {
      const before = network.sockets.length;
      const result = ask(network);
      await settle();
      network.socket.says('EVENT', network.socket.subscription, null);
      network.socket.ends({ cause: 'lost', code: null, reason: 'reset' });
      await result;
      void ask(network);
      await network.clock.pass(delayMs - 1);
      expect(network.sockets).toHaveLength(Math.max(1, before));
      await network.clock.pass(1);
      expect(network.sockets).toHaveLength(Math.max(1, before) + 1);
    }
    for (const [, subscription] of network.socket.verbs('REQ')) {
      network.socket.says('EOSE', subscription);
    }
    const result = ask(network);
    await settle();
    network.socket.ends({ cause: 'lost', code: null, reason: 'reset' });
    await result;
    expect(network.connection.healthSnapshot().waitingUntil).toBe(Math.ceil((network.clock.nowMs() + 5_000) / 1000));
  });

  it('counts a relay that closes before anything could be sent as failing to connect, and gives up', async () => {
    const network = new FakeNetwork();
    network.attempts.push('opens-and-closes', 'opens-and-closes', 'opens-and-closes');
    const result = ask(network);
    await network.clock.pass(4_999);
    expect(network.sockets).toHaveLength(1);
    await network.clock.pass(60_000);
    expect(await result).toMatchObject({ sent: false, failure: { code: 'closed-early' } });
    expect(network.sockets).toHaveLength(3);
    expect(network.connection.healthSnapshot()).toMatchObject({ state: 'degraded', consecutiveFailures: 3 });
  });

  it('counts a relay that opens and then closes without a word as failing to connect', async () => {
    const network = new FakeNetwork();
    for (let round = 1; round <= 3; round += 1) {
      network.connection.retryNow();
      const result = ask(network);
      await settle();
      network.socket.ends({ code: 1006, reason: '' });
      await result;
      expect(network.connection.healthSnapshot()).toMatchObject({ state: 'degraded', consecutiveFailures: round });
    }
  });
});

describe('a connection that nothing needs', () => {
  it('is closed after a minute, and opened again when something is asked', async () => {
    const network = new FakeNetwork();
    const first = ask(network);
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    await first;
    await network.clock.pass(59_999);
    expect(network.socket.closed).toBe(false);
    await network.clock.pass(1);
    expect(network.socket.closed).toBe(true);
    expect(network.connection.healthSnapshot()).toMatchObject({ state: 'disconnected', consecutiveFailures: 0 });

    const second = ask(network);
    await settle();
    expect(network.sockets).toHaveLength(2);
    network.socket.says('EOSE', network.socket.subscription);
    expect(await second).toMatchObject({ sent: true });
  });

  it('is torn down when the relay does not answer the close', async () => {
    const network = new FakeNetwork();
    const result = ask(network);
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    await result;
    await network.clock.pass(62_000);
    expect(network.socket.terminated).not.toBeNull();
  });

  it('stays open for a bootstrap relay', async () => {
    const network = new FakeNetwork();
    const connection = network.directory.connection('wss://bootstrap.example', { bootstrap: true });
    const result = connection.query({}, { onEvent: () => undefined });
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    await result;
    await network.clock.pass(3_600_000);
    expect(network.socket.closed).toBe(false);
    expect(connection.healthSnapshot().state).toBe('healthy');
  });
});

describe('the directory', () => {
  it('has one connection for every spelling of a relay', () => {
    const { directory } = new FakeNetwork();
    const connection = directory.connection('wss://Relay.Example:443/');
    expect(directory.connection('WSS://relay.example')).toBe(connection);
    expect(directory.connection('wss://relay.example/path')).not.toBe(connection);
    expect(directory.all()).toHaveLength(2);
    expect([connection.key, connection.url]).toEqual(['wss://relay.example', 'wss://Relay.Example:443/']);
  });

  it('refuses what is no relay URL', () => {
    expect(() => new FakeNetwork().directory.connection('https://relay.example')).toThrow(/must begin with wss:/);
  });

  it('tells observers about new hints, once, and not about those of an earlier session', () => {
    const { directory } = new FakeNetwork();
    const seen: unknown[] = [];
    const stop = directory.onDidChangeHints((key, hints) => seen.push([key, hints]));
    directory.preloadHints('wss://relay.example', { observedCap: 500 });
    const connection = directory.connection('wss://relay.example');
    connection.learn({ acceptedLimit: 100 });
    connection.learn({ acceptedLimit: 100 });
    stop();
    connection.learn({ observedCap: 50 });
    expect(seen).toEqual([['wss://relay.example', { observedCap: 500, acceptedLimit: 100, maxLimit: null }]]);
    expect(connection.healthSnapshot().observedCap).toBe(50);
  });

  it('is not disturbed by an observer that throws', async () => {
    const network = new FakeNetwork();
    network.directory.onDidChange(() => {
      throw new Error('broken observer');
    });
    const result = ask(network);
    await settle();
    network.socket.says('EOSE', network.socket.subscription);
    expect(await result).toMatchObject({ sent: true });
  });

  it('opens nothing any more once it is closed, and leaves no timer behind', async () => {
    const network = new FakeNetwork();
    const first = ask(network);
    await settle();
    network.directory.close();
    network.socket.ends();
    await first;
    expect(await ask(network)).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
    const late = network.directory.connection('wss://late.example');
    expect(await late.query({}, { onEvent: () => undefined })).toMatchObject({ sent: false });
    expect(network.sockets).toHaveLength(1);
    expect(network.clock.pending).toBe(0);
  });

  it('gives up a handshake when it is closed, and does not call that a failure of the relay', async () => {
    const network = new FakeNetwork();
    network.attempts.push('hangs');
    const result = ask(network);
    await settle();
    network.directory.close();
    expect(await result).toMatchObject({ sent: false, failure: { code: 'cancelled' } });
    expect(network.connection.healthSnapshot()).toMatchObject({ state: 'disconnected', consecutiveFailures: 0 });
    expect([network.socket.terminated, network.clock.pending]).toEqual(['', 0]);
  });

  it('keeps to the request budget, which a person can change', async () => {
    const network = new FakeNetwork({ requestBudget: 2 });
    const results = Array.from({ length: 5 }, () => ask(network));
    await settle();
    expect(network.socket.verbs('REQ')).toHaveLength(2);
    network.directory.setRequestBudget(3);
    await settle();
    expect(network.socket.verbs('REQ')).toHaveLength(3);
    for (let answered = 0; answered < 5; answered += 1) {
      network.socket.says('EOSE', network.socket.verbs('REQ')[answered]?.[1]);
      await settle();
    }
    expect(await Promise.all(results)).toHaveLength(5);
    expect(network.socket.verbs('REQ')).toHaveLength(5);
  });
});
