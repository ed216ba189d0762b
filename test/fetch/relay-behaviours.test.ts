import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { Gate } from '../relays/gate.ts';
import { closedMidPage, closedWith, closeSocketMidPage } from '../relays/behaviours/closing.ts';
import { blockEagerClients, refuseUpgrade } from '../relays/behaviours/connecting.ts';
import { addEvents, corruptEvents, giantFrame, malformedFrames } from '../relays/behaviours/corruption.ts';
import { eoseForUnknownSubscription, holdEose, neverEose } from '../relays/behaviours/end-of-stored-events.ts';
import { informationText } from '../relays/behaviours/information.ts';
import { noticeTooManyRequests } from '../relays/behaviours/notices.ts';
import {
  capPages,
  emptyPages,
  exclusiveUntil,
  ignoreUntil,
  refuseLimitAbove,
  repeatEvents,
  reorderEvents,
} from '../relays/behaviours/paging.ts';
import { alice, bob, buildEvent, buildHistory, saturatedSecond } from '../relays/event-builder.ts';
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
  const relay = await ScriptedRelay.start(options);
  relays.push(relay);
  await rig.addAlice([relay]);
  return relay;
}

const history = (count: number): SignedEvent[] => buildHistory({ count, from: START - 100_000, to: START - 1000 });
const idsOf = (events: readonly SignedEvent[]): string[] => events.map(({ id }) => id).sort();
const untilsOf = (relay: ScriptedRelay): unknown[] => relay.requests().map((request) => request['until']);

describe('a relay that pages in its own way', () => {
  it('1: caps a page below the limit with a bare EOSE: everything arrives, and the cap is remembered', async () => {
    const events = history(130);
    const relay = await startRelay({ events, behaviours: [capPages(40)] });
    expect(await rig.fetch()).toMatchObject({ status: 'complete', newlyArchived: 130 });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    const [health] = await rig.engine.methods['relays.health']({});
    expect(health).toMatchObject({ url: relay.url, observedCap: 40 });
  });

  it('2: refuses a limit by NOTICE: asks again with a smaller one, and remembers it', async () => {
    const events = history(130);
    const relay = await startRelay({ events, behaviours: [refuseLimitAbove(50)] });
    expect(await rig.fetch({ limit: 100 })).toMatchObject({ status: 'complete', newlyArchived: 130 });
    const limits = relay.requests().map((request) => request['limit']);
    expect(limits.filter((limit) => limit === 100)).toHaveLength(1);
    await rig.clock.pass(60_000);
    await rig.fetch({ limit: 100 });
    expect(relay.requests().at(-1)).toMatchObject({ limit: 50 });
    const queries = await rig.queries((await rig.relay(relay.url)).ranges[0]?.id ?? 0);
    expect(queries[0]).toMatchObject({ ending: 'notice', received: 0 });
    expect(queries[0]?.message).not.toBeNull();
  });

  it('3: a max_limit that is advertised and not applied, or applied and not advertised, changes nothing in the result', async () => {
    const events = history(130);
    await startRelay({ events, information: { limitation: { max_limit: 7 } }, behaviours: [capPages(33)] });
    expect(await rig.fetch()).toMatchObject({ status: 'complete', newlyArchived: 130 });
  });

  it('4: holds more in one second than a page carries: the range stays partial and names the second', async () => {
    const crowded = START - 5000;
    const events = [...saturatedSecond(crowded, 30), ...history(15)];
    const relay = await startRelay({ events });
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ status: 'partial' });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'partial', saturatedSeconds: [crowded], resumable: false });
    expect(range.reason).toMatch(/more events than one page can carry/);
    expect((await rig.queries(range.id)).some(({ ending }) => ending === 'unpageable')).toBe(true);
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: false, forwardBoundary: null });

    const { run } = await rig.engine.methods['fetch.refetch']({ range: range.id, limit: 100 });
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: true });
  });

  it('4: newer events are fetched although history has a saturated second', async () => {
    const relay = await startRelay({ events: saturatedSecond(START - 5000, 30) });
    await rig.fetch({ limit: 10 });
    await rig.clock.pass(60_000);
    relay.publish(buildEvent({ createdAt: START + 30 }));
    const before = relay.requests().length;
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ newlyArchived: 1 });
    expect(relay.requests()[before]).toMatchObject({ since: START - 10, until: START + 60 });
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: false, forwardBoundary: null });
  });

  it('5: pages with inclusive until, so that no event of a boundary second is passed over', async () => {
    const events = buildHistory({ count: 120, from: START - 1000, to: START - 500, perSecond: 4 });
    const relay = await startRelay({ events });
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ status: 'complete' });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    const seconds = new Set(events.map(({ created_at }) => created_at));
    for (const asked of untilsOf(relay).slice(1)) expect(seconds.has(Number(asked))).toBe(true);
  });

  it('takes until as exclusive: everything arrives all the same', async () => {
    const events = buildHistory({ count: 60, from: START - 1000, to: START - 500, perSecond: 3 });
    await startRelay({ events, behaviours: [exclusiveUntil()] });
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ status: 'complete' });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
  });

  it('ignores until: never called complete while older events may be there', async () => {
    const relay = await startRelay({ events: history(50), behaviours: [ignoreUntil()] });
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ status: 'partial' });
    expect((await rig.onlyRange(relay.url)).found).toBeLessThan(50);
  });

  it('suddenly answers with nothing: that is no end of history', async () => {
    const relay = await startRelay({ events: history(50) });
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, limit: 10, strategy: 'paging' });
    await until(() => relay.requests().length >= 2);
    relay.use(emptyPages());
    expect(await rig.ended(run)).toMatchObject({ status: 'partial', resumable: true });
    relay.behave();
    await rig.engine.methods['fetch.resume']({ run });
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect((await rig.archivedIds()).length).toBe(50);
  });

  it('repeats every event and mixes their order: each is found once', async () => {
    const events = history(45);
    const relay = await startRelay({ events, behaviours: [repeatEvents(3), reorderEvents()] });
    expect(await rig.fetch({ limit: 20 })).toMatchObject({ status: 'complete' });
    expect(await rig.onlyRange(relay.url)).toMatchObject({ found: 45 });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
  });
});

