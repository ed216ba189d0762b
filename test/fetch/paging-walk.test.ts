import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  beginWalk,
  judgePage,
  nextBounds,
  type PageAnswer,
  type WalkDecision,
  type WalkState,
} from '../../main/fetch/paging-walk.ts';

interface Held {
  id: number;
  second: number;
}

interface Manner {
  /** Pages above this are cut off without a word. */
  cap: number;
  exclusiveUntil?: boolean;
  ignoresUntil?: boolean;
  /** How a page's events are chosen and ordered. */
  order?: 'newest first' | 'oldest first' | 'shuffled';
}

/** A relay reduced to what paging sees: newest first, limited, cut off silently, unless its manner is another. */
function answerOf(
  held: readonly Held[],
  asked: { since: number | null; until: number },
  limit: number,
  manner: Manner,
): Held[] {
  const { order = 'newest first' } = manner;
  const matching = held.filter(({ second }) => {
    if (asked.since !== null && second < asked.since) return false;
    if (manner.ignoresUntil === true) return true;
    return manner.exclusiveUntil === true ? second < asked.until : second <= asked.until;
  });
  const sorted = matching.toSorted((a, b) => b.second - a.second || a.id - b.id);
  if (order === 'oldest first') sorted.reverse();
  const page = sorted.slice(0, Math.min(limit, manner.cap));
  return order === 'shuffled' ? page.toSorted((a, b) => ((a.id * 7919) % 101) - ((b.id * 7919) % 101)) : page;
}

interface Walked {
  known: Set<number>;
  end: Exclude<WalkDecision, { type: 'continue' }>;
  requests: number[];
  states: WalkState[];
}

function walk(held: readonly Held[], options: { until: number; limit: number; manner: Manner }): Walked {
  const known = new Set<number>();
  const requests: number[] = [];
  const states: WalkState[] = [];
  let state = beginWalk(options.until);
  let cap: number | null = null;
  for (let page = 0; page < 10_000; page += 1) {
    const asked = nextBounds(state, null);
    requests.push(asked.until);
    const frames = answerOf(held, asked, options.limit, options.manner);
    const events = frames.filter(({ second }) => second <= asked.until);
    const unique = events.filter(({ id }) => !known.has(id)).length;
    for (const { id } of events) known.add(id);
    const seconds = events.map(({ second }) => second);
    const answer: PageAnswer = {
      ending: 'eose',
      limit: options.limit,
      received: frames.length,
      invalid: frames.length - events.length,
      unreadable: 0,
      valid: events.length,
      unique,
      earliest: seconds.length === 0 ? null : Math.min(...seconds),
      latest: seconds.length === 0 ? null : Math.max(...seconds),
      ordered: seconds.every((second, index) => index === 0 || second <= (seconds[index - 1] ?? second)),
    };
    const decision = judgePage(state, answer, null, cap);
    state = decision.state;
    states.push(state);
    if (decision.type !== 'continue') return { known, end: decision, requests, states };
    cap = decision.observedCap ?? cap;
  }
  throw new Error('the walk does not end');
}

const page = (answer: Partial<PageAnswer>): PageAnswer => ({
  ending: 'eose',
  limit: 100,
  received: 0,
  valid: 0,
  unique: 0,
  earliest: null,
  latest: null,
  invalid: 0,
  unreadable: 0,
  ordered: true,
  ...answer,
});

