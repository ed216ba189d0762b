import { describe, expect, it, vi } from 'vitest';
import type { QueryOptions, QueryOutcome, QueryResult } from '../../main/relays/relay-query.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

interface Asked {
  subscription: string;
  outcome: () => Promise<QueryOutcome>;
}

/** Asks and waits until the REQ is out. */
async function ask(network: FakeNetwork, options: Partial<QueryOptions> = {}, limit = 100): Promise<Asked> {
  const result: Promise<QueryResult> = network.connection.query({ limit }, { onEvent: () => undefined, ...options });
  await settle();
  return {
    subscription: network.socket.subscription,
    outcome: async () => {
      const settled = await result;
      if (!settled.sent) {
        throw new Error(`not sent: ${settled.failure.message}`);
      }
      return settled.outcome;
    },
  };
}

describe('a query that the relay finishes', () => {
  it('delivers the events, counts them, and gives the subscription back', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const { subscription, outcome } = await ask(network, { onEvent });
    const { socket } = network;
    expect(socket.sent).toEqual([['REQ', subscription, { limit: 100 }]]);

    socket.says('EVENT', subscription, shapedEvent(1));
    socket.says('EVENT', subscription, { id: 'nonsense' });
    network.clock.advance(1_500);
    socket.says('EOSE', subscription);

    const ended = await outcome();
    expect(ended).toMatchObject({ ending: 'eose', message: null, received: 2, malformed: 1 });
    expect(ended.completedAtMs - ended.sentAtMs).toBe(1_500);
    expect(ended.bytes).toBeGreaterThan(300);
    expect(onEvent.mock.calls).toEqual([[shapedEvent(1)]]);
    expect(socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
  });

  it.each([
    [['finish'], 'eose-finish'],
    [['more'], 'eose-more'],
    [['something-new', 'more'], 'eose-more'],
    [['finish', 'more'], 'eose'],
    ['finish', 'eose'],
    [[], 'eose'],
    [{ finish: true }, 'eose'],
  ])('takes the NIP-67 hint %j as %s', async (hint, ending) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.says('EOSE', subscription, hint);
    expect((await outcome()).ending).toBe(ending);
  });

  it('ignores frames that come after the end, and frames of subscriptions that were never asked for', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const { subscription, outcome } = await ask(network, { onEvent });
    network.socket.says('EVENT', 'somebody-else', shapedEvent(1));
    network.socket.says('EOSE', 'somebody-else');
    network.socket.says('EOSE', subscription);
    const ended = await outcome();
    network.socket.says('EVENT', subscription, shapedEvent(2));
    network.socket.says('CLOSED', subscription, 'error: late');
    expect(onEvent).not.toHaveBeenCalled();
    expect(ended).toMatchObject({ ending: 'eose', received: 0 });
  });

  it('never uses a subscription ID twice', async () => {
    const network = new FakeNetwork();
    const seen = new Set<string>();
    for (let round = 0; round < 5; round += 1) {
      const { subscription, outcome } = await ask(network);
      seen.add(subscription);
      network.socket.says('EOSE', subscription);
      await outcome();
    }
    expect(seen.size).toBe(5);
    expect(Math.max(...[...seen].map((id) => id.length))).toBeLessThanOrEqual(64);
  });
});

describe('a query that the relay refuses by CLOSED', () => {
  it.each([
    ['auth-required: members only', 'auth-required'],
    ['restricted: not for you', 'closed'],
    ['rate-limited: slow down', 'rate-limited'],
    ['error: shutting down', 'closed'],
    ['', 'closed'],
    ['whatever', 'closed'],
  ])('%j ends as %s with the words kept, and no CLOSE is sent', async (words, ending) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.says('EVENT', subscription, shapedEvent(1));
    network.socket.says('CLOSED', subscription, words);
    expect(await outcome()).toMatchObject({ ending, message: words, received: 1 });
    expect(network.socket.verbs('CLOSE')).toEqual([]);
  });

  it('says so when the limit was too large', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.says('CLOSED', subscription, 'invalid: limit must be at most 50');
    expect(await outcome()).toMatchObject({ ending: 'closed', refusedLimit: true });
  });

  it('says so when too many requests were open', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.says('CLOSED', subscription, 'error: too many concurrent REQs');
    expect(await outcome()).toMatchObject({ ending: 'closed', tooManyRequests: true });
  });
});

