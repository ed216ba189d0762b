import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, openDatabaseToLeaveWord, type OpenDatabase } from '../../main/database/database-file.ts';
import { createEngine, type Engine } from '../../main/engine.ts';
import type { CandidateTree, ExclusionReason, Narrowing, SignedEvent } from '../../preload/contract.ts';
import { COMPLETE, CoverageRig, START } from '../coverage/coverage-rig.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, bob, buildEvent, type EventFields } from '../relays/event-builder.ts';
import { wipeArchive } from '../sync/wipe-archive.ts';
import { NOW, startEngine, startRelay } from './engine-rig.ts';

const account = alice.pubkey;
/** The write relay that was walked to its end and returned nothing. */
const WRITE = 'wss://write.example';
const WRITES = { read: false, write: true, extra: false };

/** A directory in which alice's write relay was found empty just now. */
async function walkedDirectory(): Promise<string> {
  const directory = scratchDirectory();
  await walkRelay(directory);
  return directory;
}

async function walkRelay(directory: string): Promise<void> {
  const { db, close } = await openDatabase({ directory, nowMs: START * 1000 });
  const rig = await CoverageRig.over(db);
  const range = await rig.range('write', null, NOW);
  await rig.page(range, await rig.attempt(range, await rig.run()), {}, COMPLETE);
  await close();
}

async function importAll(engine: Engine, events: readonly SignedEvent[]): Promise<void> {
  const report = await engine.importLines(events.map((event) => JSON.stringify(event)));
  expect(report.newlyArchived).toBe(events.length);
}

async function listed(engine: Engine): Promise<string[]> {
  return (await engine.methods['candidates.events']({ account, relay: WRITE })).map(({ event }) => event);
}

/** Signed in the second before {@link NOW} minus `age`. */
function at(age: number, fields: EventFields = {}): SignedEvent {
  return buildEvent({ createdAt: NOW - age, ...fields });
}

const note = at(100, { content: 'a note' });
const article = at(100, { kind: 30_023, tags: [['d', 'x']], content: 'an article' });
const twins = [at(50, { kind: 0, content: 'one' }), at(50, { kind: 0, content: 'another' })].sort((a, b) =>
  a.id < b.id ? -1 : 1,
);
const [lower = note, higher = note] = twins;
const asks = (tags: string[][], age = 50, fields: EventFields = {}): SignedEvent =>
  at(age, { kind: 5, tags, content: 'please', ...fields });
const vanishing = (relay: string, age = 50): SignedEvent => at(age, { kind: 62, tags: [['relay', relay]] });
const addressOfArticle = `30023:${alice.pubkey}:x`;
const deletion = asks([['e', note.id]]);

/** What is archived, which of it is offered, and why the rest is not. */
type Case = [name: string, archived: SignedEvent[], offered: SignedEvent[], reasons?: ExclusionReason[]];

