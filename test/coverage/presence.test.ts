import { describe, expect, test } from 'vitest';
import { beginAttempt, latestAttempt, openRange, type Attempt, type Range } from '../../main/coverage/range-history.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import { START } from './coverage-rig.ts';
import { PresenceRig, type Asked, type Moment } from './presence-rig.ts';

const [first, second, third] = [100, 200, 300].map((createdAt) => buildEvent({ createdAt })) as [
  SignedEvent,
  SignedEvent,
  SignedEvent,
];
const WHOLE: Asked = { relay: 'write', author: alice, since: null, until: 1000 };

async function open(): Promise<PresenceRig> {
  return PresenceRig.over((await openScratchDatabase()).db);
}

/** A query that was sent and answered in the same millisecond. */
function at(ms: number): Moment {
  return { sent: ms, done: ms };
}

/** A walk by one page that brings events and reaches the end. */
async function pageWhole(rig: PresenceRig, asked: Asked, ms: number, events: readonly SignedEvent[]): Promise<Range> {
  const range = await rig.range(asked);
  await rig.lastPage(range, await rig.begin(range, 'paging'), at(ms), events);
  return range;
}

/** A whole comparison; what the relay holds besides is named without a body. */
async function compareWhole(
  rig: PresenceRig,
  asked: Asked,
  ms: number,
  held: readonly SignedEvent[],
): Promise<{ range: Range; attempt: Attempt }> {
  const range = await rig.range(asked);
  const attempt = await rig.begin(range, 'negentropy');
  await compare(rig, range, attempt, ms, held);
  await rig.finish(range, attempt);
  return { range, attempt };
}

async function compare(
  rig: PresenceRig,
  range: Range,
  attempt: Attempt,
  ms: number,
  held: readonly SignedEvent[],
  scope: { since: number | null; until: number } = range,
): Promise<void> {
  const session = await rig.openSession(range, scope);
  const ids = held.map(({ id }) => id);
  await rig.closeSession(range, attempt, at(ms), session, {
    named: ids.filter((id) => !session.ours.includes(id)),
    lacking: session.ours.filter((id) => !ids.includes(id)),
  });
}

async function countsOf(rig: PresenceRig, range: Range): Promise<{ found: number; fetched: number }> {
  const attempt = await latestAttempt(rig.db, range.id);
  return { found: attempt?.found ?? -1, fetched: attempt?.fetched ?? -1 };
}

describe('positive evidence', () => {
  test('a returned body makes an event present as of the end of its query, even when the page then broke off', async () => {
    const rig = await open();
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'paging');
    await rig.page(range, attempt, { sent: 1, done: 9 }, [first], () => ({ ending: 'disconnect' }));

    expect(await rig.knownAbout('write', first)).toBe('present at 9');
    expect(await rig.knownAbout('extra', first)).toBe('undetermined');
  });

  test('an ID that a session named is present without a body, and its kind is known once the body comes from elsewhere', async () => {
    const rig = await open();
    const { range } = await compareWhole(rig, WHOLE, 5, [first]);
    expect(await rig.presence()).toMatchObject([{ id: first.id, present: 1, kind: null }]);
    expect(await countsOf(rig, range)).toEqual({ found: 1, fetched: 0 });

    await pageWhole(rig, { ...WHOLE, relay: 'extra' }, 7, [first]);

    expect(await rig.knownAbout('write', first)).toBe('present at 5');
    expect((await rig.presence()).map(({ kind }) => kind)).toEqual([1, 1]);
    expect(await countsOf(rig, range)).toEqual({ found: 1, fetched: 1 });
  });

  test('an ID that is named and turns out to be signed by somebody else is present, and nothing more follows', async () => {
    const rig = await open();
    const foreign = buildEvent({ author: bob, createdAt: 50 });
    await compareWhole(rig, WHOLE, 5, [foreign]);
    await compareWhole(rig, { ...WHOLE, relay: 'extra' }, 6, []);

    await rig.import([foreign]);

    expect(await rig.knownAbout('write', foreign)).toBe('present at 5');
    expect(await rig.knownAbout('extra', foreign)).toBe('undetermined');
  });

  test('an event that a relay names once more in another part of a split comparison is found once', async () => {
    const rig = await open();
    await rig.import([first, third]);
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'negentropy');
    await compare(rig, range, attempt, 5, [third], { since: 250, until: 1000 });
    await compare(rig, range, attempt, 6, [first, third], { since: null, until: 249 });
    await rig.finish(range, attempt);

    expect(await countsOf(rig, range)).toEqual({ found: 2, fetched: 2 });
    expect(await rig.knownAbout('write', third)).toBe('present at 6');
  });

  test('an event that one part of a comparison called missing and a later one names is present', async () => {
    const rig = await open();
    await rig.import([first, third]);
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'negentropy');
    await compare(rig, range, attempt, 5, [], { since: 250, until: 1000 });
    await compare(rig, range, attempt, 6, [third], { since: null, until: 249 });
    await rig.finish(range, attempt);

    expect(await rig.knownAbout('write', third)).toBe('present at 6');
    expect(await rig.knownAbout('write', first)).toBe('absent at 6');
    await rig.rebuild();
    expect(await rig.knownAbout('write', third)).toBe('present at 6');
  });
});

