import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { settle } from '../fixtures/fake-clock.ts';
import { HeldVerifier } from '../fixtures/held-verifier.ts';
import { closedWith, closeSocketMidPage } from '../relays/behaviours/closing.ts';
import { refuseUpgrade } from '../relays/behaviours/connecting.ts';
import { withBadSignature } from '../relays/behaviours/corruption.ts';
import { holdAnswers, holdEose, silentRequests } from '../relays/behaviours/end-of-stored-events.ts';
import { insertBeforeEnd } from '../relays/behaviours/paging.ts';
import { buildEvent, buildHistory } from '../relays/event-builder.ts';
import { Gate } from '../relays/gate.ts';
import { onRequest, type Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { PagingRig, START } from './paging-rig.ts';

const relays: ScriptedRelay[] = [];

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});

/** Newest first, one a second: with ten a page and inclusive bounds, pages begin at 0, 9, 18, 27, 36. */
const HISTORY = buildHistory({ count: 45, from: START - 45_000, to: START - 1000 }).reverse();

function timeAt(index: number): number {
  return HISTORY[index]?.created_at ?? 0;
}

/** What a walk asks that nothing disturbs: five pages, and two that show that it was the end. */
const UNDISTURBED = [START, timeAt(9), timeAt(18), timeAt(27), timeAt(36), timeAt(44)];

async function startRelay(behaviours: readonly Behaviour[] = [], events: readonly SignedEvent[] = HISTORY) {
  const relay = await ScriptedRelay.start({ events, behaviours });
  relays.push(relay);
  return relay;
}

/** Lets the first page through and holds what is older. */
function holdFromSecondPage(): HeldVerifier {
  return new HeldVerifier((event) => event.created_at < timeAt(9));
}

/** A walk whose second page has arrived and is held in checking, while the third has been asked. */
async function walkingAhead(behaviours: readonly Behaviour[] = [], events: readonly SignedEvent[] = HISTORY) {
  const relay = await startRelay(behaviours, events);
  const rig = await PagingRig.start(relay);
  const verifier = holdFromSecondPage();
  const end = rig.walk({ verifier });
  await rig.until(() => relay.requests().length >= 3);
  return { relay, rig, verifier, end };
}

/** Like it, and the answer to the third has arrived whole. */
async function answeredAhead(behaviours: readonly Behaviour[] = [], events: readonly SignedEvent[] = HISTORY) {
  const walking = await walkingAhead(behaviours, events);
  await walking.rig.until(() => walking.relay.log.received('CLOSE').length >= 3);
  return walking;
}

async function expectComplete(rig: PagingRig): Promise<void> {
  expect(await rig.attempt()).toMatchObject({ status: 'complete', found: HISTORY.length });
  expect(await rig.archivedTimes()).toEqual(HISTORY.map((event) => event.created_at));
  expect(await rig.kept()).toEqual([]);
  rig.checkRules();
}

describe('one page ahead', () => {
  it('asks for the next page while the one before is still being checked, and never for a second one', async () => {
    const { relay, rig, verifier, end } = await answeredAhead();
    for (let turn = 0; turn < 20; turn += 1) await settle();
    expect(rig.asked()).toEqual([START, timeAt(9), timeAt(18)]);
    expect(await rig.queries()).toHaveLength(1);
    expect(await rig.kept()).toEqual([timeAt(9)]);
    verifier.gate.open();
    expect(await end).toMatchObject({ status: 'complete', lost: false });
    expect(rig.asked()).toEqual(UNDISTURBED);
    expect((await rig.queries()).map(({ until }) => until)).toEqual(UNDISTURBED);
    expect(relay.connections.size).toBe(1);
    await expectComplete(rig);
  });

  it('keeps every answer before the next is asked, and lets go of it with its page', async () => {
    const relay = await startRelay();
    const rig = await PagingRig.start(relay);
    await sql`create table seen (what text not null) strict`.execute(rig.db);
    await sql`create trigger kept after insert on arrived_pages begin
      insert into seen select 'kept ' || json_extract(new.request, '$.until'); end`.execute(rig.db);
    await sql`create trigger committed after insert on queries begin
      insert into seen select 'committed ' || json_extract(new.request, '$.until'); end`.execute(rig.db);
    await sql`create trigger let_go after delete on arrived_pages begin
      insert into seen select 'let go ' || json_extract(old.request, '$.until'); end`.execute(rig.db);
    await rig.walk();
    const { rows } = await sql<{ what: string }>`select what from seen order by rowid`.execute(rig.db);
    const ahead = UNDISTURBED.slice(1, 5);
    expect(rows.map(({ what }) => what)).toEqual([
      `committed ${START}`,
      ...ahead.flatMap((until) => [`kept ${until}`, `committed ${until}`, `let go ${until}`]),
      `committed ${timeAt(44)}`,
    ]);
  });

  it('looks beyond no first page, and beyond no page that is too heavy to be kept', async () => {
    const relay = await startRelay();
    const rig = await PagingRig.start(relay);
    const all = new HeldVerifier(() => true);
    const end = rig.walk({ verifier: all });
    await rig.until(() => all.gate.waiting > 0);
    for (let turn = 0; turn < 20; turn += 1) await settle();
    expect(rig.asked()).toEqual([START]);
    all.gate.open();
    await end;

    const heavy = HISTORY.map(({ created_at: createdAt }, index) =>
      buildEvent({ createdAt, content: index < 10 ? '' : 'x'.repeat(130_000) }),
    );
    const other = await PagingRig.start(await startRelay([], heavy));
    const held = holdFromSecondPage();
    const walking = other.walk({ verifier: held });
    await other.until(() => other.relay.log.received('CLOSE').length >= 2);
    for (let turn = 0; turn < 20; turn += 1) await settle();
    expect(other.asked()).toEqual([START, timeAt(9)]);
    held.gate.open();
    expect(await walking).toMatchObject({ status: 'complete' });
  });
});