const DELETED: Case[] = [
  ['a note that a request of its author names', [note, deletion], [deletion], ['deleted']],
  ['a note that a later one names is offered when another author asked', [note, asks([['e', note.id]], 50, { author: bob })], [note]],
  ['a note is deleted by its ID whatever the times', [note, asks([['e', note.id]], 500)], [asks([['e', note.id]], 500)], ['deleted']],
  ['a request that names another ID deletes nothing', [note, asks([['e', bob.pubkey]])], [note, asks([['e', bob.pubkey]])]],
  ['a malformed ID deletes nothing', [note, asks([['e', note.id.slice(1)], ['e']])], [note, asks([['e', note.id.slice(1)], ['e']])]],
  ['a reply that has an e tag is no request', [note, at(50, { tags: [['e', note.id]] })], [note, at(50, { tags: [['e', note.id]] })]],
  ['a request to delete a request has no effect', [note, deletion, asks([['e', deletion.id]], 10)], [deletion, asks([['e', deletion.id]], 10)], ['deleted']],
  ['an article by its address', [article, asks([['a', addressOfArticle]])], [asks([['a', addressOfArticle]])], ['deleted']],
  ['an article of the same second as the request for its address', [article, asks([['a', addressOfArticle]], 100)], [asks([['a', addressOfArticle]], 100)], ['deleted']],
  ['an article is newer than the request for its address', [article, asks([['a', addressOfArticle]], 101)], [article, asks([['a', addressOfArticle]], 101)]],
  ['a request for another identifier', [article, asks([['a', `30023:${alice.pubkey}:y`]])], [article, asks([['a', `30023:${alice.pubkey}:y`]])]],
  ['a request for another kind', [article, asks([['a', `30024:${alice.pubkey}:x`]])], [article, asks([['a', `30024:${alice.pubkey}:x`]])]],
  ['a request for the address of another author', [article, asks([['a', `30023:${bob.pubkey}:x`]])], [article, asks([['a', `30023:${bob.pubkey}:x`]])]],
  ['another author’s request for the address', [article, asks([['a', addressOfArticle]], 50, { author: bob })], [article]],
  ['an identifier with colons', [at(100, { kind: 30_023, tags: [['d', 'x:y:']] }), asks([['a', `${addressOfArticle}:y:`]])], [asks([['a', `${addressOfArticle}:y:`]])], ['deleted']],
  ['a profile by its address', [lower, asks([['a', `0:${alice.pubkey}:`]], 50)], [asks([['a', `0:${alice.pubkey}:`]], 50)], ['deleted']],
  ['an older version stays superseded when the newer one is deleted', [at(200, { kind: 0 }), lower, asks([['e', lower.id]])], [asks([['e', lower.id]])], ['deleted', 'superseded']],
]; // prettier-ignore

const VERSIONS: Case[] = [
  ['of two profiles the newer one', [at(51, { kind: 0 }), lower], [lower], ['superseded']],
  ['of two profiles of one second the one with the lower ID', [higher, lower], [lower], ['superseded']],
  ['profiles and relay lists do not replace each other', [lower, at(10, { kind: 10_002 })], [lower, at(10, { kind: 10_002 })]],
  ['profiles of two authors do not either', [at(100, { kind: 0 }), at(50, { kind: 0, author: bob })], [at(100, { kind: 0 })]],
  ['of two articles with one identifier the newer one', [article, at(99, { kind: 30_023, tags: [['d', 'x']] })], [at(99, { kind: 30_023, tags: [['d', 'x']] })], ['superseded']],
  ['articles with different identifiers both', [article, at(99, { kind: 30_023, tags: [['d', 'X']] })], [article, at(99, { kind: 30_023, tags: [['d', 'X']] })]],
  ['no identifier is the empty one', [at(100, { kind: 30_000 }), at(99, { kind: 30_000, tags: [['d', '']] })], [at(99, { kind: 30_000, tags: [['d', '']] })], ['superseded']],
  ['the first d tag counts', [article, at(99, { kind: 30_023, tags: [['d', 'y'], ['d', 'x']] })], [article, at(99, { kind: 30_023, tags: [['d', 'y'], ['d', 'x']] })]],
  ['an expired version replaces the one before it all the same', [article, at(99, { kind: 30_023, tags: [['d', 'x'], ['expiration', `${NOW}`]] })], [], ['superseded', 'expired']],
  ...[10_000, 19_999, 30_000, 39_999, 3].map((kind): Case => [`kind ${kind} has versions`, [at(2, { kind }), at(1, { kind })], [at(1, { kind })], ['superseded']]),
  ...[1, 9999, 40_000, 5].map((kind): Case => [`kind ${kind} has none`, [at(2, { kind }), at(1, { kind })], [at(2, { kind }), at(1, { kind })]]),
]; // prettier-ignore