describe('a query that nobody answers', () => {
  it('times out after silence, keeps what came, and tells the relay', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const { subscription, outcome } = await ask(network, { onEvent, idleTimeoutMs: 30_000 });
    await network.clock.pass(20_000);
    network.socket.says('EVENT', subscription, shapedEvent(1));
    await network.clock.pass(29_999);
    expect(network.socket.verbs('CLOSE')).toEqual([]);
    await network.clock.pass(1);
    expect(await outcome()).toMatchObject({ ending: 'timeout', received: 1 });
    expect(onEvent).toHaveBeenCalledTimes(1);
    expect(network.socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
  });

  it('takes only events that it has not had yet for progress', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network, { idleTimeoutMs: 30_000 });
    for (let second = 0; second < 6; second += 1) {
      await network.clock.pass(5_000);
      network.socket.says('EVENT', subscription, shapedEvent(0));
      network.socket.says('EVENT', subscription, { no: 'event' });
      network.socket.says('NEG-MSG', subscription, '61');
    }
    await network.clock.pass(4_999);
    expect(network.socket.verbs('CLOSE')).toEqual([]);
    await network.clock.pass(1);
    expect(await outcome()).toMatchObject({ ending: 'timeout', message: 'Nothing new for this query in 30 seconds' });
  });

  it('ends after ten minutes, however much still comes', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    for (let index = 0; index < 59; index += 1) {
      await network.clock.pass(10_000);
      network.socket.says('EVENT', subscription, shapedEvent(index));
    }
    await network.clock.pass(9_999);
    expect(network.socket.verbs('CLOSE')).toEqual([]);
    await network.clock.pass(1);
    expect(await outcome()).toMatchObject({
      ending: 'timeout',
      received: 59,
      message: 'The relay did not come to an end in 600 seconds',
    });
  });

  it('ends after the time that it was given', async () => {
    const network = new FakeNetwork();
    const { outcome } = await ask(network, { totalTimeoutMs: 1_000 });
    await network.clock.pass(1_000);
    expect((await outcome()).ending).toBe('timeout');
    expect(network.clock.pending).toBeLessThanOrEqual(1);
  });

  it('does not take other chatter for progress', async () => {
    const network = new FakeNetwork();
    const { outcome } = await ask(network, { idleTimeoutMs: 30_000 });
    for (let second = 0; second < 6; second += 1) {
      await network.clock.pass(5_000);
      network.socket.says('NOTICE', 'welcome to the relay');
      network.socket.says('EVENT', 'another', shapedEvent(second));
      network.socket.says('OK', 'f'.repeat(64), true, '');
      network.socket.handlers.onText('{"not":"a frame"}', 17);
      network.socket.handlers.onBinary(3);
    }
    expect(await outcome()).toMatchObject({ ending: 'timeout', received: 0 });
  });
});

describe('a query whose connection goes away', () => {
  it('ends as disconnect with the close code and the words of the relay', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network);
    network.socket.says('EVENT', subscription, shapedEvent(1));
    network.socket.ends({ code: 1012, reason: 'restarting' });
    const ended = await outcome();
    expect(ended).toMatchObject({ ending: 'disconnect', received: 1 });
    expect(ended.message).toContain('1012');
    expect(ended.message).toContain('restarting');
  });

  it('ends as rate-limited when the relay closes because of speed', async () => {
    const network = new FakeNetwork();
    const { outcome } = await ask(network);
    network.socket.ends({ code: 1008, reason: 'rate limit exceeded' });
    expect((await outcome()).ending).toBe('rate-limited');
    expect(network.connection.healthSnapshot().state).toBe('rate-limited');
  });

  it('ends every open query when a frame exceeds the size limit, as failed with the reason', async () => {
    const network = new FakeNetwork();
    const first = await ask(network);
    const second = await ask(network);
    network.socket.ends({ cause: 'frame-too-large', code: null, reason: 'a frame of more than 100 bytes' });
    for (const query of [first, second]) {
      expect(await query.outcome()).toMatchObject({ ending: 'failed', message: 'a frame of more than 100 bytes' });
    }
  });

  it('is found out by a ping when the socket is only half open', async () => {
    const network = new FakeNetwork();
    const { outcome } = await ask(network, { idleTimeoutMs: 300_000 });
    network.socket.answersPings = false;
    await network.clock.pass(10_000);
    expect(network.socket.pings).toBe(1);
    await network.clock.pass(10_000);
    expect(await outcome()).toMatchObject({ ending: 'disconnect', message: 'The connection showed no sign of life' });
    expect(network.socket.terminated).not.toBeNull();
  });

  it('survives long silence of a relay that answers pings', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network, { idleTimeoutMs: 300_000 });
    await network.clock.pass(200_000);
    expect(network.socket.pings).toBeGreaterThan(5);
    network.socket.says('EOSE', subscription);
    expect((await outcome()).ending).toBe('eose');
  });
});

