import BetterSqlite3 from 'better-sqlite3';
import { neventEncode, noteEncode } from 'nostr-tools/nip19';
import { describe, expect, test, vi } from 'vitest';
import { beginAttempt, openRange } from '../../main/coverage/range-history.ts';
import { beginRun } from '../../main/coverage/run-history.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { NOW, startEngine, startRelay } from './engine-rig.ts';

describe('an engine', () => {
  test('starts nothing by itself: no relay hears of it, whatever is asked about the archive', async () => {
    const directory = scratchDirectory();
    const relay = await startRelay({ events: [buildEvent()] });
    const first = await startEngine(directory);
    await first.methods['settings.set']({ indexRelays: [relay.url] });
    await first.methods['accounts.add']({ key: alice.npub, write: [relay.url] });
    await first.close();

    const engine = await startEngine(directory);
    await engine.methods['accounts.list']({});
    await engine.methods['coverage.tree']({ account: alice.pubkey });
    await engine.methods['relays.health']({});
    await engine.topics.activity.snapshot({});
    await engine.topics.runs.snapshot({});
    await engine.topics.relays.snapshot({});

    expect(relay.log.entries).toEqual([]);
    await engine.close();
    expect(relay.log.entries).toEqual([]);
  });

  test('makes what a crash left active partial or failed, and resumable', async () => {
    const directory = scratchDirectory();
    const first = await startEngine(directory);
    await first.methods['accounts.add']({ key: alice.npub, write: ['wss://w.example'] });
    await first.close();
    const { db, close } = await openDatabase({ directory, nowMs: NOW * 1000 });
    const run = await beginRun(db, {
      accountId: 1,
      type: 'fetch',
      strategy: 'auto',
      pageLimit: 100,
      boundary: NOW - 500,
      sources: ['wss://w.example'],
      warnings: [],
      startedAt: NOW - 500,
    });
    const range = await openRange(db, {
      accountId: 1,
      relayId: 1,
      filter: { authors: [alice.pubkey] },
      since: null,
      until: NOW - 500,
    });
    await beginAttempt(db, {
      rangeId: range.id,
      runId: run,
      strategy: 'paging',
      pageLimit: 100,
      startedAt: NOW - 500,
      prior: null,
      continued: false,
    });
    await close();

    const engine = await startEngine(directory);

    expect(await engine.methods['runs.list']({})).toMatchObject([
      { id: run, status: 'partial', resumable: true, finishedAt: NOW, relays: [{ status: 'failed' }] },
    ]);
    expect(await engine.topics.activity.snapshot({})).toMatchObject({ now: NOW, runs: [], recent: [{ id: run }] });
  });

  test('says who it is', async () => {
    const directory = scratchDirectory();
    const engine = await startEngine(directory, { demo: true });

    expect(await engine.methods['application.info']({})).toEqual({
      version: '0.0.0-test',
      host: 'browser',
      dataDirectory: directory,
      demo: true,
    });
  });

  test('opens no address outside by itself', async () => {
    const engine = await startEngine(scratchDirectory());

    expect(
      (await thrownFault(() => engine.methods['application.openExternal']({ url: 'https://example.com' }))).code,
    ).toBe('unknown-method');
  });

  test('lets go of the data directory when it cannot be built', async () => {
    const directory = scratchDirectory();
    const { db, path, close } = await openDatabase({ directory, nowMs: NOW * 1000 });
    await db.schema.alterTable('settings').renameTo('gone').execute();
    await close();

    await expect(startEngine(directory)).rejects.toThrow('settings');

    const connection = new BetterSqlite3(path);
    connection.exec('alter table gone rename to settings');
    connection.close();
    await startEngine(directory);
  });
});

