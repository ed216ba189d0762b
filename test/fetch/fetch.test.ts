import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { Gate } from '../relays/gate.ts';
import { holdAnswers } from '../relays/behaviours/end-of-stored-events.ts';
import { closedWith, closeSocketMidPage } from '../relays/behaviours/closing.ts';
import { alice, bob, buildEvent, buildHistory } from '../relays/event-builder.ts';
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
  return relay;
}

const history = (count: number): SignedEvent[] => buildHistory({ count, from: START - 100_000, to: START - 1000 });
const idsOf = (events: readonly SignedEvent[]): string[] => events.map(({ id }) => id).sort();

describe('the first fetch', () => {
  it('brings the whole history with a fixed boundary, no lower bound, and limit 100', async () => {
    const events = history(250);
    const relay = await startRelay({ events });
    await rig.addAlice([relay]);
    const run = await rig.fetch();
    expect(run).toMatchObject({ status: 'complete', boundary: START, limit: 100, newlyArchived: 250 });
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    expect(relay.requests()[0]).toEqual({ authors: [alice.pubkey], until: START, limit: 100 });
    for (const request of relay.requests()) {
      expect(request).toMatchObject({ limit: 100 });
      expect(request).not.toHaveProperty('since');
    }
    expect(await rig.onlyRange(relay.url)).toMatchObject({
      since: null,
      until: START,
      status: 'complete',
      found: 250,
      fetched: 250,
    });
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: true, forwardBoundary: START });
  });

  it('counts an event of two relays once in the archive and once per relay as found', async () => {
    const events = history(40);
    const [one, two] = [await startRelay({ events }), await startRelay({ events: events.slice(0, 30) })];
    await rig.addAlice([one, two]);
    await rig.fetch();
    expect((await rig.onlyRange(one.url)).found).toBe(40);
    expect((await rig.onlyRange(two.url)).found).toBe(30);
    const [account] = await rig.engine.methods['accounts.list']({});
    expect(account?.archive.events).toBe(40);
  });

  it('asks write relays and extra sources, never read-only ones', async () => {
    const [write, extra, read] = [await startRelay(), await startRelay(), await startRelay()];
    await rig.engine.methods['accounts.add']({
      key: alice.pubkey,
      write: [write.url],
      extra: [extra.url],
      read: [read.url],
    });
    await rig.fetch();
    expect(write.requests().length).toBeGreaterThan(0);
    expect(extra.requests().length).toBeGreaterThan(0);
    expect(read.requests()).toEqual([]);
  });

  it('goes on with the other relays when one cannot be reached, and says which and why', async () => {
    const events = history(20);
    const up = await startRelay({ events });
    const down = await startRelay();
    await down.stop();
    await rig.addAlice([up, down]);
    const run = await rig.fetch();
    expect(run.status).toBe('partial');
    expect((await rig.onlyRange(up.url)).status).toBe('complete');
    const failed = await rig.onlyRange(down.url);
    expect(failed).toMatchObject({ status: 'failed', found: 0 });
    expect(failed.reason).toMatch(/refused/i);
    expect(await rig.relay(down.url)).toMatchObject({ historyComplete: false, forwardBoundary: null });
  });

  it('never shows a refusal as an empty success', async () => {
    for (const reason of ['auth-required: no', 'restricted: members only', 'error: broken', 'blocked: go away']) {
      const relay = await startRelay({ events: history(5), behaviours: [closedWith(reason)] });
      const own = await FetchRig.start();
      await own.addAlice([relay]);
      const run = await own.fetch();
      expect(run.status).toBe('failed');
      const range = await own.onlyRange(relay.url);
      expect(range).toMatchObject({ status: 'failed', found: 0 });
      expect(range.reason).toContain(reason);
      const [query] = await own.queries(range.id);
      expect(query).toMatchObject({ message: reason, ending: reason.startsWith('auth') ? 'auth-required' : 'closed' });
      await own.close();
    }
  });

  it('refuses an account without a source, an unknown account, a bad limit and a relay that is no source, and changes nothing', async () => {
    const relay = await startRelay();
    const start = rig.engine.methods['fetch.start'];
    await expect(start({ account: bob.pubkey })).rejects.toMatchObject({ code: 'unknown-account' });
    await rig.engine.methods['accounts.add']({ key: alice.pubkey, read: [relay.url] });
    await expect(start({ account: alice.pubkey })).rejects.toMatchObject({ code: 'nothing-to-do' });
    await expect(start({ account: alice.pubkey, relays: [relay.url] })).rejects.toMatchObject({
      code: 'unknown-relay',
    });
    await expect(start({ account: alice.pubkey, limit: 0 })).rejects.toMatchObject({ code: 'invalid-argument' });
    await expect(start({ account: alice.pubkey, limit: 1e9 })).rejects.toMatchObject({ code: 'invalid-argument' });
    expect(await rig.engine.methods['runs.list']({})).toEqual([]);
  });
});