describe('a page that turns out otherwise than foreseen', () => {
  /** Older than everything on the second page, and not signed. */
  const forged = withBadSignature(buildEvent({ createdAt: timeAt(30) }));
  const forgedEnd = onRequest(
    2,
    insertBeforeEnd(({ subscription }) => [{ type: 'frame', frame: ['EVENT', subscription, forged] }]),
  );

  it('leads to what really follows; what was asked in vain is told, covers nothing and loses nothing', async () => {
    const { rig, verifier, end } = await answeredAhead([forgedEnd]);
    expect(rig.asked()).toEqual([START, timeAt(9), timeAt(30)]);
    verifier.gate.open();
    expect(await end).toMatchObject({ status: 'complete' });
    expect(rig.asked()).toEqual([START, timeAt(9), timeAt(30), ...UNDISTURBED.slice(2)]);
    const queries = await rig.queries();
    expect(queries.find(({ until }) => until === timeAt(30))).toMatchObject({
      ending: 'eose',
      received: 10,
      unique: 10,
      covered: null,
    });
    expect(queries.find(({ until }) => until === timeAt(9))).toMatchObject({ covered: [timeAt(18) + 1, timeAt(9)] });
    await expectComplete(rig);
  });

  it('ends what was asked ahead as cancelled when it is not answered yet', async () => {
    const gate = new Gate();
    const { relay, rig, verifier, end } = await walkingAhead([forgedEnd, onRequest(3, holdEose(gate))]);
    await rig.until(() => relay.log.sent('EVENT').length >= 30);
    verifier.gate.open();
    expect(await end).toMatchObject({ status: 'complete' });
    const ahead = (await rig.queries()).find(({ until }) => until === timeAt(30));
    expect(ahead).toMatchObject({ ending: 'cancelled', received: 10, unique: 10, covered: null });
    await rig.until(() => relay.log.received('CLOSE').length === relay.requests().length);
    await expectComplete(rig);
  });

  it('ends the walk where nothing in it holds, with nothing left open', async () => {
    const gate = new Gate();
    const spoilt: Behaviour = {
      name: 'spoils every signature',
      shapeAnswer: (steps) =>
        steps.map((step) =>
          step.type === 'event'
            ? { type: 'frame', frame: ['EVENT', step.subscription, withBadSignature(step.stored.event)] }
            : step,
        ),
    };
    const { relay, rig, verifier, end } = await walkingAhead([
      onRequest(2, spoilt),
      onRequest(3, holdAnswers(gate)),
      onRequest(4, spoilt),
    ]);
    verifier.gate.open();
    // The second page seems to lack the boundary second; asked again a second later, it does so again.
    expect(await end).toMatchObject({ status: 'partial' });
    await rig.until(() => relay.log.received('CLOSE').length === relay.requests().length);
    expect((await rig.queries()).map(({ ending }) => ending)).toEqual(['eose', 'cancelled', 'eose', 'eose']);
    expect(await rig.attempt()).toMatchObject({ status: 'partial', found: 10, cursor: timeAt(9) });
    expect(await rig.kept()).toEqual([]);
    rig.checkRules();
  });
});