describe('a relay that does not finish its answer', () => {
  it('6: never sends EOSE: what came is kept, the query is a time-out, the cursor stays', async () => {
    const relay = await startRelay({ events: history(30), behaviours: [neverEose()] });
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, limit: 10, strategy: 'paging' });
    await until(async () =>
      (await rig.engine.methods['relays.health']({})).some(({ openRequests }) => openRequests > 0),
    );
    await until(() => relay.log.sent('EVENT').length >= 10);
    for (let second = 0; second < 40; second += 1) await rig.clock.pass(1000);
    expect(await rig.ended(run)).toMatchObject({ status: 'partial', resumable: true });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'partial', found: 10, fetched: 10 });
    const [query] = await rig.queries(range.id);
    expect(query).toMatchObject({ ending: 'timeout', received: 10, unique: 10 });
    relay.behave();
    await rig.engine.methods['fetch.resume']({ run });
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect(relay.requests()[1]).toMatchObject({ until: START });
    expect((await rig.archivedIds()).length).toBe(30);
  });

  it('an EOSE for another subscription does not end a query', async () => {
    const gate = new Gate();
    const relay = await startRelay({ events: history(5), behaviours: [eoseForUnknownSubscription(), holdEose(gate)] });
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging' });
    await until(() => gate.waiting > 0);
    expect((await rig.onlyRange(relay.url)).status).toBe('active');
    gate.open();
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
  });

  it('7: keeps closing the socket in the middle of a page: incomplete, and resumable', async () => {
    const relay = await startRelay({ events: history(50) });
    for (const page of [3, 4, 5, 6, 7, 8]) relay.use(closeSocketMidPage({ page, after: 2 }));
    const run = await rig.fetch({ limit: 10 });
    expect(run).toMatchObject({ status: 'partial', resumable: true });
    const range = await rig.onlyRange(relay.url);
    expect(range.reason).toMatch(/ended while a page was on its way/);
    expect((await rig.queries(range.id)).filter(({ ending }) => ending === 'disconnect').length).toBeGreaterThan(1);
    relay.behave();
    await rig.engine.methods['fetch.resume']({ run: run.id });
    expect(await rig.ended(run.id)).toMatchObject({ status: 'complete' });
    expect((await rig.archivedIds()).length).toBe(50);
  });

  it('8: CLOSED in the middle of a page keeps what came and is not an end', async () => {
    const relay = await startRelay({
      events: history(50),
      behaviours: [closedMidPage({ page: 2, after: 3, reason: 'error: shutting down' })],
    });
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ status: 'partial', resumable: true });
    const range = await rig.onlyRange(relay.url);
    expect(range.found).toBeGreaterThanOrEqual(10);
    expect(range.reason).toContain('error: shutting down');
  });

  it('8: rate limiting cools down for 65 seconds, and the run goes on by itself', async () => {
    const relay = await startRelay({ events: history(30) });
    const stop = relay.use(closedWith('rate-limited: slow down'));
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, limit: 10, strategy: 'paging' });
    await until(async () => {
      const snapshot = await rig.engine.topics.activity.snapshot({});
      return snapshot.runs[0]?.relays[0]?.state === 'cooling-down';
    });
    stop();
    const asked = relay.requests().length;
    await rig.clock.pass(60_000);
    expect(relay.requests().length).toBe(asked);
    await rig.clock.pass(6_000);
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    const [query] = await rig.queries((await rig.onlyRange(relay.url)).id);
    expect(query).toMatchObject({ ending: 'rate-limited', message: 'rate-limited: slow down' });
  });

  it('9: too many concurrent REQs by NOTICE: waits and asks again', async () => {
    const relay = await startRelay({ events: history(30) });
    const stop = relay.use(noticeTooManyRequests(0));
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, limit: 10, strategy: 'paging' });
    await until(() => relay.log.sent('NOTICE').length > 0);
    stop();
    expect(await rig.ended(run)).toMatchObject({ status: 'complete' });
    expect((await rig.archivedIds()).length).toBe(30);
  });

  it('10: blocks clients that come back at once: backs off long enough to be let in', async () => {
    const relay = await startRelay({
      events: history(30),
      behaviours: [blockEagerClients(3000, rig.clock), closeSocketMidPage({ page: 2, after: 1 })],
    });
    expect(await rig.fetch({ limit: 10 })).toMatchObject({ status: 'complete' });
    expect(relay.requests().length).toBeGreaterThan(3);
  });
});