const TIMES: Case[] = [
  ['an event that expires this second', [at(9, { tags: [['expiration', `${NOW}`]] })], [], ['expired']],
  ['an event that expires in the next second', [at(9, { tags: [['expiration', `${NOW + 1}`]] })], [at(9, { tags: [['expiration', `${NOW + 1}`]] })]],
  ...['soon', '', '-1', '1.5', `${NOW}s`, '1e3'].map((value): Case => [`an event whose expiration says “${value}”`, [at(9, { tags: [['expiration', value]] })], [], ['expired']]),
  ['an event whose expiration has no value', [at(9, { tags: [['expiration']] })], [], ['expired']],
  ['an event from before a request to vanish from this relay', [note, vanishing(WRITE)], [], ['vanished', 'never-sent']],
  ['an event of the same second', [at(50), vanishing(WRITE)], [], ['vanished', 'never-sent']],
  ['an event from after it', [at(49), vanishing(WRITE)], [at(49)], ['never-sent']],
  ['a request that names another relay', [note, vanishing('wss://both.example')], [note], ['never-sent']],
  ['a request that names another path of the relay', [note, vanishing(`${WRITE}/path`)], [note], ['never-sent']],
  ['a request that writes the relay in another way', [note, vanishing('WSS://Write.Example:443/')], [], ['vanished', 'never-sent']],
  ['a request that names all relays', [note, vanishing('ALL_RELAYS')], [], ['vanished', 'never-sent']],
  ['a request that names all relays in small letters', [note, vanishing('all_relays')], [], ['vanished', 'never-sent']],
  ['another author’s request to vanish', [note, at(50, { kind: 62, tags: [['relay', 'ALL_RELAYS']], author: bob })], [note]],
  ['a deletion request from before a request to vanish', [asks([['e', bob.pubkey]], 60), vanishing(WRITE)], [], ['vanished', 'never-sent']],
]; // prettier-ignore

const KINDS: Case[] = [
  ['a protected event', [at(9, { tags: [['-']] })], [], ['protected']],
  ['a tag that only begins so', [at(9, { tags: [['--'], ['-x', '-']] })], [at(9, { tags: [['--'], ['-x', '-']] })]],
  ['somebody else’s event', [at(9, { author: bob })], []],
  ['a request to vanish', [vanishing('wss://elsewhere.example')], [], ['never-sent']],
  ...[13, 14, 15, 9734, 22_242, 24_242, 27_235, 31_234].map((kind): Case => [`kind ${kind}`, [at(9, { kind })], [], ['never-sent']]),
  ...[20_000, 24_133, 29_999].map((kind): Case => [`kind ${kind}`, [at(9, { kind })], [], ['ephemeral']]),
  ...[12, 16, 61, 63, 19_999, 30_000].map((kind): Case => [`kind ${kind}`, [at(9, { kind })], [at(9, { kind })]]),
  ...[4, 1059].map((kind): Case => [`kind ${kind}, of which nothing is concluded`, [at(9, { kind })], []]),
]; // prettier-ignore

describe('what is confirmed missing is offered, or it is said why not', () => {
  let engine: Engine;
  let beside: OpenDatabase;

  beforeAll(async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'holdfast-candidates-'));
    await walkRelay(dataDirectory);
    const clock = new FakeClock(NOW * 1000);
    engine = await createEngine({ dataDirectory, host: 'browser', version: '0.0.0-test', mode: 'owner', clock });
    beside = openDatabaseToLeaveWord({ directory: dataDirectory, nowMs: NOW * 1000 });
    return async () => {
      await beside.close();
      await engine.close();
      rmSync(dataDirectory, { recursive: true });
    };
  });

  test.each([...DELETED, ...VERSIONS, ...TIMES, ...KINDS])('%s', async (_, archived, offered, reasons = []) => {
    for (const order of [archived, archived.toReversed()]) {
      await wipeArchive(beside.db);
      await importAll(engine, order);

      const tree = await engine.methods['candidates.tree']({ account, relays: [WRITE] });

      expect((await listed(engine)).sort()).toEqual(offered.map(({ id }) => id).sort());
      expect(tree.total).toBe(offered.length);
      expect(tree.excluded.map(({ reason }) => reason)).toEqual(reasons);
    }
  });
});