describe('incremental fetching', () => {
  it('asks only from ten seconds before the boundary up to the new one', async () => {
    const relay = await startRelay({ events: history(30) });
    await rig.addAlice([relay]);
    await rig.fetch();
    const before = relay.requests().length;
    await rig.clock.pass(60_000);
    const fresh = buildEvent({ createdAt: START + 30 });
    relay.publish(fresh);
    const run = await rig.fetch();
    expect(run).toMatchObject({ status: 'complete', newlyArchived: 1 });
    for (const request of relay.requests().slice(before)) expect(request).toMatchObject({ since: START - 10 });
    expect(relay.requests()[before]).toMatchObject({ since: START - 10, until: START + 60 });
    expect(await rig.relay(relay.url)).toMatchObject({ forwardBoundary: START + 60 });
  });

  it('does not move the boundary when the interval did not finish', async () => {
    const relay = await startRelay({ events: history(10) });
    await rig.addAlice([relay]);
    await rig.fetch();
    await rig.clock.pass(60_000);
    relay.behave(closedWith('error: broken'));
    expect((await rig.fetch()).status).toBe('failed');
    expect(await rig.relay(relay.url)).toMatchObject({ forwardBoundary: START });
  });

  it('gives a new source its own initial history', async () => {
    const events = history(20);
    const [old, added] = [await startRelay({ events }), await startRelay({ events })];
    await rig.addAlice([old]);
    await rig.fetch();
    await rig.clock.pass(60_000);
    await rig.engine.methods['accounts.setRelays']({
      account: alice.pubkey,
      relays: [
        { url: old.url, read: false, write: true, extra: false },
        { url: added.url, read: false, write: false, extra: true },
      ],
    });
    await rig.fetch();
    expect(old.requests().at(-1)).toHaveProperty('since');
    expect(added.requests()[0]).not.toHaveProperty('since');
    expect(await rig.onlyRange(added.url)).toMatchObject({ since: null, found: 20, status: 'complete' });
  });

  it('does not let an event dated far ahead move any edge', async () => {
    const relay = await startRelay({
      events: [...history(5), buildEvent({ createdAt: START * 1000 }), buildEvent({ createdAt: START + 900_000 })],
    });
    await rig.addAlice([relay]);
    await rig.fetch();
    expect(await rig.relay(relay.url)).toMatchObject({ forwardBoundary: START });
  });

  it('says that the clock was set back, and asks everything again', async () => {
    const relay = await startRelay({ events: history(5) });
    await rig.addAlice([relay]);
    await rig.fetch();
    rig.clock.setWallClock((START - 5000) * 1000);
    const before = relay.requests().length;
    const run = await rig.fetch();
    expect(run.warnings.join(' ')).toMatch(/clock was set back/);
    expect(relay.requests()[before]).toEqual({ authors: [alice.pubkey], until: START - 5000, limit: 100 });
    expect(await rig.relay(relay.url)).toMatchObject({ forwardBoundary: START - 5000 });
  });
});

