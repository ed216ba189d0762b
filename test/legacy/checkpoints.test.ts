import { describe, expect, it } from 'vitest';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, bob, buildEvent, buildHistory, saturatedSecond } from '../relays/event-builder.ts';
import { closedWith, closeSocketMidPage } from '../relays/behaviours/closing.ts';
import { holdAnswers } from '../relays/behaviours/end-of-stored-events.ts';
import { insertBeforeEnd, refuseLimitAbove } from '../relays/behaviours/paging.ts';
import { Gate } from '../relays/gate.ts';
import { onlyOn } from '../relays/relay-behaviour.ts';
import { until } from '../fetch/fetch-rig.ts';
import { CheckpointRig, startRelay, windowsAsked, type OldWindow } from './checkpoint-rig.ts';

const FROM = 1_650_000_000;
const TO = FROM + 999;

const history = buildHistory({ count: 30, from: FROM, to: TO, kinds: [1, 7] });
/** In the archive, within the windows, and on no relay: what a windows walk does not return. */
const onNoRelay = buildEvent({ createdAt: FROM + 500, content: 'only in the archive' });

/** Windows of one relay that follow each other over the whole time. */
function windowsOver(relay: string, count: number): OldWindow[] {
  const length = (TO + 1 - FROM) / count;
  return Array.from({ length: count }, (_, index) => ({
    relay,
    since: FROM + index * length,
    until: FROM + (index + 1) * length - 1,
  }));
}

