import { afterEach, describe, expect, it } from 'vitest';
import { createEventCheck } from '../../main/demo/published-event.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import * as closing from './behaviours/closing.ts';
import * as corruption from './behaviours/corruption.ts';
import * as eose from './behaviours/end-of-stored-events.ts';
import * as notices from './behaviours/notices.ts';
import * as paging from './behaviours/paging.ts';
import { alice, bob, buildEvent, buildHistory, implausibleTimes, saturatedSecond } from './event-builder.ts';
import { Gate } from './gate.ts';
import { RawClient } from './raw-client.ts';
import { nextRequests, onRequest } from './relay-behaviour.ts';
import type { Behaviour } from './relay-behaviour.ts';
import { ScriptedRelay } from './scripted-relay.ts';

const start = 1_700_000_000;
const history = buildHistory({ count: 30, from: start, to: start + 290 });

const opened: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function relayThat(...behaviours: Behaviour[]): Promise<{ relay: ScriptedRelay; client: RawClient }> {
  const relay = await ScriptedRelay.start({ events: history, behaviours });
  opened.push({ close: () => relay.stop() });
  return { relay, client: await connect(relay) };
}

async function connect(relay: ScriptedRelay): Promise<RawClient> {
  const client = await RawClient.open(relay.url);
  opened.push(client);
  return client;
}

/** Everything that arrives up to the answer to a last, conforming question. */
async function framesUntilQuiet(relay: ScriptedRelay, client: RawClient): Promise<(unknown[] | string)[]> {
  relay.behave();
  await client.request('quiet', { ids: [] });
  return client.frames.slice(0, -1);
}

function typesOf(frames: readonly (unknown[] | string)[]): string[] {
  return frames.map((frame) => (typeof frame === 'string' ? 'text' : String(frame[0])));
}