describe('negative evidence', () => {
  test('an interrupted walk concludes nothing until another run has gone on with it to its end', async () => {
    const rig = await open();
    await rig.import([first, second, third]);
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'paging');
    const covered = { from: 201, until: 1000 };
    await rig.page(range, attempt, at(5), [second], () => ({ cursor: 200, covered }));
    await rig.giveUp(attempt);
    expect(await rig.knownAbout('write', third)).toBe('undetermined');

    await rig.lastPage(range, await rig.begin(range, 'paging', true), at(90), [second], 200);

    // Each as of the query that covered its second.
    expect(await rig.knownAbout('write', third)).toBe('absent at 5');
    expect(await rig.knownAbout('write', second)).toBe('present at 90');
    expect(await rig.knownAbout('write', first)).toBe('absent at 90');
  });

  test('a walk that calls itself finished while its queries leave seconds out is partial', async () => {
    const rig = await open();
    await rig.import([first]);
    const range = await rig.range(WHOLE);

    await rig.page(range, await rig.begin(range, 'paging'), at(5), [third], () => ({
      covered: { from: 201, until: 1000 },
      end: { status: 'complete', reason: 'It claims to be.' },
    }));

    expect(await latestAttempt(rig.db, range.id)).toMatchObject({ status: 'partial' });
    expect(await rig.knownAbout('write', first)).toBe('undetermined');
  });

  test('a walk past a saturated second concludes nothing at all', async () => {
    const rig = await open();
    await rig.import([first, third]);
    const range = await rig.range(WHOLE);

    await rig.page(range, await rig.begin(range, 'paging'), at(5), [second], () => ({
      covered: { from: null, until: 1000 },
      end: { status: 'partial', reason: 'The second 200 is saturated.' },
    }));

    expect(await rig.knownAbout('write', first)).toBe('undetermined');
    expect(await rig.knownAbout('write', third)).toBe('undetermined');
  });

  test('when one part of a split comparison fails, the others say only what they found', async () => {
    const rig = await open();
    await rig.import([first, second, third]);
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'negentropy');
    await compare(rig, range, attempt, 5, [third], { since: 150, until: 1000 });
    const session = await rig.openSession(range, { since: null, until: 149 });
    const refused = { ...session, lacking: session.ours, named: [], ending: 'neg-err' as const };
    await rig.closeSession(range, attempt, at(6), session, refused);
    await rig.giveUp(attempt);

    expect(await rig.knownAbout('write', third)).toBe('present at 5');
    expect(await rig.knownAbout('write', second)).toBe('undetermined');
    expect(await rig.knownAbout('write', first)).toBe('undetermined');
  });

  test('an incremental fetch says nothing about older history', async () => {
    const rig = await open();
    await rig.import([first, second, third]);
    await compareWhole(rig, WHOLE, 5, [first, second, third]);
    await compareWhole(rig, { ...WHOLE, since: 250 }, 9, []);

    expect(await rig.knownAbout('write', third)).toBe('absent at 9');
    expect(await rig.knownAbout('write', second)).toBe('present at 5');
  });

  test('direct messages and gift wraps are never concluded to be missing', async () => {
    const rig = await open();
    const hidden = [4, 1059].map((kind) => buildEvent({ kind, createdAt: 300 }));
    await rig.import([...hidden, first]);
    await compareWhole(rig, WHOLE, 5, []);
    await pageWhole(rig, WHOLE, 6, []);

    for (const event of hidden) expect(await rig.knownAbout('write', event)).toBe('undetermined');
    expect(await rig.knownAbout('write', first)).toBe('absent at 6');
  });

  test('a kind that the relay refuses to show alone stops being missing there, whichever account was answered first', async () => {
    const rig = await open();
    const reactions = [alice, bob].map((author) => buildEvent({ author, kind: 7, createdAt: 300 }));
    await rig.import([...reactions, first]);
    const ofBob = await pageWhole(rig, { ...WHOLE, author: bob }, 5, []);
    const { range } = await compareWhole(rig, WHOLE, 5, []);
    await compareWhole(rig, { ...WHOLE, relay: 'extra' }, 5, []);
    for (const event of reactions) expect(await rig.knownAbout('write', event)).toBe('absent at 5');

    await rig.probe(ofBob, 7, false, at(6));
    await rig.probe(range, 7, true, at(7));

    for (const event of reactions) expect(await rig.knownAbout('write', event)).toBe('undetermined');
    expect(await rig.knownAbout('write', first)).toBe('absent at 5');
    expect(await rig.knownAbout('extra', reactions[0] ?? first)).toBe('absent at 5');
  });

  test('a refused kind that the relay did show stays present', async () => {
    const rig = await open();
    const reaction = buildEvent({ kind: 7, createdAt: 300 });
    await rig.import([reaction]);
    const { range } = await compareWhole(rig, WHOLE, 5, [reaction]);
    await compareWhole(rig, WHOLE, 8, []);
    expect(await rig.knownAbout('write', reaction)).toBe('absent at 8');

    await rig.probe(range, 7, true, at(9));

    expect(await rig.knownAbout('write', reaction)).toBe('present at 5');
  });

  test('an inventory of one account says nothing about another on the same relay', async () => {
    const rig = await open();
    const other = buildEvent({ author: bob, createdAt: 100 });
    await rig.import([first, other]);
    await pageWhole(rig, WHOLE, 5, []);

    expect(await rig.knownAbout('write', first)).toBe('absent at 5');
    expect(await rig.knownAbout('write', other)).toBe('undetermined');
  });

  test('a walk that asked for less than everything says nothing about the rest', async () => {
    const rig = await open();
    const { accountId, relayId, since, until } = await rig.range(WHOLE);
    const filter = { authors: [alice.pubkey], kinds: [7] };
    const narrow = await openRange(rig.db, { accountId, relayId, filter, since, until });
    await rig.import([first]);

    await rig.lastPage(narrow, await rig.begin(narrow, 'paging'), at(5), []);
    await rig.import([second]);

    expect(await rig.presence()).toEqual([]);
    await rig.rebuild();
    expect(await rig.presence()).toEqual([]);
  });

  test('events from before 1970 and from far ahead are never missing, and present where they were shown', async () => {
    const rig = await open();
    const [early, ahead] = [-5, 99_999_999_999].map((createdAt) => buildEvent({ createdAt })) as [
      SignedEvent,
      SignedEvent,
    ];
    await pageWhole(rig, WHOLE, 4, [early]);
    await rig.import([ahead]);
    await compareWhole(rig, WHOLE, 5, []);
    await pageWhole(rig, { ...WHOLE, relay: 'extra' }, 5, []);

    expect(await rig.knownAbout('write', early)).toBe('present at 4');
    expect(await rig.knownAbout('extra', early)).toBe('undetermined');
    expect(await rig.knownAbout('write', ahead)).toBe('undetermined');
    await rig.rebuild();
    expect(await rig.knownAbout('write', early)).toBe('present at 4');
  });
});