describe('recheck and refetch', () => {
  it('recheck finds an old event that was added to the relay meanwhile, which fetch cannot see', async () => {
    const relay = await startRelay({ events: history(30) });
    await rig.addAlice([relay]);
    await rig.fetch();
    relay.publish(buildEvent({ createdAt: START - 50_000, content: 'imported later' }));
    await rig.clock.pass(60_000);
    expect((await rig.fetch()).newlyArchived).toBe(0);
    await rig.clock.pass(60_000);
    expect(await rig.fetch({ recheck: true })).toMatchObject({ type: 'recheck', status: 'complete', newlyArchived: 1 });
    expect(await rig.relay(relay.url)).toMatchObject({ forwardBoundary: START + 120 });
  });

  it('refetch repeats exactly the scope and keeps the earlier attempt', async () => {
    const relay = await startRelay({ events: history(30) });
    await rig.addAlice([relay]);
    await rig.fetch({ strategy: 'auto' });
    const range = await rig.onlyRange(relay.url);
    relay.publish(buildEvent({ createdAt: START - 50_000, content: 'imported later' }));
    await rig.clock.pass(60_000);
    const before = relay.requests().length;
    const { run } = await rig.engine.methods['fetch.refetch']({ range: range.id });
    expect(await rig.ended(run)).toMatchObject({ type: 'refetch', status: 'complete', newlyArchived: 1 });
    expect(relay.requests()[before]).toEqual({ authors: [alice.pubkey], until: START, limit: 100 });
    const [first, second] = (await rig.attempts(range.id)).filter(({ strategy }) => strategy === 'paging');
    expect(first).toMatchObject({ status: 'complete', found: 30 });
    expect(second).toMatchObject({ status: 'complete', found: 31, prior: first?.id, continued: false });
    expect(await rig.onlyRange(relay.url)).toMatchObject({ id: range.id, found: 31, attemptCount: 3 });
    expect(await rig.relay(relay.url)).toMatchObject({ forwardBoundary: START });
  });
});

