import { describe, expect, it } from 'vitest';
import type { NegentropyHandlers } from '../../main/relays/open-negentropy.ts';
import type { NegentropyOutcome } from '../../main/relays/relay-query.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';
import { NEGENTROPY_REFUSALS } from '../relays/behaviours/reconciliation.ts';

async function open(network: FakeNetwork, onMessage: NegentropyHandlers['onMessage'] = () => null) {
  const result = network.connection.openNegentropy({ kinds: [1] }, '61aa', { onMessage }, { idleTimeoutMs: 30_000 });
  await settle();
  const { subscription } = network.socket;
  return {
    subscription,
    outcome: async (): Promise<NegentropyOutcome> => {
      const settled = await result;
      if (!settled.sent) {
        throw new Error(settled.failure.message);
      }
      return settled.outcome;
    },
  };
}

describe('a NEG session', () => {
  it('exchanges messages until we are done, then closes', async () => {
    const network = new FakeNetwork();
    const seen: string[] = [];
    const { subscription, outcome } = await open(network, async (messageHex) => {
      seen.push(messageHex);
      return seen.length < 2 ? '61bb' : null;
    });
    expect(network.socket.sent).toEqual([['NEG-OPEN', subscription, { kinds: [1] }, '61aa']]);
    network.socket.says('NEG-MSG', subscription, '6101');
    await settle();
    network.socket.says('NEG-MSG', subscription, '610203');
    expect(await outcome()).toMatchObject({ ending: 'neg-complete', rounds: 2, bytes: 2 + 2 + 2 + 3, negErr: null });
    expect(seen).toEqual(['6101', '610203']);
    expect(network.socket.sent.slice(1)).toEqual([
      ['NEG-MSG', subscription, '61bb'],
      ['NEG-CLOSE', subscription],
    ]);
  });

  it('takes nothing but its own messages for progress', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network);
    for (let second = 0; second < 6; second += 1) {
      await network.clock.pass(5_000);
      network.socket.says('NOTICE', 'hello');
      network.socket.says('EVENT', subscription, shapedEvent(1));
      network.socket.says('EOSE', subscription);
      network.socket.says('NEG-MSG', 'another', '61');
    }
    expect(await outcome()).toMatchObject({ ending: 'timeout', rounds: 0 });
    expect(network.socket.verbs('NEG-CLOSE')).toEqual([['NEG-CLOSE', subscription]]);
  });

  it('does not count the time that we take to answer', async () => {
    const network = new FakeNetwork();
    let answer = (_next: string | null): void => undefined;
    const { subscription, outcome } = await open(network, () => new Promise((resolve) => (answer = resolve)));
    network.socket.says('NEG-MSG', subscription, '61');
    await network.clock.pass(120_000);
    answer('62');
    await network.clock.pass(29_999);
    network.socket.says('NEG-MSG', subscription, '63');
    await settle();
    answer(null);
    expect((await outcome()).ending).toBe('neg-complete');
  });

  it('keeps all elements of NEG-ERR, and its maximum', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network);
    network.socket.says('NEG-ERR', subscription, 'blocked: too many query results', 500_000);
    expect(await outcome()).toMatchObject({
      ending: 'neg-err',
      message: 'blocked: too many query results',
      negErr: {
        reason: { prefix: 'blocked' },
        maximum: 500_000,
        elements: ['NEG-ERR', subscription, 'blocked: too many query results', 500_000],
      },
    });
  });

  it.each(['1000', -1, 1.5, null, undefined, {}])('knows no maximum from %j', async (fourth) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network);
    network.socket.says('NEG-ERR', subscription, 'closed: took too long', fourth);
    expect(await outcome()).toMatchObject({ ending: 'neg-err', negErr: { maximum: null } });
  });

  it.each(NEGENTROPY_REFUSALS)('is refused by the NOTICE %j', async (text) => {
    const network = new FakeNetwork();
    const { outcome } = await open(network);
    network.socket.says('NOTICE', text);
    expect(await outcome()).toMatchObject({ ending: 'notice', message: text });
  });

  it('is what a refusal of an unknown command is about, whatever else is open', async () => {
    const network = new FakeNetwork();
    const query = network.connection.query({}, { onEvent: () => undefined });
    await settle();
    const querySubscription = network.socket.subscription;
    const { outcome } = await open(network);
    network.socket.says('NOTICE', 'ERROR: bad msg: unknown cmd');
    expect((await outcome()).ending).toBe('notice');
    network.socket.says('EOSE', querySubscription);
    expect(await query).toMatchObject({ outcome: { ending: 'eose' } });
  });

  it.each(['Welcome! This relay supports negentropy.', 'info: NIP-77 is here'])(
    'is not refused by a NOTICE that mentions it: %j',
    async (text) => {
      const network = new FakeNetwork();
      const { outcome } = await open(network);
      network.socket.says('NOTICE', text);
      await network.clock.pass(30_000);
      expect(await outcome()).toMatchObject({ ending: 'timeout' });
    },
  );

  it('is not ended by a NOTICE once it is under way', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network, (message) => (message === '61' ? '62' : null));
    network.socket.says('NEG-MSG', subscription, '61');
    await settle();
    network.socket.says('NOTICE', 'negentropy is slow today');
    network.socket.says('NEG-MSG', subscription, '63');
    expect((await outcome()).ending).toBe('neg-complete');
  });

  it.each([
    ['auth-required: log in', 'auth-required'],
    ['rate-limited: later', 'rate-limited'],
    ['error: negentropy disabled', 'closed'],
  ])('is closed by %j as %s', async (words, ending) => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network);
    network.socket.says('CLOSED', subscription, words);
    expect(await outcome()).toMatchObject({ ending, message: words });
  });

  it('fails when our side cannot use a message', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network, () => {
      throw new Error('unknown protocol version');
    });
    network.socket.says('NEG-MSG', subscription, 'zz');
    const ended = await outcome();
    expect(ended.ending).toBe('failed');
    expect(ended.message).toContain('unknown protocol version');
    expect(network.socket.verbs('NEG-CLOSE')).toEqual([['NEG-CLOSE', subscription]]);
  });

  it('fails when the relay talks out of turn', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network, () => new Promise(() => undefined));
    network.socket.says('NEG-MSG', subscription, '61');
    network.socket.says('NEG-MSG', subscription, '61');
    expect((await outcome()).ending).toBe('failed');
  });

  it('ends after ten minutes, however many rounds it had', async () => {
    const network = new FakeNetwork();
    const { subscription, outcome } = await open(network, () => '62');
    for (let round = 0; round < 59; round += 1) {
      await network.clock.pass(10_000);
      network.socket.says('NEG-MSG', subscription, '61');
    }
    await network.clock.pass(9_999);
    expect(network.socket.verbs('NEG-CLOSE')).toEqual([]);
    await network.clock.pass(1);
    expect(await outcome()).toMatchObject({
      ending: 'timeout',
      rounds: 59,
      message: 'The relay did not come to an end in 600 seconds',
    });
  });

  it('is cancelled with the words of whoever cancelled it', async () => {
    const network = new FakeNetwork();
    const stop = new AbortController();
    const session = network.connection.openNegentropy({}, '61', { onMessage: () => null }, { signal: stop.signal });
    await settle();
    stop.abort(new Error('The disk is full'));
    expect(await session).toMatchObject({ outcome: { ending: 'cancelled', message: 'The disk is full' } });
  });

  it('ends with the connection', async () => {
    const network = new FakeNetwork();
    const { outcome } = await open(network);
    network.socket.ends();
    expect((await outcome()).ending).toBe('disconnect');
  });
});