describe('resuming what the first version left', () => {
  it('asks for the windows under the old rules and finds every event in them', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 2) }], { sources: [relay.url] });

    const run = await rig.resumeOne(1);

    expect(run).toMatchObject({ type: 'legacy-resume', status: 'complete', limit: 4, found: 30, newlyArchived: 30 });
    const asked = windowsAsked(relay);
    expect(asked[0]).toEqual({ since: FROM, until: FROM + 499, limit: 4 });
    expect(asked[1]).toEqual({ since: FROM + 250, until: FROM + 499, limit: 4 });
    expect(asked.every(({ limit }) => limit === 4)).toBe(true);
    expect(relay.requests()).toHaveLength(asked.length);
    expect(await rig.fetch.archivedIds()).toEqual(history.map(({ id }) => id).sort());
    expect(await rig.checkpoint(1)).toMatchObject({ status: 'resumed', pendingWindows: 0, windows: [], run: run.id });
  });

  it('concludes nothing from what did not come: no missing copy, no inventory, no history, no boundary', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 2) }], {
      sources: [relay.url],
      events: [onNoRelay],
    });
    expect((await rig.resumeOne(1)).status).toBe('complete');

    expect(rig.value('select count(*) from presence where present = 0')).toBe(0);
    expect(rig.value('select count(*) from presence where present = 1')).toBe(30);
    expect(rig.value('select count(*) from inventories')).toBe(0);
    expect(rig.value('select count(*) from fetch_state')).toBe(0);
    expect(rig.value('select count(*) from queries where covered_until is not null')).toBe(0);
    const tree = await rig.fetch.engine.methods['candidates.tree']({ account: alice.pubkey });
    expect(tree).toMatchObject({ total: 0, relays: [{ url: relay.url, count: 0, undetermined: 1 }] });
    const [account] = await rig.fetch.engine.methods['accounts.list']({});
    expect(account).toMatchObject({ completeRelays: 0, history: 'never-asked', unfinishedRanges: 0 });
    expect(await rig.fetch.relay(relay.url)).toMatchObject({
      historyComplete: false,
      history: 'never-asked',
      forwardBoundary: null,
      ranges: [{ since: FROM, until: TO, strategy: 'legacy-windows', status: 'complete', found: 30, reachedEnd: true }],
    });
  });

  it('projects the same presence as a rebuild from the evidence alone', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 2) }], {
      sources: [relay.url],
      events: [onNoRelay],
    });
    await rig.resumeOne(1);
    await rig.fetch.engine.close();

    const { db, close } = await openDatabase({ directory: rig.fetch.directory, nowMs: rig.fetch.clock.nowMs() });
    const presence = () => db.selectFrom('presence').selectAll().orderBy('event_ref').execute();
    const before = await presence();
    await db.transaction().execute((trx) => rebuildPresence(trx));
    expect(await presence()).toEqual(before);
    expect(await db.selectFrom('inventories').selectAll().execute()).toEqual([]);
    await close();
  });

  it('leaves the initial history open: the next fetch asks from Beginning', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 1) }], { sources: [relay.url] });
    await rig.resumeOne(1);
    const asked = relay.requests().length;

    const run = await rig.fetch.fetch();

    expect(run).toMatchObject({ status: 'complete', newlyArchived: 0 });
    expect(relay.requests()[asked]).not.toHaveProperty('since');
    // What the scan proved makes the windows nothing to be done any more, and changes nothing of how they ended.
    const { ranges, historyComplete } = await rig.fetch.relay(relay.url);
    expect(historyComplete).toBe(true);
    expect(ranges.filter(({ strategy }) => strategy === 'legacy-windows')).toMatchObject([{ status: 'complete' }]);
  });

  it('closes no range by windows, and closes windows by a later range', async () => {
    const relay = await startRelay({ events: history, behaviours: [closedWith('error: not now')] });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 1) }], { sources: [relay.url] });
    expect((await rig.resumeOne(1)).status).toBe('failed');
    const { id } = await rig.fetch.onlyRange(relay.url);
    const { run } = await rig.fetch.engine.methods['fetch.refetch']({ range: id, strategy: 'paging' });
    expect((await rig.fetch.ended(run)).status).toBe('failed');
    relay.behave();
    expect((await rig.resumeOne(1)).status).toBe('complete');
    const failed = (await rig.fetch.relay(relay.url)).ranges.find(({ strategy }) => strategy === 'paging');
    expect(failed).toMatchObject({ since: FROM, until: TO, status: 'failed', closedBy: null, resumable: true });

    relay.behave(closedWith('error: not now'));
    const other = await CheckpointRig.start([{ windows: windowsOver(relay.url, 1) }], { sources: [relay.url] });
    expect((await other.resumeOne(1)).status).toBe('failed');
    relay.behave();
    await other.fetch.fetch();
    const windows = (await other.fetch.relay(relay.url)).ranges.find(({ strategy }) => strategy === 'legacy-windows');
    expect(windows).toMatchObject({ status: 'failed', closedBy: expect.any(Number) as number });
  });

  it('leaves a second that is full unfinished, names it, and asks for it again when told to', async () => {
    const second = FROM + 333;
    const relay = await startRelay({ events: [...history, ...saturatedSecond(second, 6)] });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 2) }], { sources: [relay.url] });

    const run = await rig.resumeOne(1);

    expect(run).toMatchObject({ status: 'partial', resumable: false, found: 34 });
    expect(run.relays[0]?.reason).toContain('holds more events than one answer can carry');
    expect(await rig.checkpoint(1)).toMatchObject({
      status: 'resumed',
      pendingWindows: 1,
      windows: [{ since: second, until: second }],
    });
    expect((await rig.fetch.relay(relay.url)).ranges).toMatchObject([
      { status: 'partial', saturatedSeconds: [second], reachedEnd: true, resumable: false },
    ]);
    const asked = relay.requests().length;
    expect((await rig.resumeOne(1)).id).toBe(run.id);
    expect(windowsAsked(relay).slice(asked)).toEqual([{ since: second, until: second, limit: 4 }]);
  });

  it('asks for full seconds again only when nothing else is left, and is not complete without them', async () => {
    const gate = new Gate();
    const full = TO - 10;
    const relay = await startRelay({ events: [...history, ...saturatedSecond(full, 6)] });
    const [older] = windowsOver(relay.url, 4);
    if (older === undefined) throw new Error('there are windows');
    const windows = [older, { relay: relay.url, since: full, until: full }];
    const rig = await CheckpointRig.start([{ limit: 6, windows }], { sources: [relay.url] });
    relay.use(onlyOn(({ filters }) => filters[0]?.['since'] !== full, holdAnswers(gate)));
    const { runs } = await rig.fetch.engine.methods['legacy.resume']({ checkpoints: [1] });
    const [run = 0] = runs;
    await until(() => gate.waiting === 1);
    await rig.fetch.engine.methods['runs.cancel']({ run });
    expect((await rig.fetch.ended(run)).status).toBe('cancelled');
    gate.open();
    const asked = relay.requests().length;

    expect(await rig.resumeOne(1)).toMatchObject({ id: run, status: 'partial', resumable: false });
    expect(windowsAsked(relay).slice(asked)).not.toContainEqual({ since: full, until: full, limit: 6 });
    const before = relay.requests().length;
    expect((await rig.resumeOne(1)).status).toBe('partial');
    expect(windowsAsked(relay).slice(before)).toEqual([{ since: full, until: full, limit: 6 }]);
  });

  it('goes on where it was cancelled, in the same run, and asks nothing again that was completed', async () => {
    const gate = new Gate();
    const relay = await startRelay({ events: history, behaviours: [holdAnswers(gate)] });
    const windows = windowsOver(relay.url, 10);
    const rig = await CheckpointRig.start([{ limit: 500, windows }], { sources: [relay.url] });
    const { runs } = await rig.fetch.engine.methods['legacy.resume']({ checkpoints: [1] });
    const [run = 0] = runs;
    gate.release(4);
    await until(() => relay.requests().length === 5);
    expect(await rig.fetch.engine.methods['runs.cancel']({ run })).toEqual({ cancelled: true });
    expect(await rig.fetch.ended(run)).toMatchObject({ status: 'cancelled', resumable: true });
    expect(await rig.checkpoint(1)).toMatchObject({ status: 'resumed', pendingWindows: 6 });
    gate.open();
    await rig.fetch.restart();

    expect(await rig.resumeOne(1)).toMatchObject({ id: run, status: 'complete', found: 30, resumed: true });

    const asked = windowsAsked(relay).map(({ since }) => since);
    expect(asked).toEqual(windows.map(({ since }) => since).toSpliced(5, 0, windows[4]?.since ?? 0));
  });

  it('goes on with a run by its number as well, and by the number of its range', async () => {
    const relay = await startRelay({ events: history, behaviours: [closedWith('error: not now')] });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 2) }], { sources: [relay.url] });
    const { id: run } = await rig.resumeOne(1);
    expect(await rig.fetch.engine.methods['fetch.resume']({ run })).toEqual({ runs: [run] });
    expect((await rig.fetch.ended(run)).status).toBe('failed');
    relay.behave();
    const [range] = (await rig.fetch.relay(relay.url)).ranges;
    expect(await rig.fetch.engine.methods['fetch.resume']({ range: range?.id ?? 0 })).toEqual({ runs: [run] });
    expect((await rig.fetch.ended(run)).status).toBe('complete');
    expect(await thrownFault(() => rig.fetch.engine.methods['fetch.resume']({ run }))).toMatchObject({
      code: 'nothing-to-do',
    });
  });

  it('keeps a window that a relay does not answer from holding up the others', async () => {
    const relay = await startRelay({ events: history });
    const windows = windowsOver(relay.url, 4);
    relay.use({
      name: 'refuses the first window',
      takeRequest: ({ filters, subscription, connection }) => {
        if (filters[0]?.['since'] !== windows[0]?.since) return false;
        connection.send(['CLOSED', subscription, 'error: too hard']);
        return true;
      },
    });
    const rig = await CheckpointRig.start([{ limit: 500, windows }], { sources: [relay.url] });
    expect(await rig.resumeOne(1)).toMatchObject({ status: 'failed', resumable: true });
    // They are no unfinished ranges of the history: a fetch does not go on with them.
    expect(await rig.fetch.engine.methods['accounts.list']({})).toMatchObject([{ unfinishedRanges: 0 }]);

    expect(await rig.resumeOne(1)).toMatchObject({ status: 'partial', resumable: true });

    expect(await rig.checkpoint(1)).toMatchObject({ pendingWindows: 1, windows: [{ since: windows[0]?.since }] });
    expect(await rig.fetch.archivedIds()).toHaveLength(history.length - 8);
  });

  it('takes nothing for the whole when part of an answer could not be read', async () => {
    const relay = await startRelay({
      events: history,
      behaviours: [insertBeforeEnd(() => [{ type: 'text', text: '["EVENT", broken' }])],
    });
    const rig = await CheckpointRig.start([{ limit: 500, windows: windowsOver(relay.url, 1) }], {
      sources: [relay.url],
    });
    const run = await rig.resumeOne(1);
    expect(run).toMatchObject({ status: 'partial', found: 30, resumable: true });
    expect(await rig.checkpoint(1)).toMatchObject({ pendingWindows: 1 });
  });

  it('asks again after a connection that broke, and keeps what had come', async () => {
    const relay = await startRelay({ events: history, behaviours: [closeSocketMidPage({ page: 1, after: 3 })] });
    const rig = await CheckpointRig.start([{ limit: 500, windows: windowsOver(relay.url, 1) }], {
      sources: [relay.url],
    });
    expect(await rig.resumeOne(1)).toMatchObject({ status: 'complete', found: 30, newlyArchived: 30 });
    expect(relay.requests()).toHaveLength(2);
  });

  it('splits by a smaller limit where the relay refuses the old one', async () => {
    const relay = await startRelay({ events: history, behaviours: [refuseLimitAbove(10)] });
    const rig = await CheckpointRig.start([{ limit: 500, windows: windowsOver(relay.url, 1) }], {
      sources: [relay.url],
    });
    const run = await rig.resumeOne(1);
    // It never learns the exact maximum: what it tried is half of what was refused.
    expect(run.status).toBe('failed');
    relay.behave(refuseLimitAbove(300));
    expect(await rig.resumeOne(1)).toMatchObject({ status: 'complete', found: 30 });
  });

  it('takes an answer as large as the relay ever carried for a full one', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start([{ limit: 500, windows: windowsOver(relay.url, 1) }], {
      sources: [relay.url],
    });
    relay.behave({
      name: 'caps pages',
      changeFilter: (filter) => ({ ...filter, limit: Math.min(filter.limit ?? 8, 8) }),
    });
    await rig.fetch.fetch({ limit: 100 });
    expect((await rig.resumeOne(1)).found).toBe(30);
  });

  it('asks the relays of a checkpoint side by side, and the account has one run at a time', async () => {
    const gate = new Gate();
    const relays = [
      await startRelay({ events: history.slice(0, 15), behaviours: [holdAnswers(gate)] }),
      await startRelay({ events: history.slice(15), behaviours: [holdAnswers(gate)] }),
    ];
    const windows = relays.flatMap(({ url }) => windowsOver(url, 1));
    const rig = await CheckpointRig.start([{ limit: 500, windows }], { sources: relays.map(({ url }) => url) });
    const { runs } = await rig.fetch.engine.methods['legacy.resume']({ checkpoints: [1] });
    await until(() => gate.waiting === 2);
    const { methods } = rig.fetch.engine;
    expect(await thrownFault(() => methods['fetch.start']({ account: alice.pubkey }))).toMatchObject({
      code: 'already-active',
    });
    expect(await thrownFault(() => methods['legacy.resume']({ checkpoints: [1] }))).toMatchObject({
      code: 'already-active',
    });
    gate.open();
    expect(await rig.fetch.ended(runs[0] ?? 0)).toMatchObject({ status: 'complete', found: 30 });
  });

  it('goes on with several of one account one after another, and with other accounts meanwhile', async () => {
    const gate = new Gate();
    const events = [...history, ...buildHistory({ author: bob, count: 5, from: FROM, to: TO })];
    const relay = await startRelay({ events, behaviours: [holdAnswers(gate)] });
    const [first, second] = windowsOver(relay.url, 2);
    const rig = await CheckpointRig.start(
      [
        { limit: 500, windows: first === undefined ? [] : [first] },
        { limit: 500, windows: second === undefined ? [] : [second] },
        { limit: 500, author: bob, windows: windowsOver(relay.url, 1) },
      ],
      { sources: [relay.url] },
    );
    const { runs } = await rig.fetch.engine.methods['legacy.resume']({ checkpoints: [1, 2, 3] });
    expect(runs).toHaveLength(3);
    await until(() => gate.waiting === 2);
    expect(relay.requests().map(({ authors }) => authors)).toEqual([[alice.pubkey], [bob.pubkey]]);
    // One that waits for its turn can be cancelled, and then nothing is asked for it.
    await rig.fetch.engine.methods['runs.cancel']({ run: runs[1] ?? 0 });
    gate.open();
    const ended = [];
    for (const run of runs) ended.push(await rig.fetch.ended(run));
    expect(ended.map(({ status }) => status)).toEqual(['complete', 'cancelled', 'complete']);
    expect(ended[1]).toMatchObject({ resumable: true, found: 0 });
    expect(await rig.checkpoint(2)).toMatchObject({ status: 'resumed', pendingWindows: 1 });
    expect((await rig.resumeOne(2)).status).toBe('complete');
  });

  it('refetches the scope of old windows as a range of the history, with proof of its own', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 1) }], { sources: [relay.url] });
    await rig.resumeOne(1);
    const { id } = await rig.fetch.onlyRange(relay.url);
    const { run } = await rig.fetch.engine.methods['fetch.refetch']({ range: id, limit: 100, strategy: 'paging' });
    expect((await rig.fetch.ended(run)).status).toBe('complete');
    const { ranges } = await rig.fetch.relay(relay.url);
    expect(ranges.map(({ strategy, attemptCount }) => [strategy, attemptCount])).toEqual([
      ['legacy-windows', 1],
      ['paging', 1],
    ]);
    expect(rig.value('select count(*) from inventories')).toBe(1);
  });
});