describe('interruption and resume', () => {
  it('cancel keeps what came, and resume goes on from the cursor with the saved boundary and limit', async () => {
    const events = history(100);
    const gate = new Gate();
    const relay = await startRelay({ events });
    await rig.addAlice([relay]);
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, limit: 10, strategy: 'paging' });
    await until(() => relay.requests().length >= 4);
    const release = relay.use(holdAnswers(gate));
    await rig.engine.methods['runs.cancel']({ run });
    gate.open();
    const cancelled = await rig.ended(run);
    release();
    expect(cancelled).toMatchObject({ status: 'cancelled', resumable: true });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'partial', resumable: true });
    expect(range.found).toBeLessThan(100);

    await rig.clock.pass(3_600_000);
    await rig.engine.methods['settings.set']({ pageLimit: 77 });
    const before = relay.requests().length;
    const { runs } = await rig.engine.methods['fetch.resume']({});
    expect(runs).toEqual([run]);
    expect(await rig.ended(run)).toMatchObject({ status: 'complete', boundary: START, limit: 10 });
    const [, attempt] = await rig.attempts(range.id);
    expect(attempt).toMatchObject({ continued: true, limit: 10, found: 100 });
    for (const request of relay.requests().slice(before)) expect(request).toMatchObject({ limit: 10 });
    expect(Number(relay.requests()[before]?.['until'])).toBeLessThan(START);
    expect(await rig.archivedIds()).toEqual(idsOf(events));
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: true, forwardBoundary: START });
  });

  it('closing stops cleanly; after a restart the run is unfinished and resumable', async () => {
    const gate = new Gate();
    const relay = await startRelay({ events: history(100) });
    await rig.addAlice([relay]);
    await rig.engine.methods['fetch.start']({ account: alice.pubkey, limit: 10, strategy: 'paging' });
    await until(() => relay.requests().length >= 3);
    relay.use(holdAnswers(gate));
    await rig.restart();
    gate.open();
    relay.behave();
    const [run] = await rig.engine.methods['runs.list']({});
    expect(run).toMatchObject({ resumable: true });
    expect(run?.status).not.toBe('active');
    await rig.engine.methods['fetch.resume']({});
    expect(await rig.ended(run?.id ?? 0)).toMatchObject({ status: 'complete' });
    expect((await rig.archivedIds()).length).toBe(100);
  });

  it('fetch goes on with an unfinished history and then brings what is newer', async () => {
    const relay = await startRelay({ events: history(60) });
    await rig.addAlice([relay]);
    relay.use(closedWith('error: broken'));
    await rig.fetch({ limit: 10 });
    relay.behave();
    await rig.clock.pass(60_000);
    relay.publish(buildEvent({ createdAt: START + 20 }));
    const run = await rig.fetch();
    expect(run).toMatchObject({ status: 'complete', newlyArchived: 61 });
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: true, forwardBoundary: START + 60 });
  });

  it('fetch and resume leave a range alone that a recheck covered meanwhile; asked for by itself it goes on', async () => {
    const relay = await startRelay({ events: history(60) });
    await rig.addAlice([relay]);
    relay.use(closedWith('error: broken'));
    const broken = await rig.fetch({ limit: 10 });
    relay.behave();
    await rig.clock.pass(60_000);
    await rig.fetch({ recheck: true });
    const [range, wider] = (await rig.relay(relay.url)).ranges;
    expect(range).toMatchObject({ status: 'failed', resumable: true, closedBy: wider?.id });

    const before = relay.requests().length;
    await rig.clock.pass(60_000);
    expect(await rig.fetch()).toMatchObject({ status: 'complete' });
    for (const request of relay.requests().slice(before)) expect(request['since']).toBe(START + 50);
    await expect(rig.engine.methods['fetch.resume']({})).rejects.toMatchObject({ code: 'nothing-to-do' });
    await expect(rig.engine.methods['fetch.resume']({ run: broken.id })).rejects.toMatchObject({
      code: 'nothing-to-do',
    });

    await rig.engine.methods['fetch.resume']({ range: range?.id ?? 0 });
    expect(await rig.ended(broken.id)).toMatchObject({ status: 'complete' });
    expect((await rig.relay(relay.url)).ranges[0]).toMatchObject({ status: 'complete', closedBy: null });
  });

  it('resume has nothing to do after everything completed', async () => {
    const relay = await startRelay({ events: history(3) });
    await rig.addAlice([relay]);
    const run = await rig.fetch();
    await expect(rig.engine.methods['fetch.resume']({})).rejects.toMatchObject({ code: 'nothing-to-do' });
    await expect(rig.engine.methods['fetch.resume']({ run: run.id })).rejects.toMatchObject({ code: 'nothing-to-do' });
    await expect(rig.engine.methods['fetch.resume']({ run: 999 })).rejects.toMatchObject({ code: 'unknown-run' });
    await expect(rig.engine.methods['fetch.refetch']({ range: 999 })).rejects.toMatchObject({ code: 'unknown-range' });
  });

  it('one run at a time for an account', async () => {
    const gate = new Gate();
    const relay = await startRelay({ events: history(3), behaviours: [holdAnswers(gate)] });
    await rig.addAlice([relay]);
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'paging' });
    await expect(rig.engine.methods['fetch.start']({ account: alice.pubkey })).rejects.toMatchObject({
      code: 'already-active',
    });
    gate.open();
    await rig.ended(run);
  });

  it('a socket closed in the middle of a page ends that query, and the same page is asked again', async () => {
    const events = history(50);
    const relay = await startRelay({ events, behaviours: [closeSocketMidPage({ page: 3, after: 4 })] });
    await rig.addAlice([relay]);
    const run = await rig.fetch({ limit: 10 });
    expect(run.status).toBe('complete');
    const queries = await rig.queries((await rig.onlyRange(relay.url)).id);
    const broken = queries.findIndex(({ ending }) => ending === 'disconnect');
    expect(broken).toBeGreaterThan(0);
    expect(queries[broken + 1]?.request).toEqual(queries[broken]?.request);
    expect(await rig.archivedIds()).toEqual(idsOf(events));
  });
});