describe('a request ahead that is not answered', () => {
  it('is ended by a cancelled run after the page before it is committed', async () => {
    const gate = new Gate();
    const { rig, verifier, end } = await walkingAhead([onRequest(3, holdEose(gate))]);
    await rig.until(() => rig.relay.log.sent('EVENT').length >= 30);
    rig.stop.abort(new Error('Somebody cancelled.'));
    await settle();
    verifier.gate.open();
    expect(await end).toEqual({ status: 'partial', reason: 'Somebody cancelled.', lost: true });
    expect((await rig.queries()).map(({ until, ending }) => [until, ending])).toEqual([
      [START, 'eose'],
      [timeAt(9), 'eose'],
      [timeAt(18), 'cancelled'],
    ]);
    expect(await rig.attempt()).toMatchObject({ status: 'partial', cursor: timeAt(18), found: 28 });
    expect(await rig.kept()).toEqual([]);
    rig.checkRules();
  });

  it('is asked again after the page before it when the connection broke, or when the relay wanted less speed', async () => {
    for (const [trouble, ending] of [
      [closeSocketMidPage({ page: 1, after: 4 }), 'disconnect'],
      [closedWith('rate-limited: slow down'), 'rate-limited'],
    ] as const) {
      const { relay, rig, verifier, end } = await walkingAhead([onRequest(3, trouble)]);
      await settle();
      expect(await rig.queries()).toHaveLength(1);
      verifier.gate.open();
      await rig.until(async () => (await rig.queries()).length === 3);
      expect((await rig.queries()).map((query) => query.ending)).toEqual(['eose', 'eose', ending]);
      await rig.clock.pass(70_000);
      expect(await end).toMatchObject({ status: 'complete' });
      expect(rig.asked()).toEqual([...UNDISTURBED.slice(0, 3), ...UNDISTURBED.slice(2)]);
      expect(relay.connections.size).toBe(1);
      await expectComplete(rig);
    }
  });

  it('is a time-out when the relay keeps silent, and the page before it counts', async () => {
    const { rig, verifier, end } = await walkingAhead([onRequest(3, silentRequests())]);
    await rig.clock.pass(40_000);
    expect(await rig.queries()).toHaveLength(1);
    verifier.gate.open();
    expect(await end).toMatchObject({ status: 'partial', lost: false });
    expect((await rig.queries()).map(({ ending }) => ending)).toEqual(['eose', 'eose', 'timeout']);
    expect(await rig.attempt()).toMatchObject({ cursor: timeAt(18), found: 19 });
  });

  it('gives up where the relay cannot be reached any more, and the page before it counts', async () => {
    const relay = await startRelay([
      onRequest(2, { name: 'hangs up', shapeAnswer: (steps) => [...steps, { type: 'close', code: 1001, reason: '' }] }),
    ]);
    const rig = await PagingRig.start(relay);
    const verifier = holdFromSecondPage();
    const end = rig.walk({ verifier });
    await rig.until(() => verifier.gate.waiting > 0);
    relay.use(refuseUpgrade(503));
    await rig.until(() => relay.connections.size === 0);
    await rig.clock.pass(300_000);
    expect(await rig.kept()).toEqual([timeAt(9)]);
    verifier.gate.open();
    await rig.clock.pass(300_000);
    expect(await end).toMatchObject({ status: 'partial', lost: true });
    expect((await end).reason).toMatch(/503|closed/);
    expect((await rig.queries()).filter(({ ending }) => ending === 'eose')).toHaveLength(2);
    expect(await rig.attempt()).toMatchObject({ status: 'partial', cursor: timeAt(18), found: 19 });
    expect(await rig.kept()).toEqual([]);
  });

  it('is ended when the page before it cannot be committed', async () => {
    const { relay, rig, verifier, end } = await walkingAhead([onRequest(3, holdAnswers(new Gate()))]);
    await sql`create trigger refuse before insert on queries begin select raise(abort, 'disk trouble'); end`.execute(
      rig.db,
    );
    verifier.gate.open();
    await expect(end).rejects.toThrow('disk trouble');
    await rig.until(() => relay.log.received('CLOSE').length === relay.requests().length);
    // What could not be committed is still there for the next attempt.
    expect(await rig.kept()).toEqual([timeAt(9)]);
  });
});