describe('a new scan instead', () => {
  it('starts the initial history on the sources among the relays, says which are not asked, and keeps the windows', async () => {
    const relay = await startRelay({ events: history });
    const windows = [...windowsOver(relay.url, 2), ...windowsOver('wss://gone.example', 1)];
    const rig = await CheckpointRig.start([{ windows }], { sources: [relay.url] });

    const { runs } = await rig.fetch.engine.methods['legacy.rescan']({ checkpoints: [1] });

    const run = await rig.fetch.ended(runs[0] ?? 0);
    expect(run).toMatchObject({ type: 'fetch', status: 'complete', found: 30 });
    expect(run.warnings).toEqual([expect.stringContaining('wss://gone.example is no source of this account')]);
    expect(await rig.checkpoint(1)).toMatchObject({ status: 'replaced', run: run.id, pendingWindows: 3 });
    expect(await rig.fetch.relay(relay.url)).toMatchObject({ historyComplete: true });
    for (const method of ['legacy.resume', 'legacy.rescan', 'legacy.keep'] as const) {
      expect(await thrownFault(() => rig.fetch.engine.methods[method]({ checkpoints: [1] }))).toMatchObject({
        code: 'nothing-to-do',
        message: `Checkpoint 1 was replaced by a new scan already, run ${run.id}.`,
      });
    }
  });

  it('makes one scan of several checkpoints of an account', async () => {
    const relays = [await startRelay({ events: history }), await startRelay({ events: history })];
    const rig = await CheckpointRig.start(
      relays.map(({ url }) => ({ windows: windowsOver(url, 1) })),
      { sources: relays.map(({ url }) => url) },
    );
    const { runs } = await rig.fetch.engine.methods['legacy.rescan']({ checkpoints: [1, 2] });
    expect(runs).toHaveLength(1);
    expect((await rig.fetch.ended(runs[0] ?? 0)).relays).toHaveLength(2);
    expect(await rig.statuses()).toEqual(['replaced', 'replaced']);
  });

  it('replaces what was resumed in part, and goes on with neither twice', async () => {
    const relay = await startRelay({ events: history, behaviours: [closedWith('error: not now')] });
    const rig = await CheckpointRig.start([{ windows: windowsOver(relay.url, 2) }], { sources: [relay.url] });
    await rig.resumeOne(1);
    relay.behave();
    const { runs } = await rig.fetch.engine.methods['legacy.rescan']({ checkpoints: [1] });
    expect((await rig.fetch.ended(runs[0] ?? 0)).status).toBe('complete');
    expect(await rig.checkpoint(1)).toMatchObject({ status: 'replaced', run: runs[0] });
  });

  it('is refused where none of the relays is a source, and nothing has changed', async () => {
    const rig = await CheckpointRig.start([{ windows: windowsOver('wss://gone.example', 1) }], {
      sources: ['wss://other.example'],
    });
    expect(await thrownFault(() => rig.fetch.engine.methods['legacy.rescan']({ checkpoints: [1] }))).toMatchObject({
      code: 'nothing-to-do',
      message: expect.stringContaining('wss://gone.example') as string,
    });
    expect(await rig.statuses()).toEqual(['waiting']);
    expect(await rig.fetch.engine.methods['runs.list']({})).toEqual([]);
  });
});

