import { createServer } from 'node:net';
import { decode } from 'nostr-tools/nip19';
import { afterEach, describe, expect, it } from 'vitest';
import { readRelayList } from '../../main/accounts/relay-list.ts';
import { startDemo } from '../../main/demo/demo.ts';
import type { Demo } from '../../main/demo/demo.ts';
import { createEventCheck } from '../../main/demo/published-event.ts';
import { sampleHistory } from '../../main/demo/sample-history.ts';
import { systemClock } from '../../main/platform/clock.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { RawClient } from '../relays/raw-client.ts';

const noon = Date.UTC(2026, 4, 20, 12) / 1000;
const running: Demo[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((demo) => demo.close()));
});

async function demoAt(seconds: number): Promise<Demo> {
  const demo = await startDemo({ clock: { ...systemClock, nowMs: () => seconds * 1000 } });
  running.push(demo);
  return demo;
}

/** Pages through everything a relay gives, with inclusive `until`. */
async function readAll(url: string): Promise<{ events: Map<string, SignedEvent>; largestPage: number }> {
  const client = await RawClient.open(url);
  const events = new Map<string, SignedEvent>();
  let largestPage = 0;
  for (let until = noon * 2, news = true; news;) {
    const { events: page } = await client.request('page', { until, limit: 200 });
    largestPage = Math.max(largestPage, page.length);
    news = page.some((event) => !events.has(event.id));
    for (const event of page) events.set(event.id, event);
    until = page.at(-1)?.created_at ?? 0;
  }
  client.close();
  return { events, largestPage };
}

describe('the demo', () => {
  it('gives three relays different parts of one validly signed history of about four years', async () => {
    const demo = await demoAt(noon);
    const [a, b, c] = await Promise.all(demo.relays.map(({ url }) => readAll(url)));
    if (!a || !b || !c) throw new Error('three relays were expected');

    expect(a.events.size).toBeGreaterThan(1500);
    expect(a.events.size).toBeLessThan(2600);
    expect(b.events.size).toBeLessThan(a.events.size);
    expect(c.events.size).toBeLessThan(a.events.size);
    expect([...c.events.keys()].every((id) => a.events.has(id))).toBe(true);
    const onlyOnB = [...b.events.keys()].filter((id) => !a.events.has(id) && !c.events.has(id));
    expect(onlyOnB.length).toBeGreaterThan(0);
    expect(onlyOnB.length).toBeLessThan(5);
    expect(a.largestPage).toBe(200);
    expect(c.largestPage).toBe(50);

    const check = await createEventCheck();
    const times = [...a.events.values()].map((event) => event.created_at);
    for (const event of a.events.values()) {
      expect(check.read(event)).toEqual(event);
      expect(event.pubkey).toBe(demo.account.pubkey);
    }
    expect(Math.max(...times)).toBeLessThanOrEqual(noon);
    expect(noon - Math.min(...times)).toBeGreaterThan(3.9 * 365 * 86_400);
    expect(decode(demo.account.npub).data).toBe(demo.account.pubkey);
  });

  it('has crowded seconds that a page of the capped relay can still carry, whenever it is started', () => {
    for (let days = 0; days < 1000; days += 50) {
      const now = noon + days * 86_400;
      const seconds = Map.groupBy(sampleHistory(now), (event) => event.created_at);
      const crowded = [...seconds].filter(([second, events]) => second > now - 900 * 86_400 && events.length > 30);
      expect(crowded.length).toBeGreaterThan(0);
      for (const [, events] of seconds) expect(events.length).toBeLessThan(50);
    }
  });

  it('has its relays where they were before, but for a port that somebody has taken', async () => {
    const first = await demoAt(noon);
    const ports = first.relays.map(({ port }) => port);
    await running.pop()?.close();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(ports[1], '127.0.0.1', resolve));
    const again = await startDemo({ clock: { ...systemClock, nowMs: () => noon * 1000 }, ports });
    running.push(again);
    await new Promise<void>((resolve) => void taken.close(() => resolve()));
    const [a, b, c] = again.relays.map(({ port }) => port);
    expect([a, c]).toEqual([ports[0], ports[2]]);
    expect(b).not.toBe(ports[1]);
  });

  it('tells its roles as its published list does', async () => {
    const demo = await demoAt(noon);
    const { events } = await readAll(demo.relays[0]?.url ?? '');
    const list = [...events.values()].find((event) => event.kind === 10002);
    if (list === undefined) throw new Error('a relay list was expected');
    const told = demo.relays.map(({ url, read, write }) => ({ url: `${url}/`, read, write, extra: false }));
    const published = readRelayList(list).map((relay) => ({ ...relay, url: `${relay.url.replace(/\/$/, '')}/` }));
    expect(published).toEqual(told);
  });

  it('publishes the relay list of the sample account with the ports in use', async () => {
    const demo = await demoAt(noon);
    const [a, b, c] = demo.relays.map(({ url }) => url);
    const { events } = await readAll(a ?? '');
    const list = [...events.values()].find((event) => event.kind === 10002);
    expect(list?.tags).toEqual([['r', a, 'write'], ['r', b, 'write'], ['r', c]]); // prettier-ignore
  });

  it('tells the same story again, only longer, when it is started later', async () => {
    const [earlier, later] = await Promise.all([demoAt(noon), demoAt(noon + 36 * 3600)]);
    const [first, second] = await Promise.all([readAll(earlier.relays[0]?.url ?? ''), readAll(later.relays[0]?.url ?? '')]); // prettier-ignore
    const notes = [...first.events.values()].filter(
      (event) => event.kind === 1 && event.created_at > noon - 30 * 86_400,
    );
    expect(notes.length).toBeGreaterThan(5);
    expect(notes.every((event) => second.events.get(event.id)?.sig === event.sig)).toBe(true);
  });

  it('leaves the event loop free while it signs', async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await demoAt(noon);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(20);
  });
});
