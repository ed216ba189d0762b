import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../main/platform/clock.ts';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import type { DirectoryOptions } from '../../main/relays/relay-directory.ts';
import type { RelayConnection } from '../../main/relays/relay-connection.ts';
import type { QueryOptions, QueryOutcome, RelayFilter } from '../../main/relays/relay-query.ts';
import type { OpenSocket } from '../../main/relays/relay-socket.ts';
import { openWsSocket } from '../../main/relays/ws-socket.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import {
  closedMidPage,
  closedWith,
  closedWithoutReason,
  closeSocketMidPage,
  stallMidFrame,
} from '../relays/behaviours/closing.ts';
import { blockEagerClients } from '../relays/behaviours/connecting.ts';
import {
  addEvents,
  binaryFrames,
  corruptEvents,
  eventsForUnknownSubscription,
  malformedFrames,
} from '../relays/behaviours/corruption.ts';
import {
  doubleEose,
  eoseBeforeEvents,
  eoseForUnknownSubscription,
  holdAnswers,
  neverEose,
  silentRequests,
} from '../relays/behaviours/end-of-stored-events.ts';
import { greet, noticeBeforeAnswers, noticeTooManyRequests } from '../relays/behaviours/notices.ts';
import { capPages, refuseLimitAbove } from '../relays/behaviours/paging.ts';
import { rateLimitPublishing, refuseFramesAbove, refuseOlderThan } from '../relays/behaviours/publishing.ts';
import {
  chatterDuringNegentropy,
  negErr,
  refuseNegentropyByNotice,
  silentNegentropy,
} from '../relays/behaviours/reconciliation.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { bob, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { Gate } from '../relays/gate.ts';
import { nextRequests, onRequest } from '../relays/relay-behaviour.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';

const history = buildHistory({ count: 60, from: 1_700_000_000, to: 1_700_000_059 });
let clock = new FakeClock();
const closers: (() => void | Promise<void>)[] = [];

beforeEach(() => {
  clock = new FakeClock();
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) {
    await close();
  }
});

async function meet(behaviours: Behaviour[] = [], options: DirectoryOptions = {}) {
  const relay = await ScriptedRelay.start({ events: history, behaviours });
  closers.push(() => relay.stop());
  const directory = new RelayDirectory({ backoff: { baseMs: 5, maxMs: 20 }, ...options });
  closers.push(() => directory.close());
  return { relay, connection: directory.connection(relay.url) };
}

async function ask(
  connection: RelayConnection,
  filter: RelayFilter = { limit: 50 },
  options: Partial<QueryOptions> = {},
): Promise<QueryOutcome & { events: SignedEvent[] }> {
  const events: SignedEvent[] = [];
  const result = await connection.query(filter, { onEvent: (event) => events.push(event), ...options });
  if (!result.sent) {
    throw new Error(result.failure.message);
  }
  return { ...result.outcome, events };
}

/** Asks under a clock that stands still, and waits until the relay has the request. */
async function askWithTime(behaviours: Behaviour[]) {
  const { relay, connection } = await meet(behaviours, { clock });
  const events: SignedEvent[] = [];
  const onEvent = (event: SignedEvent): void => void events.push(event);
  const outcome = ask(connection, { limit: 50 }, { onEvent, idleTimeoutMs: 5_000 });
  await expect.poll(() => relay.log.received('REQ').length).toBe(1);
  return { connection, outcome, events };
}

describe('a relay that conforms', () => {
  it('is asked and closed, query by query, on one connection', async () => {
    const { relay, connection } = await meet();
    const first = await ask(connection);
    const second = await ask(connection, { until: 1_700_000_009, limit: 50 });
    expect([first.ending, first.events.length, second.events.length]).toEqual(['eose', 50, 10]);
    expect(first.events).toEqual(history.toSorted((a, b) => b.created_at - a.created_at).slice(0, 50));
    await expect.poll(() => relay.log.received('CLOSE').length).toBe(2);
    expect(relay.log.received('REQ').map(({ connection: number }) => number)).toEqual([1, 1]);
  });
});