describe('a relay that sends what was not asked for', () => {
  it('11: bad signatures, wrong IDs and other events are counted, and neither stored, nor found, nor moved by', async () => {
    const events = history(60);
    const relay = await startRelay({
      events,
      behaviours: [
        corruptEvents({ badSignature: 2, wrongId: 2, malformed: 1, offFilter: [buildEvent({ author: bob })] }),
      ],
    });
    const run = await rig.fetch({ limit: 20 });
    const good = new Set(idsOf(events));
    for (const id of await rig.archivedIds()) expect(good.has(id)).toBe(true);
    const coverage = await rig.relay(relay.url);
    expect(coverage.invalidObservations).toBeGreaterThan(0);
    expect(coverage.ranges[0]?.found).toBe((await rig.archivedIds()).length);
    expect(run.status).not.toBe('failed');
  });

  it('11: an old event with a bad signature does not move the cursor past the history', async () => {
    const events = history(60);
    const forged = { ...buildEvent({ createdAt: 1000 }), sig: '00'.repeat(64) };
    const stranger = buildEvent({ author: bob, createdAt: 2000 });
    const relay = await startRelay({ events, behaviours: [addEvents([forged, stranger])] });
    expect(await rig.fetch({ limit: 20 })).toMatchObject({ status: 'complete' });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    for (const asked of untilsOf(relay)) expect(Number(asked)).toBeGreaterThanOrEqual(START - 100_000);
  });

  it('frames that cannot be read harm nothing that came, and nothing is concluded from such an answer', async () => {
    const events = history(20);
    const relay = await startRelay({ events, behaviours: [malformedFrames()] });
    expect(await rig.fetch()).toMatchObject({ status: 'partial', newlyArchived: 20, resumable: true });
    expect((await rig.onlyRange(relay.url)).reason).toMatch(/could not be read/);
  });

  it('a frame beyond the limit ends the query as failed, not the process', async () => {
    const relay = await startRelay({ events: history(20), behaviours: [giantFrame(8 * 1024 * 1024)] });
    const run = await rig.fetch();
    expect(['failed', 'partial']).toContain(run.status);
    const range = await rig.onlyRange(relay.url);
    expect((await rig.queries(range.id))[0]?.ending).toBe('failed');
  });

  it('20: a broken NIP-11 document is no error of the fetch', async () => {
    await startRelay({ events: history(20), behaviours: [informationText('{"limitation": {"max_limit": "many", ')] });
    expect(await rig.fetch()).toMatchObject({ status: 'complete', newlyArchived: 20 });
  });

  it('22: an HTTP answer instead of a relay is said in the health of that relay', async () => {
    const relay = await startRelay({ behaviours: [refuseUpgrade(502)] });
    expect(await rig.fetch()).toMatchObject({ status: 'failed' });
    expect((await rig.onlyRange(relay.url)).reason).toContain('502');
    const [health] = await rig.engine.methods['relays.health']({});
    expect(health?.lastFailure).toContain('502');
  });
});
