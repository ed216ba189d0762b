import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { hidePrivateKinds } from '../relays/behaviours/authentication.ts';
import { closedWith } from '../relays/behaviours/closing.ts';
import { withholdBodies } from '../relays/behaviours/paging.ts';
import {
  chatterDuringNegentropy,
  negErr,
  negErrAtMessage,
  refuseNegentropyByClosed,
  refuseNegentropyByNotice,
  refuseSetsAbove,
  silentNegentropy,
} from '../relays/behaviours/reconciliation.ts';
import { alice, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { ownResponder } from '../relays/own-responder.ts';
import { ScriptedRelay, type ScriptedRelayOptions } from '../relays/scripted-relay.ts';
import { FetchRig, START, until } from './fetch-rig.ts';

let rig: FetchRig;
const relays: ScriptedRelay[] = [];

beforeEach(async () => {
  rig = await FetchRig.start();
});

afterEach(async () => {
  await rig.close();
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});

async function startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start({ negentropy: ownResponder(), ...options });
  relays.push(relay);
  return relay;
}

const history = (count: number): SignedEvent[] =>
  buildHistory({ count, from: START - 100_000, to: START - 1000, kinds: [1, 7] });
const idsOf = (events: readonly SignedEvent[]): string[] => events.map(({ id }) => id).sort();
const importAll = (events: readonly SignedEvent[]) =>
  rig.engine.importLines(events.map((event) => JSON.stringify(event)));
const fetch = (args = {}) => rig.fetch({ strategy: 'auto', ...args });

async function stateOf(id: string, url: string): Promise<string | undefined> {
  const found = await rig.engine.methods['events.find']({ id });
  return found?.relays.find((relay) => relay.url === url)?.state;
}

describe('fetching by NIP-77', () => {
  it('brings the whole history by comparing and fetching bodies by ID', async () => {
    const events = history(350);
    const relay = await startRelay({ events });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 350 });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({
      strategy: 'negentropy',
      since: null,
      until: START,
      found: 350,
      fetched: 350,
      notFetched: 0,
      kinds: { '1': 175, '7': 175 },
    });
    expect(relay.requests().every((request) => 'ids' in request)).toBe(true);
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: true, forwardBoundary: START });
  });

  it('a recheck with nothing new downloads no body and sends next to nothing', async () => {
    const relay = await startRelay({ events: history(350) });
    await rig.addAlice([relay]);
    await fetch();
    await rig.clock.pass(60_000);
    const before = { requests: relay.requests().length, frames: relay.log.entries.length };
    expect(await fetch({ recheck: true })).toMatchObject({ status: 'complete', newlyArchived: 0 });
    expect(relay.requests().length).toBe(before.requests);
    const bytes = relay.log.entries.slice(before.frames).reduce((sum, { text }) => sum + text.length, 0);
    expect(bytes).toBeLessThan(4000);
    const ranges = (await rig.relay(relay.url)).ranges;
    expect(ranges.at(-1)).toMatchObject({ found: 350, fetched: 350, kinds: { '1': 175, '7': 175 } });
  });

  it('tells exactly what only the relay has, what only we have, and what both have', async () => {
    const events = history(300);
    const relay = await startRelay({ events: events.slice(10) });
    await importAll(events.slice(0, 290));
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 10 });
    expect(await rig.onlyRange(relay.url)).toMatchObject({ found: 290, fetched: 290 });
    const copies = await rig.engine.methods['coverage.copies']({ account: alice.pubkey });
    expect(copies).toMatchObject({ events: 300, none: 10, one: 290, undetermined: 0 });
    expect(copies.relays).toEqual([
      { url: relay.url, present: 290, absent: 10, undetermined: 0, past: { present: 0, absent: 0 } },
    ]);
    for (const { id } of events.slice(0, 10)) expect(await stateOf(id, relay.url)).toBe('absent');
    for (const { id } of events.slice(280)) expect(await stateOf(id, relay.url)).toBe('present');
  });

  it('an incremental fetch compares its interval only, and concludes nothing outside', async () => {
    const relay = await startRelay({ events: history(50) });
    await rig.addAlice([relay]);
    await fetch();
    const old = buildEvent({ createdAt: START - 50_000, content: 'imported later' });
    relay.publish(old);
    await rig.clock.pass(60_000);
    const fresh = buildEvent({ createdAt: START + 20 });
    relay.publish(fresh);
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 1 });
    const [, interval] = (await rig.relay(relay.url)).ranges;
    expect(interval).toMatchObject({ since: START - 10, until: START + 60, found: 1 });
    expect(await rig.engine.methods['events.find']({ id: old.id })).toBeNull();
  });

  it('15: bodies that do not come are shown as not fetched, asked for twice, and fetched by resume', async () => {
    const events = history(120);
    const hidden = events.slice(5, 8).map(({ id }) => id);
    const relay = await startRelay({ events, behaviours: [withholdBodies(hidden)] });
    await rig.addAlice([relay]);
    const run = await fetch();
    expect(run).toMatchObject({ status: 'partial', newlyArchived: 117, resumable: true });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'complete', found: 120, fetched: 117, notFetched: 3, resumable: true });
    const asked = relay.requests().flatMap((request) => request['ids'] as string[]);
    for (const id of hidden) expect(asked.filter((other) => other === id)).toHaveLength(2);
    relay.behave();
    await rig.engine.methods['fetch.resume']({ run: run.id });
    expect(await rig.ended(run.id)).toMatchObject({ status: 'complete', newlyArchived: 120, resumable: false });
    expect(await rig.onlyRange(relay.url)).toMatchObject({ found: 120, fetched: 120, notFetched: 0, resumable: false });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
  });

  it('goes through relays that keep their messages short', async () => {
    const events = history(2000);
    await importAll(events.filter((_, index) => index % 3 !== 0));
    const relay = await startRelay({
      events: events.filter((_, index) => index % 3 !== 1),
      negentropy: ownResponder(4096),
    });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 667 });
    expect((await rig.engine.methods['coverage.copies']({ account: alice.pubkey })).relays).toMatchObject([
      { present: 1333, absent: 667, undetermined: 0 },
    ]);
  });
});