describe('a query that we end', () => {
  it('is cancelled by its signal, and the relay is told', async () => {
    const network = new FakeNetwork();
    const stop = new AbortController();
    const { subscription, outcome } = await ask(network, { signal: stop.signal });
    stop.abort();
    expect((await outcome()).ending).toBe('cancelled');
    expect(network.socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
  });

  it('is cancelled with the words of whoever cancelled it', async () => {
    const network = new FakeNetwork();
    const stop = new AbortController();
    const { outcome } = await ask(network, { signal: stop.signal });
    const plain = new AbortController();
    const other = await ask(network, { signal: plain.signal });
    stop.abort(new Error('The disk is full'));
    plain.abort();
    expect(await outcome()).toMatchObject({ ending: 'cancelled', message: 'The disk is full' });
    expect(await other.outcome()).toMatchObject({ ending: 'cancelled', message: 'Cancelled' });
    expect(await network.connection.query({}, { onEvent: () => undefined, signal: stop.signal })).toMatchObject({
      sent: false,
      failure: { code: 'cancelled', message: 'Cancelled before anything was sent: The disk is full' },
    });
  });

  it('is cancelled when the directory closes', async () => {
    const network = new FakeNetwork();
    const { outcome } = await ask(network);
    network.directory.close();
    expect((await outcome()).ending).toBe('cancelled');
    expect(network.socket.closed).toBe(true);
  });

  it('fails when more events come than may, without handing the excess on', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const { subscription, outcome } = await ask(network, { onEvent, maxEvents: 3 });
    for (let index = 0; index < 6; index += 1) {
      network.socket.says('EVENT', subscription, shapedEvent(index));
    }
    const ended = await outcome();
    expect(ended).toMatchObject({ ending: 'failed', received: 4 });
    expect(ended.message).toContain('3 events');
    expect(onEvent).toHaveBeenCalledTimes(3);
    expect(network.socket.verbs('CLOSE')).toEqual([['CLOSE', subscription]]);
  });

  it.each([
    [100, 1_000],
    [1_000, 5_000],
  ])('allows five times the limit of %i by default, and at least a thousand', async (limit, most) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network, {}, limit);
    for (let index = 0; index < most; index += 1) {
      network.socket.says('EVENT', subscription, shapedEvent(index));
    }
    network.socket.says('EVENT', subscription, shapedEvent(most));
    expect(await outcome()).toMatchObject({ ending: 'failed', received: most + 1 });
  });

  it('counts malformed events against the limit too', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network, { maxEvents: 2 });
    for (let index = 0; index < 3; index += 1) {
      network.socket.says('EVENT', subscription, null);
    }
    expect(await outcome()).toMatchObject({ ending: 'failed', malformed: 3 });
  });

  it('fails when more bytes come than may', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await ask(network, { maxBytes: 1_000 });
    network.socket.says('EVENT', subscription, shapedEvent(1, { content: 'x'.repeat(2_000) }));
    const ended = await outcome();
    expect(ended.ending).toBe('failed');
    expect(ended.message).toContain('1000 bytes');
  });

  it('fails when the handler of events throws, and other queries go on', async () => {
    const network = new FakeNetwork();
    const bad = await ask(network, {
      onEvent: () => {
        throw new Error('disk full');
      },
    });
    const good = await ask(network);
    network.socket.says('EVENT', bad.subscription, shapedEvent(1));
    network.socket.says('EOSE', good.subscription);
    const ended = await bad.outcome();
    expect(ended.ending).toBe('failed');
    expect(ended.message).toContain('disk full');
    expect((await good.outcome()).ending).toBe('eose');
  });
});