describe('behaviours of paging', () => {
  it('row 1: caps pages and sends a bare EOSE', async () => {
    const { client } = await relayThat(paging.capPages(5));
    const page = await client.request('x', { limit: 10 });
    expect(page.events).toHaveLength(5);
    expect(page.ending).toEqual(['EOSE', 'x']);
  });

  it('row 2: refuses a limit above its maximum, by NOTICE or CLOSED', async () => {
    const { relay, client } = await relayThat(paging.refuseLimitAbove(10));
    client.send('REQ', 'x', { limit: 11 });
    expect((await client.next())[0]).toBe('NOTICE');
    expect((await client.request('x', { limit: 10 })).events).toHaveLength(10);
    relay.behave(paging.refuseLimitAbove(10, { by: 'closed' }));
    expect((await client.request('y', {})).ending.slice(0, 2)).toEqual(['CLOSED', 'y']);
  });

  it('row 4: holds more events in one second than a page can carry', async () => {
    const { relay, client } = await relayThat(paging.capPages(10));
    for (const event of saturatedSecond(start + 1000, 25)) relay.store.add(event);
    const first = await client.request('x', { limit: 100 });
    const again = await client.request('x', { limit: 100, until: start + 1000 });
    expect(new Set(first.events.map((event) => event.created_at))).toEqual(new Set([start + 1000]));
    expect(again.events).toEqual(first.events);
  });

  it('row 5: ends a page in the middle of a second, so that until = E − 1 loses the rest', async () => {
    const { relay, client } = await relayThat(paging.capPages(4));
    const between = [buildEvent({ createdAt: start + 287 }), buildEvent({ createdAt: start + 288 })];
    for (const event of [...between, ...saturatedSecond(start + 285, 3)]) relay.store.add(event);
    const ofTheSecond = async (filter: unknown): Promise<number> =>
      (await client.request('x', filter)).events.filter((event) => event.created_at === start + 285).length;
    expect(await ofTheSecond({ limit: 100 })).toBe(1);
    expect(await ofTheSecond({ limit: 100, until: start + 284 })).toBe(0);
    expect(await ofTheSecond({ limit: 100, until: start + 285 })).toBe(3);
  });

  it('treats until as exclusive, or ignores until, since, limit or conditions', async () => {
    const { relay, client } = await relayThat(paging.exclusiveUntil());
    const count = async (filter: unknown): Promise<number> => (await client.request('x', filter)).events.length;
    expect(await count({ until: start })).toBe(0);
    relay.behave(paging.ignoreUntil());
    expect((await client.request('x', { until: start, limit: 3 })).events[0]?.created_at).toBe(start + 290);
    relay.behave(paging.ignoreSince());
    expect(await count({ since: start + 290 })).toBe(30);
    relay.behave(paging.ignoreLimit());
    expect(await count({ limit: 1 })).toBe(30);
    relay.behave(paging.ignoreConditions());
    expect(await count({ authors: [bob.pubkey], kinds: [3], '#t': ['x'], limit: 4 })).toBe(4);
  });

  it('changes order, repeats, shortens, withholds, empties', async () => {
    const { relay, client } = await relayThat(paging.reorderEvents());
    const page = async (limit = 3): Promise<SignedEvent[]> => (await client.request('x', { limit })).events;
    expect((await page()).map((event) => event.created_at)).toEqual([start + 270, start + 280, start + 290]);
    relay.behave(paging.repeatEvents(2));
    expect(await page()).toHaveLength(6);
    relay.behave(paging.shortenPages(2));
    expect(await page()).toHaveLength(1);
    const newest = history.at(-1)?.id ?? '';
    relay.behave(paging.withholdBodies([newest]));
    expect((await page()).some((event) => event.id === newest)).toBe(false);
    relay.behave(paging.emptyPages());
    expect(await page()).toEqual([]);
  });

  it('composes, and can be switched off', async () => {
    const { relay, client } = await relayThat(paging.reorderEvents());
    const off = relay.use(paging.capPages(2));
    const times = async (): Promise<number[]> =>
      (await client.request('x', { limit: 3 })).events.map((event) => event.created_at - start);
    expect(await times()).toEqual([280, 290]);
    off();
    expect(await times()).toEqual([270, 280, 290]);
  });

  it('acts on chosen requests only', async () => {
    const { relay, client } = await relayThat(onRequest(2, paging.emptyPages()));
    const sizes = async (): Promise<number[]> => {
      const found: number[] = [];
      for (let turn = 0; turn < 3; turn++) found.push((await client.request('x', { limit: 4 })).events.length);
      return found;
    };
    expect(await sizes()).toEqual([4, 0, 4]);
    relay.behave(nextRequests(2, paging.emptyPages()));
    expect(await sizes()).toEqual([0, 0, 4]);
  });
});