describe('a relay where NIP-77 does not work', () => {
  it.each([
    ['12: refuses by NOTICE', refuseNegentropyByNotice()],
    ['12: refuses by NOTICE in other words', refuseNegentropyByNotice('ERROR: bad msg: negentropy disabled')],
    ['refuses by CLOSED', refuseNegentropyByClosed('unsupported: no such message')],
    ['gives the comparison up', negErr('closed: took too long')],
  ])('%s: falls back to paging without an error', async (_title, behaviour) => {
    const events = history(150);
    const relay = await startRelay({ events, information: { supported_nips: [1, 77] }, behaviours: [behaviour] });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 150, warnings: [] });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'complete', strategy: 'paging', found: 150 });
    const attempts = await rig.attempts(range.id);
    expect(attempts.map(({ strategy }) => strategy)).toEqual(['negentropy', 'paging']);
    expect(attempts[1]).toMatchObject({ prior: attempts[0]?.id, continued: false });
    expect((await rig.queries(range.id))[0]).toMatchObject({ type: 'NEG' });
  });

  it('gives the comparison up in the middle: keeps what it named, and pages', async () => {
    const events = history(1800);
    await importAll(events.filter((_, index) => index % 2 === 0));
    const relay = await startRelay({
      events: events.filter((_, index) => index % 3 !== 0),
      behaviours: [negErrAtMessage(1)],
    });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete' });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ strategy: 'paging', found: 1200, fetched: 1200 });
    expect((await rig.attempts(range.id))[0]).toMatchObject({ strategy: 'negentropy' });
    expect((await rig.attempts(range.id))[0]?.status).not.toBe('complete');
  });

  it('12: what was refused is remembered for a while, and then tried again', async () => {
    const relay = await startRelay({ events: history(20), behaviours: [refuseNegentropyByNotice()] });
    await rig.addAlice([relay]);
    await fetch();
    await rig.clock.pass(60_000);
    await fetch();
    expect(relay.log.received('NEG-OPEN')).toHaveLength(1);
    await rig.clock.pass(25 * 3600 * 1000);
    relay.behave();
    await fetch();
    expect(relay.log.received('NEG-OPEN')).toHaveLength(2);
  });

  it.each(['error: database is busy, try again later', 'error: too many concurrent REQs'])(
    'a refusal that is about the moment is not remembered: %j',
    async (words) => {
      const relay = await startRelay({ events: history(20), behaviours: [refuseNegentropyByClosed(words)] });
      await rig.addAlice([relay]);
      expect(await fetch()).toMatchObject({ status: 'complete' });
      const { id } = await rig.onlyRange(relay.url);
      expect((await rig.attempts(id))[0]?.reason).toMatch(/cannot compare now/);
      await rig.clock.pass(60_000);
      relay.behave();
      await fetch();
      expect(relay.log.received('NEG-OPEN')).toHaveLength(2);
    },
  );

  it('13: silence is a time-out, however much the relay talks of other things', async () => {
    const events = history(150);
    const chatter = chatterDuringNegentropy({ notices: ['welcome'], events: [buildEvent()] });
    const relay = await startRelay({ events, behaviours: [silentNegentropy(), chatter] });
    await rig.addAlice([relay]);
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey });
    await until(() => relay.log.received('NEG-OPEN').length === 1);
    for (let second = 0; second < 31; second += 1) {
      chatter.chat();
      await rig.clock.pass(1000);
    }
    expect(await rig.ended(run)).toMatchObject({ status: 'complete', newlyArchived: 150 });
    const range = await rig.onlyRange(relay.url);
    expect((await rig.queries(range.id))[0]).toMatchObject({ type: 'NEG', ending: 'timeout' });
    expect(range.strategy).toBe('paging');
  });

  it('an authentication wall is no empty success', async () => {
    const relay = await startRelay({
      events: history(5),
      behaviours: [refuseNegentropyByNotice(), closedWith('auth-required: no')],
    });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'failed' });
  });
});