describe('candidates follow by themselves', () => {
  test('when an event is archived, and when a request deletes it', async () => {
    const engine = await startEngine(await walkedDirectory());
    expect((await engine.methods['candidates.tree']({ account })).total).toBe(0);

    await importAll(engine, [note]);
    expect((await engine.methods['candidates.tree']({ account })).total).toBe(1);
    await importAll(engine, [deletion]);

    expect(await engine.methods['candidates.tree']({ account })).toMatchObject({
      total: 1,
      excluded: [{ reason: 'deleted', events: 1 }],
    });
  });

  test('when evidence is committed, and whoever looks is told without asking', async () => {
    const [full, lacking] = [await startRelay({ events: [note, article] }), await startRelay({ events: [note] })];
    const clock = new FakeClock(NOW * 1000);
    const engine = await startEngine(scratchDirectory(), { clock });
    await engine.methods['accounts.add']({ key: alice.npub, write: [full.url, lacking.url] });
    const shown = follow(engine, clock);
    await shown.until((tree) => tree.relays.every(({ undetermined }) => undetermined === 0));
    expect(shown.latest).toMatchObject({ total: 0, relays: [{ count: 0 }, { count: 0 }] });

    await ended(engine, clock, (await engine.methods['fetch.start']({ account })).run);
    await shown.until((tree) => tree.total === 1);
    expect(shown.latest?.relays).toMatchObject([
      { url: full.url, count: 0, observedAt: expect.any(Number), comparison: 'compared', kinds: [], undetermined: 0 },
      { url: lacking.url, count: 1, kinds: [{ kind: 30_023, count: 1 }], undetermined: 0 },
    ]);

    // It turns out to have it by now.
    lacking.store.add(article);
    await ended(engine, clock, (await engine.methods['fetch.start']({ account, recheck: true })).run);
    await shown.until((tree) => tree.total === 0);
    expect(shown.latest?.relays).toMatchObject([{ count: 0 }, { count: 0, kinds: [] }]);
    shown.stop();
  });

  test('when another relay becomes a write relay', async () => {
    const engine = await startEngine(await walkedDirectory());
    await importAll(engine, [note]);
    const before = await engine.methods['candidates.tree']({ account });

    await engine.methods['accounts.setRelays']({ account, relays: [{ url: 'wss://new.example', ...WRITES }] });

    expect(before.relays.map(({ url, count, undetermined }) => [url, count, undetermined])).toEqual([
      [WRITE, 1, 0],
      ['wss://both.example', 0, 1],
    ]);
    expect((await engine.methods['candidates.tree']({ account })).relays).toMatchObject([
      { url: 'wss://new.example', count: 0, undetermined: 1 },
    ]);
  });
});

describe('what cannot be answered is said clearly', () => {
  test.each<[string, Partial<Narrowing>, string, RegExp]>([
    ['a time that ends before it begins', { since: 2, until: 1 }, 'invalid-argument', /ends before it begins/],
    ['an extra source', { relays: ['wss://extra.example'] }, 'unknown-relay', /extra source .* never becomes/],
    ['a read relay', { relays: ['wss://read.example/'] }, 'unknown-relay', /read relay/],
    ['a relay that is not listed', { relays: ['wss://elsewhere.example'] }, 'unknown-relay', /none of the relays/],
    ['what is no relay', { relays: ['elsewhere'] }, 'invalid-argument', /not a relay URL/],
  ])('%s', async (_, narrowing, code, message) => {
    const engine = await startEngine(await walkedDirectory());

    for (const ask of [engine.methods['candidates.tree'], engine.topics.candidates.snapshot]) {
      const fault = await thrownFault(() => ask({ account, ...narrowing }));
      expect(fault.code).toBe(code);
      expect(fault.message).toMatch(message);
    }
  });

  test('an account that is not here, and a page after what is not archived', async () => {
    const engine = await startEngine(await walkedDirectory());

    expect((await thrownFault(() => engine.methods['candidates.tree']({ account: bob.pubkey }))).code).toBe(
      'unknown-account',
    );
    const page = { account, relay: WRITE, after: note.id };
    expect((await thrownFault(() => engine.methods['candidates.events'](page))).code).toBe('invalid-argument');
  });
});

