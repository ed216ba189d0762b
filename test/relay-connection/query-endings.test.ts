import { describe, expect, it, vi } from 'vitest';
import type { QueryOptions, QueryResult } from '../../main/relays/relay-query.ts';
import { FakeNetwork, settle, shapedEvent } from './fake-relay.ts';

async function ask(network: FakeNetwork, options: Partial<QueryOptions> = {}): Promise<Promise<QueryResult>[]> {
  const result = network.connection.query(
    { authors: ['a'.repeat(64)], limit: 100 },
    { onEvent: () => undefined, ...options },
  );
  await settle();
  return [result];
}

async function outcomeOf(result: Promise<QueryResult> | undefined) {
  const settled = await result;
  if (settled?.sent !== true) {
    throw new Error(`not sent: ${JSON.stringify(settled)}`);
  }
  return settled.outcome;
}

describe('a query ends in exactly one way', () => {
  it('eose: delivers the events, counts them, and gives the subscription back', async () => {
    const network = new FakeNetwork();
    const onEvent = vi.fn();
    const [result] = await ask(network, { onEvent });
    const { socket } = network;
    expect(socket.sent).toEqual([['REQ', socket.subscription, { authors: ['a'.repeat(64)], limit: 100 }]]);

    socket.says('EVENT', socket.subscription, shapedEvent(1));
    socket.says('EVENT', socket.subscription, { id: 'nonsense' });
    network.clock.advance(1_500);
    socket.says('EOSE', socket.subscription);

    const outcome = await outcomeOf(result);
    expect(outcome).toMatchObject({ ending: 'eose', message: null, received: 2, malformed: 1 });
    expect(outcome.completedAtMs - outcome.sentAtMs).toBe(1_500);
    expect(onEvent.mock.calls).toEqual([[shapedEvent(1)]]);
    expect(socket.verbs('CLOSE')).toEqual([['CLOSE', socket.subscription]]);
  });

  it.each([
    [['finish'], 'eose-finish'],
    [['more'], 'eose-more'],
    [['something-new', 'more'], 'eose-more'],
    [['finish', 'more'], 'eose'],
    ['finish', 'eose'],
    [[], 'eose'],
  ])('EOSE with the hint %j ends as %s', async (hint, ending) => {
    const network = new FakeNetwork();
    const [result] = await ask(network);
    network.socket.says('EOSE', network.socket.subscription, hint);
    expect((await outcomeOf(result)).ending).toBe(ending);
  });
});