describe('a set too large to be compared at once', () => {
  it('14: is cut in time until every part was compared', async () => {
    const events = history(400);
    const relay = await startRelay({ events });
    relay.use(refuseSetsAbove(60, relay.store));
    await importAll(events.slice(0, 350));
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 50 });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'complete', strategy: 'negentropy', found: 400, fetched: 400 });
    const sessions = (await rig.queries(range.id)).filter(({ type }) => type === 'NEG');
    expect(sessions.some(({ ending }) => ending === 'neg-err')).toBe(true);
    const parts = sessions.filter(({ ending }) => ending === 'neg-complete').map(({ request }) => request);
    const bounds = parts
      .map((part) => [part['since'] ?? null, part['until']])
      .toSorted((a, b) => Number(a[1]) - Number(b[1]));
    expect(bounds[0]?.[0]).toBeNull();
    expect(bounds.at(-1)?.[1]).toBe(START);
    bounds.slice(1).forEach(([since], index) => expect(since).toBe(Number(bounds[index]?.[1]) + 1));
  });

  it('14: is not complete when one part could not be compared and paging fails too', async () => {
    const relay = await startRelay({ events: history(400) });
    relay.use(refuseSetsAbove(60, relay.store));
    await rig.addAlice([relay]);
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey });
    await until(() => relay.log.received('NEG-OPEN').length === 4);
    relay.behave(negErr('closed: no more'), closedWith('error: no more'));
    expect((await rig.ended(run)).status).not.toBe('complete');
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: false, forwardBoundary: null });
    const { relays: counted } = await rig.engine.methods['coverage.copies']({ account: alice.pubkey });
    expect(counted[0]).toMatchObject({ absent: 0 });
  });
});

describe('what absence licenses', () => {
  it('a newly archived event is compared at once with relays whose inventory covers it', async () => {
    const events = history(60);
    const [complete, other] = [await startRelay({ events: events.slice(0, 40) }), await startRelay({ events })];
    await rig.engine.methods['accounts.add']({ key: alice.npub, write: [complete.url] });
    await fetch();
    await rig.engine.methods['accounts.setRelays']({
      account: alice.pubkey,
      relays: [complete, other].map(({ url }) => ({ url, read: false, write: true, extra: false })),
    });
    await fetch({ relays: [other.url] });
    for (const { id } of events.slice(40)) expect(await stateOf(id, complete.url)).toBe('absent');
    for (const { id } of events) expect(await stateOf(id, other.url)).toBe('present');
  });

  it('a page that broke off makes nothing absent', async () => {
    const events = history(60);
    await importAll(events);
    const relay = await startRelay({
      events: [],
      behaviours: [refuseNegentropyByNotice(), closedWith('error: broken')],
    });
    await rig.addAlice([relay]);
    await fetch();
    expect(await stateOf(events[0]?.id ?? '', relay.url)).toBe('undetermined');
  });

  it('23: kinds that relays hide from strangers are undetermined, never absent', async () => {
    const direct = buildEvent({ kind: 4, createdAt: START - 500, content: 'secret' });
    const wrapped = buildEvent({ kind: 1059, createdAt: START - 400, content: 'secret' });
    const note = buildEvent({ createdAt: START - 300, content: 'note' });
    await importAll([direct, wrapped, note]);
    const relay = await startRelay({ events: [direct, wrapped], behaviours: [hidePrivateKinds()] });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete' });
    expect(await stateOf(direct.id, relay.url)).toBe('undetermined');
    expect(await stateOf(wrapped.id, relay.url)).toBe('undetermined');
    expect(await stateOf(note.id, relay.url)).toBe('absent');
  });

  it('23: a kind that the relay refuses when asked for alone is undetermined', async () => {
    const report = buildEvent({ kind: 1984, createdAt: START - 500 });
    const note = buildEvent({ createdAt: START - 300 });
    await importAll([report, note]);
    const relay = await startRelay({ events: [report], behaviours: [hidePrivateKinds([1984])] });
    await rig.addAlice([relay]);
    expect(await fetch()).toMatchObject({ status: 'complete' });
    expect(await stateOf(report.id, relay.url)).toBe('undetermined');
    expect(await stateOf(note.id, relay.url)).toBe('absent');
  });
});