describe('after a kill', () => {
  it('goes on with the kept answer as it came, and asks again for nothing but the page after it', async () => {
    const { relay, rig, verifier, end } = await answeredAhead();
    const after = await rig.killed();
    rig.stop.abort();
    verifier.gate.open();
    await end;
    const before = relay.requests().length;
    expect(await after.kept()).toEqual([timeAt(9)]);
    expect(await after.attempt()).toMatchObject({ status: 'partial', cursor: timeAt(9) });
    expect(await after.walk()).toMatchObject({ status: 'complete' });
    expect(after.asked().slice(before)).toEqual(UNDISTURBED.slice(2));
    const [, kept, third] = await after.queries();
    expect(kept).toMatchObject({
      until: timeAt(9),
      sentAtMs: START * 1000,
      completedAtMs: START * 1000,
      ending: 'eose',
      received: 10,
      unique: 9,
      covered: [timeAt(18) + 1, timeAt(9)],
    });
    expect(third).toMatchObject({ until: timeAt(18), completedAtMs: (START + 3600) * 1000 });
    await expectComplete(after);
  });

  it('asks ahead again while the kept answer is checked, and repeats one page for each kill', async () => {
    const { relay, rig, verifier, end } = await answeredAhead();
    const second = await rig.killed();
    rig.stop.abort();
    verifier.gate.open();
    await end;
    const before = relay.requests().length;
    const held = holdFromSecondPage();
    const again = second.walk({ verifier: held });
    await second.until(() => relay.requests().length > before);
    expect(second.asked().slice(before)).toEqual([timeAt(18)]);
    expect(await second.kept()).toEqual([timeAt(9)]);
    const third = await second.killed();
    second.stop.abort();
    held.gate.open();
    await again;
    expect(await third.walk()).toMatchObject({ status: 'complete' });
    expect(third.asked().slice(before)).toEqual([timeAt(18), ...UNDISTURBED.slice(2)]);
    await expectComplete(third);
  });

  it('checks the signatures of a kept answer like those of any other', async () => {
    const forged = withBadSignature(buildEvent({ createdAt: timeAt(30) }));
    const { rig, verifier, end } = await answeredAhead([
      onRequest(
        2,
        insertBeforeEnd(({ subscription }) => [{ type: 'frame', frame: ['EVENT', subscription, forged] }]),
      ),
    ]);
    const after = await rig.killed();
    rig.stop.abort();
    verifier.gate.open();
    await end;
    expect(await after.walk()).toMatchObject({ status: 'complete' });
    const { invalid } = await after.db
      .selectFrom('attempts')
      .select(({ fn }) => fn.sum<number>('invalid').as('invalid'))
      .executeTakeFirstOrThrow();
    expect(invalid).toBe(1);
    await expectComplete(after);
  });

  it.each([
    ['no JSON', `update arrived_pages set events = '[{"id":'`],
    ['no list', `update arrived_pages set events = '{}'`],
    ['an event of another shape', `update arrived_pages set events = json_set(events, '$[3].sig', 'short')`],
    ['an event without a field', `update arrived_pages set events = json_remove(events, '$[0].tags')`],
    [
      'an event that was not asked for',
      `update arrived_pages set events = json_set(events, '$[0].created_at', 5000000000)`,
    ],
    ['more than it says', `update arrived_pages set received = 3`],
    ['a request that is none', `update arrived_pages set request = 'REQ'`],
    ['a request without a limit', `update arrived_pages set request = json_remove(request, '$.limit')`],
    ['a request for something else', `update arrived_pages set request = json_set(request, '$.until', 12345)`],
    ['another filter', `update arrived_pages set request = json_set(request, '$.kinds', json('[1]'))`],
  ])('a kept answer that holds %s is dropped, and its page asked again', async (_, change) => {
    const { relay, rig, verifier, end } = await answeredAhead();
    const after = await rig.killed();
    rig.stop.abort();
    verifier.gate.open();
    await end;
    const before = relay.requests().length;
    await sql.raw(change).execute(after.db);
    expect(await after.walk()).toMatchObject({ status: 'complete' });
    expect(after.asked().slice(before)).toEqual(UNDISTURBED.slice(1));
    expect(await after.queries()).toHaveLength(UNDISTURBED.length);
    await expectComplete(after);
  });

  it('takes a kept answer whatever limit it was asked with', async () => {
    const { relay, rig, verifier, end } = await answeredAhead();
    const after = await rig.killed();
    rig.stop.abort();
    verifier.gate.open();
    await end;
    const before = relay.requests().length;
    await after.db.updateTable('relays').set({ accepted_limit: 5 }).execute();
    expect(await after.walk()).toMatchObject({ status: 'complete' });
    expect(after.asked().slice(before)[0]).toBe(timeAt(18));
    await expectComplete(after);
  });

  it('a walk that begins anew takes nothing from the one before and leaves nothing of it', async () => {
    const { relay, rig, verifier, end } = await answeredAhead();
    const after = await rig.killed();
    rig.stop.abort();
    verifier.gate.open();
    await end;
    const before = relay.requests().length;
    const all = new HeldVerifier(() => true);
    const walking = after.walk({ verifier: all, anew: true });
    await after.until(() => all.gate.waiting > 0);
    expect(await after.kept()).toEqual([]);
    all.gate.open();
    expect(await walking).toMatchObject({ status: 'complete' });
    expect(after.asked().slice(before)).toEqual(UNDISTURBED);
  });
});