describe('keeping for later', () => {
  it('notes the choice, starts nothing, and can be decided again', async () => {
    const relay = await startRelay({ events: history });
    const rig = await CheckpointRig.start(
      [{ windows: windowsOver(relay.url, 1) }, { windows: windowsOver(relay.url, 2) }],
      { sources: [relay.url] },
    );
    expect(await rig.fetch.engine.methods['legacy.keep']({ checkpoints: [1, 2] })).toEqual({ kept: 2 });
    expect(await rig.statuses()).toEqual(['kept', 'kept']);
    expect((await rig.fetch.engine.methods['legacy.overview']({})).waiting).toBe(0);
    expect(relay.requests()).toEqual([]);
    expect((await rig.resumeOne(2)).status).toBe('complete');
    expect(await rig.statuses()).toEqual(['kept', 'resumed']);
    for (const method of ['legacy.resume', 'legacy.rescan', 'legacy.keep'] as const) {
      expect(await thrownFault(() => rig.fetch.engine.methods[method]({ checkpoints: [1, 2] }))).toMatchObject({
        code: 'nothing-to-do',
      });
    }
    expect(await rig.statuses()).toEqual(['kept', 'resumed']);
  });

  it('refuses a checkpoint that is not there, and decides about none of the others', async () => {
    const rig = await CheckpointRig.start([{ windows: windowsOver('wss://relay.example', 1) }]);
    for (const method of ['legacy.resume', 'legacy.rescan', 'legacy.keep'] as const) {
      expect(await thrownFault(() => rig.fetch.engine.methods[method]({ checkpoints: [1, 77] }))).toMatchObject({
        code: 'unknown-checkpoint',
        details: { checkpoint: 77 },
      });
    }
    expect(await rig.statuses()).toEqual(['waiting']);
  });
});

it('shows per checkpoint what is left, when it stopped, and how many events of it are archived', async () => {
  const windows = [...windowsOver('wss://one.example', 2).slice(1), ...windowsOver('wss://two.example/', 1)];
  const rig = await CheckpointRig.start([{ limit: 500, windows }], { events: history.slice(0, 10) });
  expect(await rig.checkpoints()).toEqual([
    {
      id: 1,
      account: alice.pubkey,
      status: 'waiting',
      startedAt: 1_689_998_000,
      stoppedAt: 1_689_999_000,
      relays: ['wss://one.example', 'wss://two.example/'],
      pendingWindows: 2,
      windows: windows.map(({ relay: url, since, until: end }) => ({ url, since, until: end })),
      completedWindows: 1,
      eventsSeen: 2,
      windowLimit: 500,
      archivedWithin: 10,
      run: null,
    },
  ]);
});