describe('walking backwards by pages', () => {
  it('asks a full page again at its earliest second, inclusively', () => {
    const decision = judgePage(
      beginWalk(1000),
      page({ received: 100, valid: 100, unique: 100, earliest: 500, latest: 999 }),
      null,
      null,
    );
    expect(decision).toMatchObject({ type: 'continue', state: { cursor: 500 } });
    expect(nextBounds(decision.state, null).until).toBe(500);
  });

  it('does not take a short page for the end, but asks the confirming page', () => {
    const decision = judgePage(
      beginWalk(1000),
      page({ received: 3, valid: 3, unique: 3, earliest: 700, latest: 900 }),
      null,
      null,
    );
    expect(decision).toMatchObject({ type: 'continue', state: { cursor: 700 } });
  });

  it('ends when the confirming page brings nothing that was not known', () => {
    const { end, known } = walk(
      [
        { id: 1, second: 10 },
        { id: 2, second: 20 },
      ],
      { until: 100, limit: 100, manner: { cap: 100 } },
    );
    expect(end.type).toBe('end');
    expect(known.size).toBe(2);
  });

  it('ends at once when the relay says that it finished', () => {
    const decision = judgePage(
      beginWalk(9),
      page({ ending: 'eose-finish', received: 100, valid: 100, unique: 100, earliest: 1, latest: 9 }),
      null,
      null,
    );
    expect(decision).toMatchObject({ type: 'end' });
  });

  it('does not end on a page without news when the relay says that it has more', () => {
    const state = { ...beginWalk(9), boundaryKnown: true, pages: 1, largestPage: 5 };
    const decision = judgePage(
      state,
      page({ ending: 'eose-more', received: 5, valid: 5, earliest: 9, latest: 9 }),
      null,
      null,
    );
    expect(decision).toMatchObject({ type: 'continue', state: { cursor: 8, saturatedSeconds: [9] } });
  });

  it('notices a cap below the limit from a short page that was not the last one', () => {
    const held = Array.from({ length: 120 }, (_, id) => ({ id, second: id }));
    let state = beginWalk(1000);
    const first = judgePage(
      state,
      page({ received: 50, valid: 50, unique: 50, earliest: 70, latest: 119 }),
      null,
      null,
    );
    state = first.state;
    const second = judgePage(
      state,
      page({ received: 50, valid: 50, unique: 49, earliest: 21, latest: 70 }),
      null,
      null,
    );
    expect(second).toMatchObject({ type: 'continue', observedCap: 50 });
    expect(walk(held, { until: 1000, limit: 100, manner: { cap: 50 } }).known.size).toBe(120);
  });

  it('names a second that fills a page and repeats, and stays open', () => {
    const held = [...Array.from({ length: 30 }, (_, id) => ({ id, second: 50 })), { id: 99, second: 10 }];
    const { end, known } = walk(held, { until: 100, limit: 20, manner: { cap: 1000 } });
    expect(end).toMatchObject({ type: 'stop', unpageable: true, state: { saturatedSeconds: [50], reachedEnd: true } });
    expect(known.has(99)).toBe(true);
  });

  it('names a second that fills a silently capped page', () => {
    const held = [...Array.from({ length: 30 }, (_, id) => ({ id, second: 50 })), { id: 99, second: 10 }];
    const { end } = walk(held, { until: 100, limit: 100, manner: { cap: 20 } });
    expect(end).toMatchObject({ type: 'stop', unpageable: true, state: { saturatedSeconds: [50] } });
  });

  it('takes a handful of events in one second for complete when nothing lies before it', () => {
    const held = Array.from({ length: 3 }, (_, id) => ({ id, second: 50 }));
    expect(walk(held, { until: 100, limit: 100, manner: { cap: 100 } }).end.type).toBe('end');
  });

  it('never takes invalid events that fill a page for the end', () => {
    const state = { ...beginWalk(100), boundaryKnown: true, pages: 1, largestPage: 100 };
    const again = judgePage(state, page({ received: 100, invalid: 100 }), null, null);
    expect(judgePage(again.state, page({ received: 100, invalid: 100 }), null, null)).toMatchObject({ type: 'stop' });
  });

  it('does not conclude the end from an empty answer that lacks what the relay had returned before', () => {
    const state = { ...beginWalk(100), boundaryKnown: true, pages: 1, largestPage: 10, cursor: 40 };
    const again = judgePage(state, page({}), null, null);
    expect(again.type).toBe('continue');
    expect(nextBounds(again.state, null).until).toBe(41);
    expect(judgePage(again.state, page({}), null, null)).toMatchObject({ type: 'stop', unpageable: false });
  });

  it('goes on past an event that the relay deleted while it was paged', () => {
    const state = { ...beginWalk(100), boundaryKnown: true, pages: 1, largestPage: 10, cursor: 40 };
    const older = page({ received: 2, valid: 2, unique: 2, earliest: 20, latest: 30 });
    const again = judgePage(state, older, null, null);
    const decision = judgePage(again.state, { ...older, unique: 0 }, null, null);
    expect(decision).toMatchObject({
      type: 'continue',
      state: { cursor: 20, exclusiveUntil: false, rechecking: null },
    });
  });

  it('gets a relay that takes until as exclusive complete, boundary seconds included', () => {
    const held = Array.from({ length: 60 }, (_, id) => ({ id, second: Math.floor(id / 3) }));
    const { end, known } = walk(held, { until: 100, limit: 10, manner: { cap: 100, exclusiveUntil: true } });
    expect(end.type).toBe('end');
    expect(known.size).toBe(60);
  });

  it('goes on through events that an answer which broke off had brought before', () => {
    const state = { ...beginWalk(100), boundaryKnown: true, pages: 1, largestPage: 10, cursor: 40 };
    const again = judgePage(
      state,
      page({ limit: 10, received: 10, valid: 10, unique: 0, earliest: 25, latest: 40 }),
      null,
      null,
    );
    expect(again).toMatchObject({ type: 'continue', state: { cursor: 25 } });
  });

  it('does not take one bad event, or one repeat, for an answer that confirms the end', () => {
    const state = { ...beginWalk(100), boundaryKnown: true, pages: 1, largestPage: 100, cursor: 40 };
    for (const answer of [page({ received: 1, invalid: 1 }), page({ received: 2, invalid: 2 })]) {
      const again = judgePage(state, answer, null, null);
      expect(again.type).toBe('continue');
      expect(judgePage(again.state, answer, null, null)).toMatchObject({ type: 'stop' });
    }
  });

  it('goes on doubting after it was stored and resumed', () => {
    const state = { ...beginWalk(100), boundaryKnown: true, pages: 1, largestPage: 100, cursor: 40 };
    const stopped = judgePage(judgePage(state, page({}), null, null).state, page({}), null, null);
    expect(stopped.type).toBe('stop');
    const again = judgePage(stopped.state, page({}), null, null);
    expect(judgePage(again.state, page({}), null, null).type).toBe('stop');
  });

  it('believes neither full nor empty pages of a relay that alternates them', () => {
    let state = { ...beginWalk(1000), boundaryKnown: true, pages: 1, largestPage: 100, cursor: 900 };
    state = judgePage(state, page({}), null, null).state;
    state = judgePage(
      state,
      page({ received: 100, valid: 100, unique: 99, earliest: 801, latest: 900 }),
      null,
      null,
    ).state;
    expect(judgePage(state, page({}), null, null)).toMatchObject({ type: 'stop', unpageable: false });
  });

  it('does not believe a finish hint that came with bad events only', () => {
    const answer = page({ ending: 'eose-finish', received: 100, invalid: 100 });
    expect(judgePage(beginWalk(100), answer, null, null).type).toBe('stop');
  });

  it('concludes nothing from an answer part of which could not be read', () => {
    expect(judgePage(beginWalk(100), page({ unreadable: 3 }), null, null)).toMatchObject({
      type: 'stop',
      unpageable: false,
    });
  });

  it('is not fooled by a relay that ignores until behind a silent cap', () => {
    const held = Array.from({ length: 500 }, (_, id) => ({ id, second: id }));
    expect(walk(held, { until: 1000, limit: 100, manner: { cap: 50, ignoresUntil: true } }).end.type).toBe('stop');
  });

  it('is not fooled by a relay that answers oldest first', () => {
    const held = Array.from({ length: 500 }, (_, id) => ({ id, second: id }));
    expect(walk(held, { until: 1000, limit: 100, manner: { cap: 1000, order: 'oldest first' } }).end.type).toBe('stop');
  });

  it('gets a relay that shuffles its pages complete, because it asks what lay between', () => {
    const held = Array.from({ length: 500 }, (_, id) => ({ id, second: id }));
    const { end, known } = walk(held, { until: 1000, limit: 100, manner: { cap: 1000, order: 'shuffled' } });
    expect(end.type).toBe('end');
    expect(known.size).toBe(500);
  });

  it('notices a silent cap of one', () => {
    const held = Array.from({ length: 50 }, (_, id) => ({ id, second: id }));
    expect(walk(held, { until: 1000, limit: 100, manner: { cap: 1 } }).end.type).toBe('stop');
  });

  it('survives being stored and read at every step', () => {
    const held = Array.from({ length: 40 }, (_, id) => ({ id, second: id }));
    for (const state of walk(held, { until: 100, limit: 7, manner: { cap: 5 } }).states) {
      expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    }
  });

  it('claims the end only when every event was seen, as far as answers can show it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 25 }), { maxLength: 80 }),
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 2, max: 20 }),
        fc.boolean(),
        (seconds, limit, cap, exclusiveUntil) => {
          const held = seconds.map((second, id) => ({ id, second }));
          // A relay that cuts off below the limit, within its very oldest second, looks exactly like one that holds no more.
          const oldest = Math.min(...seconds);
          fc.pre(cap >= limit || seconds.filter((second) => second === oldest).length < cap);
          const { end, known } = walk(held, { until: 1000, limit, manner: { cap, exclusiveUntil } });
          if (end.type === 'end') expect(known.size).toBe(held.length);
          else expect(end.state.saturatedSeconds.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('gets past every second that a page can carry', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 40 }), { maxLength: 80 }),
        fc.integer({ min: 2, max: 20 }),
        (seconds, limit) => {
          const held = seconds.map((second, id) => ({ id, second }));
          const perSecond = new Map<number, number>();
          for (const { second } of held) perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
          fc.pre([...perSecond.values()].every((count) => count < limit));
          expect(walk(held, { until: 1000, limit, manner: { cap: 1000 } }).end.type).toBe('end');
        },
      ),
      { numRuns: 1000 },
    );
  });
});