describe('behaviours of EOSE', () => {
  it('row 6: never sends EOSE', async () => {
    const { relay, client } = await relayThat(eose.neverEose());
    client.send('REQ', 'x', { limit: 2 });
    await relay.log.waitForReceived('REQ');
    expect(typesOf(await framesUntilQuiet(relay, client))).toEqual(['EVENT', 'EVENT']);
  });

  it('holds EOSE, whole answers, or every frame until the test lets go', async () => {
    const gate = new Gate();
    const { relay, client } = await relayThat(eose.holdEose(gate));
    client.send('REQ', 'x', { limit: 1 });
    await client.next('EVENT');
    expect(relay.log.sent('EOSE')).toHaveLength(0);
    gate.release();
    expect(await client.next()).toEqual(['EOSE', 'x']);

    relay.behave(eose.drip(gate));
    client.send('REQ', 'x', { limit: 2 });
    await relay.log.waitForReceived('REQ', 2);
    for (const expected of ['EVENT', 'EVENT', 'EOSE']) {
      const before = client.frames.length;
      gate.release();
      expect((await client.next())[0]).toBe(expected);
      expect(client.frames).toHaveLength(before + 1);
    }

    relay.behave(eose.holdAnswers(gate));
    client.send('REQ', 'held', { limit: 1 });
    client.send('CLOSE', 'held');
    await relay.log.waitForReceived('CLOSE');
    gate.open();
    expect((await framesUntilQuiet(relay, client)).some((frame) => frame[1] === 'held')).toBe(false);
  });

  it('sends EOSE twice, for nobody, before the events, or with any third element', async () => {
    const { relay, client } = await relayThat(eose.doubleEose(), eose.eoseForUnknownSubscription());
    client.send('REQ', 'x', { limit: 1 });
    await relay.log.waitForReceived('REQ');
    const frames = await framesUntilQuiet(relay, client);
    expect(frames.slice(1)).toEqual([['EOSE', 'nobody-asked'], ['EOSE', 'x'], ['EOSE', 'nobody-asked'], ['EOSE', 'x']]); // prettier-ignore

    relay.behave(eose.eoseBeforeEvents());
    expect((await client.request('y', { limit: 1 })).events).toEqual([]);
    expect((await client.next())[0]).toBe('EVENT');
    for (const third of [['finish'], ['more'], ['unheard-of'], [], 'finish', { more: true }, null]) {
      relay.behave(eose.eoseWith(third));
      expect((await client.request('z', { limit: 1 })).ending).toEqual(['EOSE', 'z', third]);
    }
  });

  it('does not answer a request at all', async () => {
    const { relay, client } = await relayThat(eose.silentRequests());
    client.send('REQ', 'x', {});
    await relay.log.waitForReceived('REQ');
    expect(await framesUntilQuiet(relay, client)).toEqual([]);
  });
});

describe('behaviours of closing', () => {
  it('row 7: cuts the connection in the middle of a page', async () => {
    const { client } = await relayThat(closing.closeSocketMidPage({ page: 2, after: 3 }));
    expect((await client.request('x', { limit: 5 })).events).toHaveLength(5);
    client.send('REQ', 'x', { limit: 5 });
    expect((await client.closed).code).toBe(1006);
    expect(typesOf(client.frames.slice(6))).toEqual(['EVENT', 'EVENT', 'EVENT']);
  });

  it('row 8: closes subscriptions with its reason, or without any', async () => {
    const { relay, client } = await relayThat();
    for (const reason of ['auth-required: log in', 'restricted: members', 'rate-limited: slow', 'error: no']) {
      relay.behave(closing.closedWith(reason));
      const page = await client.request('x', {});
      expect(page).toEqual({ events: [], ending: ['CLOSED', 'x', reason] });
    }
    relay.behave(closing.closedWithoutReason());
    expect((await client.request('x', {})).ending).toEqual(['CLOSED', 'x']);
    relay.behave(closing.closedMidPage({ after: 2, reason: 'error: shutting down' }));
    const page = await client.request('x', {});
    expect(page.events).toHaveLength(2);
    expect(page.ending).toEqual(['CLOSED', 'x', 'error: shutting down']);
  });

  it('closes with a handshake, or stalls within a frame', async () => {
    const { relay, client } = await relayThat(
      closing.closeHandshakeMidPage({ after: 1, code: 1012, reason: 'restart' }),
    );
    client.send('REQ', 'x', {});
    expect(await client.closed).toEqual({ code: 1012, reason: 'restart' });
    expect(client.frames).toHaveLength(1);

    relay.behave(closing.stallMidFrame({ after: 1 }));
    const second = await connect(relay);
    second.send('REQ', 'x', {});
    await second.next('EVENT');
    await relay.stop();
    await second.closed;
    expect(second.frames).toHaveLength(1);
  });
});