describe('finding an event', () => {
  const event = buildEvent({ content: 'here it is' });
  test.each([
    ['hex', event.id],
    ['hex in capitals', event.id.toUpperCase()],
    ['note', noteEncode(event.id)],
    ['nevent', neventEncode({ id: event.id, relays: ['wss://a.example'], author: alice.pubkey })],
    ['a link', ` nostr:${noteEncode(event.id)}`],
  ])('by %s', async (_, id) => {
    const engine = await startEngine(scratchDirectory());
    await engine.importLines([JSON.stringify(event)]);

    expect(await engine.methods['events.find']({ id })).toEqual({
      id: event.id,
      event,
      firstSeenAt: NOW,
      account: null,
      relays: [],
    });
  });

  test('that is not here finds nothing', async () => {
    const engine = await startEngine(scratchDirectory());

    expect(await engine.methods['events.find']({ id: event.id })).toBeNull();
  });

  test.each(['', 'alice', alice.npub, event.id.slice(1), noteEncode(event.id).slice(0, -2), `${event.id}0`])(
    'by what is no event ID is refused: %j',
    async (id) => {
      const engine = await startEngine(scratchDirectory());

      expect((await thrownFault(() => engine.methods['events.find']({ id }))).code).toBe('invalid-argument');
    },
  );

  test('tells on which relays it was seen, and when last', async () => {
    const [first, second] = [await startRelay({ events: [event] }), await startRelay({ events: [event] })];
    const engine = await startEngine(scratchDirectory());
    await engine.methods['accounts.add']({ key: alice.npub, write: [first.url], extra: [second.url] });
    const { run } = await engine.methods['fetch.start']({ account: alice.pubkey });
    await engine.runEnded(run);

    const found = await engine.methods['events.find']({ id: event.id });

    expect(found?.relays).toMatchObject([
      { url: first.url, role: 'write', state: 'present', observedAt: NOW, query: { type: 'REQ' } },
      { url: second.url, role: 'extra', state: 'present', observedAt: NOW, query: { type: 'REQ' } },
    ]);
  });
});

describe('importing', () => {
  test('tells whoever watches, and is counted in the account', async () => {
    const engine = await startEngine(scratchDirectory());
    await engine.methods['accounts.add']({ key: alice.npub, write: ['wss://w.example'] });
    const heard = vi.fn();
    engine.topics.accounts.onDidChange(heard);
    const lines = buildHistory({ count: 3, from: 100, to: 300 })
      .map((event) => JSON.stringify(event))
      .join('\r\n');

    const report = await engine.methods['archive.import']({ lines: `\ufeff${lines}\r\nnot an event\r\n` });

    expect(report).toEqual({
      read: 4,
      newlyArchived: 3,
      alreadyArchived: 0,
      bad: 1,
      problems: [{ line: 4, message: 'not JSON' }],
    });
    expect(heard).toHaveBeenCalled();
    expect((await engine.methods['accounts.list']({}))[0]?.archive).toEqual({ events: 3, oldest: 100, newest: 300 });
  });

  test('and exporting go around in a circle', async () => {
    const [one, other] = [await startEngine(scratchDirectory()), await startEngine(scratchDirectory())];
    const events = buildHistory({ count: 30, from: 100, to: 300, kinds: [1, 7] });
    await one.importLines(events.toReversed().map((event) => JSON.stringify(event)));

    async function* exported(): AsyncGenerator<string> {
      for await (const event of one.exportEvents({ kinds: [1], since: 150 })) yield JSON.stringify(event);
    }
    const progress = vi.fn();
    await other.importLines(exported(), progress);

    const kept: unknown[] = [];
    for await (const event of other.exportEvents({})) kept.push(event);
    expect(kept).toEqual(events.filter(({ kind, created_at: at }) => kind === 1 && at >= 150));
    expect(progress).toHaveBeenCalled();
  });
});

test('settings that are changed are heard of and kept', async () => {
  const directory = scratchDirectory();
  const engine = await startEngine(directory);
  const heard = vi.fn();
  engine.topics.settings.onDidChange(heard);

  expect(await engine.methods['settings.set']({ pageLimit: 50, theme: 'dark' })).toMatchObject({
    pageLimit: 50,
    theme: 'dark',
  });

  expect(heard).toHaveBeenCalledTimes(1);
  expect((await thrownFault(() => engine.methods['settings.set']({ pageLimit: 1 }))).code).toBe('invalid-argument');
  await engine.close();
  expect(await (await startEngine(directory)).methods['settings.get']({})).toMatchObject({
    pageLimit: 50,
    theme: 'dark',
  });
});