describe('behaviours of relays', () => {
  it('1: a page below the limit ends with a bare eose, which is no end of history', async () => {
    const { connection } = await meet([capPages(20)]);
    expect(await ask(connection)).toMatchObject({ ending: 'eose', received: 20 });
  });

  it.each(['notice', 'closed'] as const)(
    '2: a limit over the maximum, refused by %s, can be told from other refusals',
    async (by) => {
      const { connection } = await meet([refuseLimitAbove(30, { by })]);
      expect(await ask(connection)).toMatchObject({ ending: by, refusedLimit: true, received: 0 });
      expect(await ask(connection, { limit: 30 })).toMatchObject({ ending: 'eose', received: 30 });
    },
  );

  it('6: without EOSE the query times out and keeps what came', async () => {
    const { connection, outcome, events } = await askWithTime([neverEose()]);
    await expect.poll(() => events.length).toBe(50);
    clock.advance(5_000);
    expect(await outcome).toMatchObject({ ending: 'timeout', received: 50 });
    expect(connection.isConnected).toBe(true);
  });

  it('6: a relay that stalls within a frame times out', async () => {
    const { outcome, events } = await askWithTime([stallMidFrame({ after: 3 })]);
    await expect.poll(() => events.length).toBe(3);
    clock.advance(5_000);
    expect(await outcome).toMatchObject({ ending: 'timeout', received: 3 });
  });

  it.each([
    ['answers nothing at all', silentRequests()],
    ['sends all its frames as binary', binaryFrames()],
  ])('6: a relay that %s times out', async (_what, behaviour) => {
    const { outcome } = await askWithTime([behaviour]);
    clock.advance(5_000);
    expect(await outcome).toMatchObject({ ending: 'timeout', received: 0 });
  });

  it('a relay whose answer is not in what it calls one is found out', async () => {
    const { relay, connection } = await meet([onRequest(1, eoseBeforeEvents())]);
    expect(await ask(connection, { limit: 80 })).toMatchObject({ ending: 'eose', received: 60, lateEvents: 60 });
    relay.behave(onRequest(2, eventsForUnknownSubscription(history.slice(0, 3))));
    expect(await ask(connection, { limit: 80 })).toMatchObject({ ending: 'eose', received: 60, unreadable: 3 });
    expect(await ask(connection, { limit: 80 })).toMatchObject({ received: 60, unreadable: 0, lateEvents: 0 });
  });

  it('7: a socket that closes within a page ends the query as disconnect, and the next one connects again', async () => {
    const { relay, connection } = await meet([closeSocketMidPage({ page: 1, after: 7 })]);
    expect(await ask(connection)).toMatchObject({ ending: 'disconnect', received: 7 });
    expect(await ask(connection)).toMatchObject({ ending: 'eose', received: 50 });
    expect(relay.log.received('REQ').map(({ connection: number }) => number)).toEqual([1, 2]);
  });

  it.each([
    ['auth-required: log in', 'auth-required'],
    ['restricted: members only', 'closed'],
    ['rate-limited: slow down', 'rate-limited'],
    ['error: shutting down', 'closed'],
  ])('8: CLOSED %j is %s and keeps the words', async (reason, ending) => {
    const { connection } = await meet([closedWith(reason)]);
    expect(await ask(connection)).toMatchObject({ ending, message: reason, received: 0 });
  });

  it('8: CLOSED within a page, or without any reason, is no end of the answer either', async () => {
    const { relay, connection } = await meet([closedMidPage({ after: 5, reason: 'error: busy' })]);
    expect(await ask(connection)).toMatchObject({ ending: 'closed', received: 5 });
    relay.behave(closedWithoutReason());
    expect(await ask(connection)).toMatchObject({ ending: 'closed', message: '' });
  });

  it.each(['notice', 'closed'] as const)(
    '9: too many open requests (%s) lower the budget, and a repetition is answered',
    async (by) => {
      const gate = new Gate();
      const { connection } = await meet([noticeTooManyRequests(2, { by }), holdAnswers(gate)], { requestBudget: 3 });
      const queries = [ask(connection), ask(connection), ask(connection)];
      const refused = await Promise.race(queries);
      expect(refused).toMatchObject({ ending: by, tooManyRequests: true });
      expect(connection.healthSnapshot().requestBudget).toBe(2);
      gate.open();
      expect((await Promise.all(queries)).map(({ ending }) => ending).toSorted()).toEqual(
        [by, 'eose', 'eose'].toSorted(),
      );
      expect(await ask(connection)).toMatchObject({ ending: 'eose', received: 50 });
    },
  );

  it('10: a relay that blocks eager clients is reached, because each attempt waits longer', async () => {
    const backoff = { baseMs: 20, maxMs: 500 };
    const { connection } = await meet(
      [blockEagerClients(60, systemClock), nextRequests(1, closeSocketMidPage({ after: 1 }))],
      { backoff },
    );
    expect((await ask(connection)).ending).toBe('disconnect');
    expect(await ask(connection, {}, { connectAttempts: 10 })).toMatchObject({ ending: 'eose' });
  });

  it('11: spoilt events are handed on as they came, and shapes that no event has are counted', async () => {
    const strange = buildEvent({ author: bob });
    const { connection } = await meet([
      corruptEvents({ badSignature: 1, wrongId: 1, malformed: 3, offFilter: [strange] }),
    ]);
    const outcome = await ask(connection);
    expect(outcome).toMatchObject({ ending: 'eose', received: 51, malformed: 3 });
    expect(outcome.events[0]).toEqual(strange);
    expect(outcome.events).toHaveLength(48);
  });

  it('chatter, malformed and binary frames, and frames of other subscriptions change nothing', async () => {
    const others = buildHistory({ author: bob, count: 3, from: 1, to: 3 });
    const { connection } = await meet([
      greet('welcome'),
      noticeBeforeAnswers('we wish you a nice day'),
      malformedFrames(),
      eventsForUnknownSubscription(others),
      eoseForUnknownSubscription(),
      doubleEose(),
    ]);
    for (let round = 0; round < 3; round += 1) {
      const outcome = await ask(connection);
      expect([outcome.ending, outcome.events.length, outcome.message]).toEqual(['eose', 50, null]);
    }
  });

  it('more events than were asked for end the query before they fill the memory', async () => {
    const many = buildHistory({ author: bob, count: 30, from: 1, to: 30 });
    const { connection } = await meet([addEvents(many)]);
    expect(await ask(connection, { limit: 50 }, { maxEvents: 60 })).toMatchObject({ ending: 'failed', received: 61 });
  });

  it('12: a NEG-OPEN refused by NOTICE or by silence is told from an error of the session', async () => {
    const { relay, connection } = await meet([refuseNegentropyByNotice()], { clock });
    const open = () => connection.openNegentropy({}, '6100', { onMessage: () => null }, { idleTimeoutMs: 5_000 });
    expect(await open()).toMatchObject({ outcome: { ending: 'notice' } });
    relay.behave(negErr('blocked: too many query results', 1_000));
    expect(await open()).toMatchObject({ outcome: { ending: 'neg-err', negErr: { maximum: 1_000 } } });
    relay.behave(silentNegentropy());
    const silent = open();
    await expect.poll(() => relay.log.received('NEG-OPEN').length).toBe(3);
    clock.advance(5_000);
    expect(await silent).toMatchObject({ outcome: { ending: 'timeout' } });
  });

  it('13: a relay that keeps talking does not keep a dead session alive', async () => {
    const chatter = chatterDuringNegentropy({ notices: ['hello'], events: history.slice(0, 2) });
    const said: string[] = [];
    const openSocket: OpenSocket = (url, options, handlers) =>
      openWsSocket(url, options, {
        ...handlers,
        onText: (text, bytes) => {
          said.push(text);
          handlers.onText(text, bytes);
        },
      });
    const { connection } = await meet([chatter], { clock, openSocket });
    const result = connection.openNegentropy({}, '6100', { onMessage: () => null }, { idleTimeoutMs: 5_000 });
    for (let second = 1; second <= 5; second += 1) {
      await expect.poll(() => said.filter((line) => line.includes('hello')).length).toBe(second);
      clock.advance(1_000);
      chatter.chat();
    }
    expect(await result).toMatchObject({ outcome: { ending: 'timeout', rounds: 0 } });
  });

  it('17: an old event is refused for good, with the words of the relay', async () => {
    const { connection } = await meet([refuseOlderThan(1_800_000_000)]);
    expect(await connection.publish(buildEvent())).toMatchObject({
      outcome: {
        state: 'rejected',
        lasting: true,
        reason: { prefix: 'invalid', text: 'invalid: created_at too early' },
      },
    });
  });

  it('19: rate-limited publishing pauses, and is no decision about the event', async () => {
    const { connection } = await meet([rateLimitPublishing(1)]);
    const events = buildHistory({ author: bob, count: 2, from: 10, to: 11 });
    const outcomes = [];
    for (const event of events) {
      outcomes.push(await connection.publish(event));
    }
    expect(outcomes).toMatchObject([
      { outcome: { state: 'accepted' } },
      { outcome: { state: 'rejected', lasting: false } },
    ]);
    expect(connection.healthSnapshot()).toMatchObject({ state: 'rate-limited' });
  });

  it.each(['ok', 'notice', 'close'] as const)(
    '21: a frame above a size, refused by %s, is rejected for that delivery only',
    async (by) => {
      const { connection } = await meet([refuseFramesAbove(2_000, { by })]);
      const large = buildEvent({ content: 'x'.repeat(3_000) });
      expect(await connection.publish(large)).toMatchObject({ outcome: { state: 'rejected', lasting: true } });
      expect(await connection.publish(buildEvent({ content: 'small' }))).toMatchObject({
        outcome: { state: 'accepted' },
      });
    },
  );

  it('22: a relay that goes down and comes back is asked again, and its health says so', async () => {
    const { relay, connection } = await meet();
    await ask(connection);
    await relay.stop();
    await expect.poll(() => connection.isConnected).toBe(false);
    const down = await connection.query({}, { onEvent: () => undefined });
    expect(down).toMatchObject({ sent: false, failure: { code: 'refused' } });
    expect(connection.healthSnapshot()).toMatchObject({ state: 'degraded', consecutiveFailures: 3, connected: false });
    await relay.listen();
    expect(await ask(connection)).toMatchObject({ ending: 'eose' });
    expect(connection.healthSnapshot()).toMatchObject({ state: 'degraded', consecutiveFailures: 0, connected: true });
  });
});
