import { decode } from 'nostr-tools/nip19';
import { afterEach, describe, expect, it } from 'vitest';
import { startDemo } from '../../main/demo/demo.ts';
import type { Demo } from '../../main/demo/demo.ts';
import { createEventCheck } from '../../main/demo/published-event.ts';
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