describe('of two pieces of evidence the later one wins', () => {
  test('an event that the relay dropped is missing, and a failed recheck changes nothing', async () => {
    const rig = await open();
    await rig.import([first]);
    await compareWhole(rig, WHOLE, 5, [first]);
    await compareWhole(rig, WHOLE, 8, []);
    const range = await rig.range(WHOLE);
    await rig.giveUp(await rig.begin(range, 'negentropy'));

    expect(await rig.knownAbout('write', first)).toBe('absent at 8');
  });

  test('the end of the query counts, not the order in which results were written down', async () => {
    const rig = await open();
    await rig.import([first, second]);
    await compareWhole(rig, WHOLE, 8, [first]);
    await pageWhole(rig, { ...WHOLE, until: 900 }, 5, [second]);

    expect(await rig.knownAbout('write', first)).toBe('present at 8');
    expect(await rig.knownAbout('write', second)).toBe('absent at 8');
  });

  test('at the same millisecond being shown says more than not being shown', async () => {
    const rig = await open();
    await rig.import([first]);
    await pageWhole(rig, WHOLE, 5, [first]);
    await pageWhole(rig, { ...WHOLE, until: 900 }, 5, []);

    expect(await rig.knownAbout('write', first)).toBe('present at 5');
  });

  test('a clock that was set back does not make an answer older than its question', async () => {
    const rig = await open();
    await rig.import([first]);
    await pageWhole(rig, WHOLE, 5, []);
    const range = await rig.range({ ...WHOLE, until: 900 });
    await rig.lastPage(range, await rig.begin(range, 'paging'), { sent: 7, done: 2 }, [first]);

    expect(await rig.knownAbout('write', first)).toBe('present at 7');
  });

  test('a body that comes when a recheck had not seen it meanwhile is present again', async () => {
    const rig = await open();
    const { range } = await compareWhole(rig, WHOLE, 5, [first]);
    await compareWhole(rig, { ...WHOLE, until: 900 }, 8, []);

    const again = await rig.begin(range, 'negentropy', true);
    expect(await rig.missing(again)).toEqual([first.id]);
    await rig.page(range, again, at(10), [first]);
    await rig.finish(range, again);

    expect(await rig.knownAbout('write', first)).toBe('present at 10');
    expect(await countsOf(rig, range)).toEqual({ found: 1, fetched: 1 });
    await rig.rebuild();
    expect(await rig.knownAbout('write', first)).toBe('present at 10');
  });

  test('a name from a broken session is older than an inventory that finished before the comparison went on', async () => {
    const rig = await open();
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'negentropy');
    const broken = await rig.openSession(range);
    await rig.closeSession(range, attempt, at(5), broken, { named: [first.id], lacking: [], ending: 'disconnect' });
    await pageWhole(rig, { ...WHOLE, until: 900 }, 6, []);
    await compare(rig, range, attempt, 7, []);
    await rig.finish(range, attempt);

    await rig.import([first]);

    expect(await rig.knownAbout('write', first)).toBe('absent at 6');
    await rig.rebuild();
    expect(await rig.knownAbout('write', first)).toBe('absent at 6');
  });
});

