import { afterEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { alice, bob, buildEvent, buildHistory, implausibleTimes } from './event-builder.ts';
import { RawClient } from './raw-client.ts';
import { ScriptedRelay } from './scripted-relay.ts';
import type { ScriptedRelayOptions } from './scripted-relay.ts';

const start = 1_700_000_000;
const history = buildHistory({ count: 30, from: start, to: start + 290, kinds: [1, 7] });
const newestFirst = [...history].reverse();

const opened: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function relayWith(options: ScriptedRelayOptions): Promise<{ relay: ScriptedRelay; client: RawClient }> {
  const relay = await ScriptedRelay.start(options);
  opened.push({ close: () => relay.stop() });
  const client = await RawClient.open(relay.url);
  opened.push(client);
  return { relay, client };
}

function idsOf(events: readonly SignedEvent[]): string[] {
  return events.map((event) => event.id);
}

describe('a scripted relay without behaviours', () => {
  it('answers newest first, ties by the lowest ID, within the limit', async () => {
    const tied = ['a', 'b', 'c', 'd'].map((content) => buildEvent({ createdAt: start + 500, content }));
    const { client } = await relayWith({ events: [...history, ...tied] });
    const { events, ending } = await client.request('x', { limit: 6 });
    const expected = [...idsOf(tied).sort(), ...idsOf(newestFirst).slice(0, 2)];
    expect(idsOf(events)).toEqual(expected);
    expect(ending).toEqual(['EOSE', 'x']);
  });

  it('applies ids, authors, kinds, tags, since and until, both ends inclusive', async () => {
    const tagged = buildEvent({ author: bob, createdAt: start + 1, tags: [['t', 'bread'], ['e', 'f'.repeat(64)]] }); // prettier-ignore
    const { client } = await relayWith({ events: [...history, tagged] });
    const ask = async (...filters: unknown[]): Promise<string[]> =>
      idsOf((await client.request('x', ...filters)).events);
    const [oldest, second] = history;

    expect(await ask({ ids: [tagged.id, oldest?.id] })).toEqual([tagged.id, oldest?.id]);
    expect(await ask({ authors: [bob.pubkey] })).toEqual([tagged.id]);
    expect(await ask({ kinds: [7], authors: [alice.pubkey] })).toHaveLength(15);
    expect(await ask({ '#t': ['cake', 'bread'] })).toEqual([tagged.id]);
    expect(await ask({ '#t': ['bread'], '#e': ['0'] })).toEqual([]);
    expect(await ask({ since: start, until: start + 10, authors: [alice.pubkey] })).toEqual([second?.id, oldest?.id]);
    expect(await ask({ ids: [] })).toEqual([]);
    expect(await ask({ limit: 0 })).toEqual([]);
  });

  it('unites several filters, each with its own limit, without repeats', async () => {
    const { client } = await relayWith({ events: history });
    const { events } = await client.request('x', { limit: 3 }, { kinds: [1], limit: 3 });
    const ofKindOne = newestFirst.filter((event) => event.kind === 1).slice(0, 3);
    const expected = newestFirst.filter((event) => newestFirst.indexOf(event) < 3 || ofKindOne.includes(event));
    expect(idsOf(events)).toEqual(idsOf(expected));
  });

  it('keeps a subscription live until CLOSE', async () => {
    const { relay, client } = await relayWith({ events: history });
    await client.request('live', { authors: [bob.pubkey] });
    const first = buildEvent({ author: bob, content: 'first' });
    relay.publish(first);
    expect(await client.next()).toEqual(['EVENT', 'live', first]);
    client.send('CLOSE', 'live');
    await relay.log.waitForReceived('CLOSE');
    relay.publish(buildEvent({ author: bob, content: 'second' }));
    expect((await client.request('x', { limit: 0 })).ending).toEqual(['EOSE', 'x']);
    expect(client.frames).toHaveLength(3);
  });

  it('stores what is published and valid, tells duplicates, and keeps the newest replaceable version', async () => {
    const { relay, client } = await relayWith({});
    const publish = async (event: SignedEvent): Promise<unknown[]> => {
      client.send('EVENT', event);
      return client.next('OK');
    };
    const note = buildEvent();
    expect(await publish(note)).toEqual(['OK', note.id, true, '']);
    expect(await publish(note)).toEqual(['OK', note.id, true, expect.stringMatching(/^duplicate:/)]);
    expect(await publish({ ...note, content: 'forged' })).toEqual(['OK', note.id, false, expect.stringMatching(/^invalid:/)]); // prettier-ignore

    const newer = buildEvent({ kind: 0, createdAt: start + 2, content: '{"name":"newer"}' });
    const older = buildEvent({ kind: 0, createdAt: start + 1, content: '{"name":"older"}' });
    await publish(older);
    await publish(newer);
    expect((await publish(older))[2]).toBe(false);
    expect(idsOf((await client.request('x', { kinds: [0] })).events)).toEqual([newer.id]);
    expect(relay.store.size).toBe(2);
  });

  it('refuses filters that are none, and says so to the subscription', async () => {
    const { client } = await relayWith({});
    for (const filter of [{ ids: ['short'] }, { limit: -1 }, { since: 'today' }, [], null]) {
      expect((await client.request('x', filter)).ending).toEqual(['CLOSED', 'x', expect.stringMatching(/^invalid:/)]);
    }
    client.sendText('not JSON');
    expect((await client.next())[0]).toBe('NOTICE');
  });

  it('gives a NIP-11 document', async () => {
    const { relay } = await relayWith({ information: { limitation: { max_limit: 7 } } });
    const response = await fetch(relay.url.replace('ws', 'http'), { headers: { accept: 'application/nostr+json' } });
    expect(await response.json()).toMatchObject({ supported_nips: [1, 11], limitation: { max_limit: 7 } });
  });

  it('gives NIP-67 hints where asked to', async () => {
    const { client } = await relayWith({ events: history, eoseHints: true });
    expect((await client.request('x', { limit: 29 })).ending).toEqual(['EOSE', 'x', ['more']]);
    expect((await client.request('x', { limit: 30 })).ending).toEqual(['EOSE', 'x', ['finish']]);
  });

  it('hands NIP-77 sessions to the responder, over the items that match in rising order', async () => {
    const seen: unknown[] = [];
    const { client } = await relayWith({
      events: history,
      negentropy: {
        open(items) {
          seen.push(items);
          return {
            respond(message) {
              if (message === 'ff') throw new Error('not a message');
              return `${message}01`;
            },
          };
        },
      },
    });
    client.send('NEG-OPEN', 'n', { kinds: [7], since: start + 270 }, '61');
    expect(await client.next()).toEqual(['NEG-MSG', 'n', '6101']);
    const [first, second] = history.filter((event) => event.kind === 7 && event.created_at >= start + 270);
    expect(seen).toEqual([[first, second].map((event) => ({ createdAt: event?.created_at, id: event?.id }))]);
    client.send('NEG-MSG', 'n', 'ff');
    expect(await client.next()).toEqual(['NEG-ERR', 'n', 'invalid: not a message']);
    client.send('NEG-MSG', 'n', '61');
    expect((await client.next()).slice(0, 2)).toEqual(['NEG-ERR', 'n']);
  });

  it('records exactly what was asked, in order over all connections', async () => {
    const { relay, client } = await relayWith({ events: history });
    const other = await RawClient.open(relay.url);
    opened.push(other);
    await client.request('a', { limit: 2, until: start });
    await other.request('b', { kinds: [1] }, { kinds: [7], limit: 1 });
    expect(relay.requests()).toEqual([{ limit: 2, until: start }, { kinds: [1] }, { kinds: [7], limit: 1 }]);
    const indices = relay.log.entries.map((entry) => entry.index);
    expect(indices).toEqual(indices.map((_, position) => position));
    expect(relay.recordedRequests().map(({ connection, subscription }) => [connection, subscription])).toEqual([[1, 'a'], [2, 'b']]); // prettier-ignore
    expect(relay.log.sent('EOSE')).toHaveLength(2);
  });

  it('goes down and comes back on the same port', async () => {
    const { relay, client } = await relayWith({ events: history });
    const { url } = relay;
    await relay.stop();
    await client.closed;
    await expect(RawClient.open(url)).rejects.toThrow(/ECONNREFUSED/);
    await relay.listen();
    expect(relay.url).toBe(url);
    const again = await RawClient.open(url);
    opened.push(again);
    expect((await again.request('x', { limit: 1 })).events).toHaveLength(1);
  });

  it('keeps validly signed events at implausible times', async () => {
    const odd = implausibleTimes(start);
    const { client } = await relayWith({ events: odd });
    const { events } = await client.request('x', {});
    expect(events.map((event) => event.created_at)).toEqual(odd.map((event) => event.created_at).sort((a, b) => b - a));
  });
});
