import { nip77 } from 'nostr-tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alice, bob, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { RawClient } from '../relays/raw-client.ts';
import { interopPython, startInteropRelay } from './interop-relay.ts';
import type { InteropRelay } from './interop-relay.ts';

const found = interopPython();
const python = 'python' in found ? found.python : null;
const title = 'skipped' in found ? `a foreign relay (skipped: ${found.skipped})` : 'a foreign relay';

describe.skipIf(python === null)(title, () => {
  const history = buildHistory({ count: 1200, from: 1_600_000_000, to: 1_700_000_000, perSecond: 2, kinds: [1, 7] });
  let relay: InteropRelay;
  let client: RawClient;

  beforeAll(async () => {
    relay = await startInteropRelay(python ?? '');
    await relay.preload(history);
    client = await RawClient.open(relay.url);
  });
  afterAll(async () => {
    client.close();
    await relay.close();
  });

  it('pages by inclusive until, newest first, and caps pages at 500 without saying so', async () => {
    const first = await client.request('x', { authors: [alice.pubkey], limit: 1000 });
    expect(first.events).toHaveLength(500);
    expect(first.ending).toEqual(['EOSE', 'x']);
    const times = first.events.map((event) => event.created_at);
    expect(times).toEqual([...times].sort((a, b) => b - a));

    const seen = new Set<string>();
    for (let until = 1_700_000_000, before = -1; seen.size > before;) {
      before = seen.size;
      const { events } = await client.request('x', { authors: [alice.pubkey], until, limit: 100 });
      for (const event of events) seen.add(event.id);
      until = events.at(-1)?.created_at ?? 0;
    }
    expect(seen).toEqual(new Set(history.map((event) => event.id)));
  });

  it('stores what is published and refuses what is forged', async () => {
    const note = buildEvent({ author: bob, content: 'quotes " \\ and \u2028 and 🥖' });
    client.send('EVENT', note);
    expect((await client.next('OK')).slice(0, 3)).toEqual(['OK', note.id, true]);
    client.send('EVENT', { ...note, content: 'forged' });
    expect((await client.next('OK', 'NOTICE'))[2]).not.toBe(true);
    expect((await client.request('y', { authors: [bob.pubkey] })).events).toEqual([note]);
  });

  it('answers NEG-OPEN over more items than a page can carry', async () => {
    const own = new nip77.NegentropyStorageVector();
    const missing = new Set(history.slice(100, 110).map((event) => event.id));
    for (const event of history) if (!missing.has(event.id)) own.insert(event.created_at, event.id);
    const extra = buildEvent({ createdAt: 1_650_000_000, content: 'not there' });
    own.insert(extra.created_at, extra.id);
    own.seal();
    const negentropy = new nip77.Negentropy(own);
    const have: string[] = [];
    const need: string[] = [];
    client.send('NEG-OPEN', 'n', { authors: [alice.pubkey] }, negentropy.initiate());
    for (let message: string | null = ''; message !== null;) {
      const [type, , answer] = await client.next('NEG-MSG', 'NEG-ERR', 'NOTICE');
      expect(type).toBe('NEG-MSG');
      message = negentropy.reconcile(String(answer), (id) => have.push(id), (id) => need.push(id)); // prettier-ignore
      if (message !== null) client.send('NEG-MSG', 'n', message);
    }
    expect(new Set(need)).toEqual(missing);
    expect(have).toEqual([extra.id]);
  });
});