test('narrowing selects by relay, kind and both bounds, and an empty selection selects nothing', async () => {
  const engine = await startEngine(await walkedDirectory());
  await importAll(engine, [at(30), at(20), at(20, { kind: 7 }), at(10)]);
  const total = async (narrowing: Narrowing): Promise<number> =>
    (await engine.methods['candidates.tree']({ account, ...narrowing })).total;

  expect(await total({})).toBe(4);
  expect(await total({ relays: [`${WRITE}/`] })).toBe(4);
  expect(await total({ kinds: [7] })).toBe(1);
  expect(await total({ since: NOW - 20, until: NOW - 20 })).toBe(2);
  expect(await total({ kinds: [1], since: NOW - 20 })).toBe(2);
  expect(await total({ relays: [] })).toBe(0);
  expect(await total({ kinds: [] })).toBe(0);
});

test('pages of the list follow each other, newest first', async () => {
  const engine = await startEngine(await walkedDirectory());
  const events = [at(30), at(20, { content: 'a' }), at(20, { content: 'b' }), at(10)];
  await importAll(engine, events);
  const ask = (after?: string) =>
    engine.methods['candidates.events']({ account, relay: WRITE, limit: 3, ...(after === undefined ? {} : { after }) });

  const first = await ask();
  const rest = await ask(first.at(-1)?.event);

  const sorted = events.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
  expect([...first, ...rest].map(({ event }) => event)).toEqual(sorted.map(({ id }) => id));
  expect(first[0]).toEqual({
    ...{ event: sorted[0]?.id, kind: 1, createdAt: NOW - 10, preview: 'a note', refused: false },
    observedAt: START + 1,
  });
});

test('a reader goes by what the owner has checked, and says how much is left out', async () => {
  const directory = await walkedDirectory();
  const owner = await startEngine(directory);
  await importAll(owner, [note]);
  await owner.methods['candidates.tree']({ account });
  await importAll(owner, [article, at(5)]);
  const reader = await startEngine(directory, { mode: 'reader' });

  expect(await reader.methods['candidates.tree']({ account })).toMatchObject({ total: 1, unchecked: 2 });
  expect((await listed(reader)).length).toBe(1);
  expect(await owner.methods['candidates.tree']({ account })).toMatchObject({ total: 3 });
  expect(await reader.methods['candidates.tree']({ account })).not.toHaveProperty('unchecked');
});

test('what an earlier session archived is checked when the archive rests', async () => {
  const directory = await walkedDirectory();
  const first = await startEngine(directory);
  await importAll(first, [note]);
  await first.close();
  const clock = new FakeClock(NOW * 1000);
  await startEngine(directory, { clock });
  const reader = await startEngine(directory, { mode: 'reader' });
  expect((await reader.methods['candidates.tree']({ account })).total).toBe(0);

  await clock.pass(2000);

  expect((await reader.methods['candidates.tree']({ account })).total).toBe(1);
});

/** Shows candidates as an interface does, each time something changed. */
function follow(engine: Engine, clock: FakeClock) {
  const topic = engine.topics.candidates;
  let latest: CandidateTree | undefined;
  let changed = true;
  const stop = topic.onDidChange(() => {
    changed = true;
  });
  return {
    get latest() {
      return latest;
    },
    stop,
    async until(holds: (tree: CandidateTree) => boolean): Promise<void> {
      while (latest === undefined || !holds(latest)) {
        // What rests is over after a while on the clock; what a thread computes comes by itself.
        await clock.pass(10);
        if (!changed) continue;
        changed = false;
        latest = await topic.snapshot({ account });
      }
    },
  };
}

async function ended(engine: Engine, clock: FakeClock, run: number): Promise<void> {
  let over = false;
  const end = engine.runEnded(run).finally(() => {
    over = true;
  });
  while (!over) await clock.pass(10);
  await end;
}