describe('a newly archived event', () => {
  test('is compared at once with every inventory that covers it, older and within one another', async () => {
    const rig = await open();
    await pageWhole(rig, { ...WHOLE, until: 150 }, 3, []);
    await compareWhole(rig, WHOLE, 5, []);
    await pageWhole(rig, { ...WHOLE, relay: 'extra', until: 150 }, 6, []);
    await pageWhole(rig, { ...WHOLE, relay: 'both' }, 7, [first, third]);

    expect(await rig.knownAbout('write', first)).toBe('absent at 5');
    expect(await rig.knownAbout('extra', first)).toBe('absent at 6');
    expect(await rig.knownAbout('extra', third)).toBe('undetermined');
    expect(await rig.knownAbout('both', first)).toBe('present at 7');
  });

  test('that came while a session was open is not taken for one that both sides had', async () => {
    const rig = await open();
    const range = await rig.range(WHOLE);
    const attempt = await rig.begin(range, 'negentropy');
    const session = await rig.openSession(range);
    await rig.import([first]);
    await rig.closeSession(range, attempt, at(5), session, { named: [], lacking: [] });
    await rig.finish(range, attempt);

    expect(await rig.knownAbout('write', first)).toBe('absent at 5');
    expect(await countsOf(rig, range)).toEqual({ found: 0, fetched: 0 });
  });
});

test('a comparison whose missing bodies are fetched later finishes twice and says the same', async () => {
  const rig = await open();
  await rig.import([second]);
  const { range } = await compareWhole(rig, WHOLE, 5, [first]);
  const before = await rig.presence();

  for (let time = 0; time < 2; time += 1) await rig.finish(range, await rig.begin(range, 'negentropy', true));

  expect(await rig.presence()).toEqual(before);
  expect(await rig.knownAbout('write', second)).toBe('absent at 5');
  expect(await countsOf(rig, range)).toEqual({ found: 1, fetched: 0 });
});

test('a body that comes between reading an attempt and going on with it is counted in the new attempt', async () => {
  const rig = await open();
  const { range } = await compareWhole(rig, WHOLE, 5, [first]);
  const prior = await latestAttempt(rig.db, range.id);
  await rig.import([first]);
  const { runId, pageLimit } = prior ?? (await rig.begin(range, 'negentropy'));

  const { found, fetched } = await beginAttempt(rig.db, {
    ...{ rangeId: range.id, runId, pageLimit, prior, continued: true },
    ...{ strategy: 'negentropy', startedAt: START },
  });

  expect({ found, fetched }).toEqual({ found: 1, fetched: 1 });
});

test('two relays that name the same event count its one body each, under its kind', async () => {
  const rig = await open();
  const { range } = await compareWhole(rig, WHOLE, 5, [first]);
  const { range: other } = await compareWhole(rig, { ...WHOLE, relay: 'extra' }, 5, [first]);

  const again = await rig.begin(range, 'negentropy', true);
  await rig.page(range, again, at(6), [first]);
  await rig.finish(range, again);

  for (const each of [range, other]) expect(await countsOf(rig, each)).toEqual({ found: 1, fetched: 1 });
  const kinds = await rig.db.selectFrom('walk_kinds').select(['kind', 'found']).execute();
  expect(kinds).toEqual([
    { kind: 1, found: 1 },
    { kind: 1, found: 1 },
  ]);
});