describe('behaviours of notices', () => {
  it('row 9: refuses requests beyond a number of open subscriptions', async () => {
    const { relay, client } = await relayThat(notices.noticeTooManyRequests(2));
    await client.request('a', { limit: 1 });
    await client.request('b', { limit: 1 });
    client.send('REQ', 'c', { limit: 1 });
    expect(await client.next()).toEqual(['NOTICE', 'too many concurrent REQs']);
    client.send('CLOSE', 'a');
    expect((await client.request('c', { limit: 1 })).events).toHaveLength(1);
    relay.behave(notices.noticeTooManyRequests(2, { by: 'closed' }));
    expect((await client.request('d', {})).ending[0]).toBe('CLOSED');
  });

  it('answers with a notice only, notices before answers, and greets', async () => {
    const { relay, client } = await relayThat(notices.noticeInsteadOfAnswer('no'));
    client.send('REQ', 'x', {});
    expect(await client.next()).toEqual(['NOTICE', 'no']);
    relay.behave(notices.noticeBeforeAnswers('hello'), notices.greet('welcome'));
    await client.request('x', { limit: 1 });
    expect(typesOf(client.frames)).toEqual(['NOTICE', 'NOTICE', 'EVENT', 'EOSE']);
    expect(await (await connect(relay)).next()).toEqual(['NOTICE', 'welcome']);
  });
});

describe('behaviours of corruption', () => {
  it('row 11: sends events with a wrong signature, a wrong ID, another content, no shape, or off the filter', async () => {
    const stranger = buildEvent({ author: bob, content: 'not asked for' });
    const spoilt = { badSignature: 1, wrongId: 1, changedContent: 1, malformed: 1, offFilter: [stranger] };
    const { client } = await relayThat(corruption.corruptEvents(spoilt));
    const { events } = await client.request('x', { authors: [alice.pubkey], limit: 6 });
    const check = await createEventCheck();
    expect(events[0]).toEqual(stranger);
    expect(events.map((event) => typeof check.read(event) === 'object')).toEqual([true, false, false, false, false, true, true]); // prettier-ignore
  });

  it('makes every malformed shape one that is no event', async () => {
    const check = await createEventCheck();
    const event = buildEvent();
    for (let turn = 0; turn < 10; turn++) expect(check.read(corruption.withoutShape(event, turn))).toBeTypeOf('string');
  });

  it('adds events newer than until and at implausible times', async () => {
    const odd = implausibleTimes(start);
    const { client } = await relayThat(corruption.addEvents(odd));
    const { events } = await client.request('x', { until: start, limit: 1 });
    expect(events.slice(0, odd.length)).toEqual(odd);
    expect(events).toHaveLength(odd.length + 1);
  });

  it('sends events for unknown subscriptions', async () => {
    const { client } = await relayThat(corruption.eventsForUnknownSubscription([buildEvent()]));
    await client.request('x', { limit: 1 });
    expect(client.frames[0]?.[1]).toBe('nobody-asked');
  });

  it('sends malformed, binary and giant frames', async () => {
    const { relay, client } = await relayThat(corruption.malformedFrames());
    client.send('REQ', 'x', { limit: 1 });
    await relay.log.waitForReceived('REQ');
    await framesUntilQuiet(relay, client);
    expect(client.frames.length).toBe(corruption.MALFORMED_FRAMES.length + 3);

    relay.behave(corruption.binaryFrames());
    client.send('REQ', 'y', { limit: 1 });
    await relay.log.waitForReceived('REQ', 3);
    const frames = await framesUntilQuiet(relay, client);
    expect(frames.at(-1)).toBe('binary ["EOSE","y"]');

    relay.behave(corruption.giantFrame(3_000_000));
    await client.request('z', { limit: 1 });
    expect(JSON.stringify(client.frames.find((frame) => JSON.stringify(frame).length > 1_000_000))).toHaveLength(3_000_000); // prettier-ignore
  });

  it('floods with events beyond the limit and never ends', async () => {
    const { relay, client } = await relayThat(corruption.flood(300, (turn) => history[turn % 30] ?? buildEvent()));
    client.send('REQ', 'x', { limit: 1 });
    await relay.log.waitForReceived('REQ');
    const frames = await framesUntilQuiet(relay, client);
    expect(typesOf(frames)).toEqual(Array.from({ length: 301 }, () => 'EVENT'));
  });
});
