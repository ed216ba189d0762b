import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinWindows } from '../../main/legacy/window-spans.ts';
import {
  askFullAgain,
  endOfWalk,
  judgeWindow,
  postponeWindow,
  windowsLeft,
  type Window,
  type WindowWalk,
} from '../../main/legacy/window-walk.ts';

const LIMIT = 4;
const LAST = 60;

const window = fc
  .tuple(fc.nat(LAST), fc.nat(LAST))
  .map(([a, b]): Window => ({ since: Math.min(a, b), until: Math.max(a, b) }));
const windows = fc.array(window, { minLength: 1, maxLength: 8 });
/** Seconds at which the relay holds an event, several at some of them. */
const holdings = fc.array(fc.nat(LAST), { maxLength: 120 });

describe('a walk over windows of the first version', () => {
  it('asks each second of its windows, and sees every event outside the seconds that are too full', () => {
    fc.assert(
      fc.property(windows, holdings, (given, held) => {
        const { asked, seen, walk } = walkAll({ pending: given, full: [] }, held);
        for (const second of secondsOf(given)) expect(asked.some((one) => contains(one, second))).toBe(true);
        for (const one of asked)
          expect(secondsOf([one]).every((second) => given.some((w) => contains(w, second)))).toBe(true);
        const expected = held.flatMap((second, index) =>
          given.some((one) => contains(one, second)) && !walk.full.includes(second) ? [index] : [],
        );
        expect(expected.filter((index) => !seen.has(index))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves exactly the seconds that an answer cannot carry, and is complete without any', () => {
    fc.assert(
      fc.property(windows, holdings, (given, held) => {
        const { walk } = walkAll({ pending: given, full: [] }, held);
        const tooFull = secondsOf(given).filter((second) => held.filter((at) => at === second).length >= LIMIT);
        expect([...new Set(walk.full)].sort((a, b) => a - b)).toEqual(tooFull);
        expect(endOfWalk(walk).status).toBe(tooFull.length === 0 ? 'complete' : 'partial');
      }),
      { numRuns: 1000 },
    );
  });

  it('loses no second however often it is cut off, put off and gone on with', () => {
    fc.assert(
      fc.property(
        windows,
        holdings,
        fc.array(fc.constantFrom('answer', 'postpone', 'crash', 'continue')),
        (given, held, steps) => {
          let walk: WindowWalk = { pending: given, full: [] };
          const done = new Set<number>();
          for (const step of steps) {
            const [asked] = walk.pending;
            if (step === 'continue') walk = askFullAgain(walk);
            else if (asked === undefined) break;
            else if (step === 'postpone') walk = postponeWindow(walk);
            // A crash before the commit leaves everything as it was; what is stored is all there is.
            else if (step === 'crash') walk = JSON.parse(JSON.stringify(walk)) as WindowWalk;
            else {
              const received = answerTo(asked, held).length;
              walk = judgeWindow(walk, { received, limit: LIMIT, more: false });
              if (received < LIMIT) for (const second of secondsOf([asked])) done.add(second);
            }
            const left = new Set(secondsOf(windowsLeft(walk)));
            expect(secondsOf(given).filter((second) => !left.has(second) && !done.has(second))).toEqual([]);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('splits a full window at its middle, the newer half first', () => {
    const walk = {
      pending: [
        { since: 10, until: 15 },
        { since: 1, until: 2 },
      ],
      full: [],
    };
    expect(judgeWindow(walk, { received: 4, limit: 4, more: false }).pending).toEqual([
      { since: 13, until: 15 },
      { since: 10, until: 12 },
      { since: 1, until: 2 },
    ]);
  });

  it('takes one event less than the limit for the end of a window, and the limit itself for a full one', () => {
    const walk = { pending: [{ since: 10, until: 15 }], full: [] };
    expect(judgeWindow(walk, { received: 3, limit: 4, more: false })).toEqual({ pending: [], full: [] });
    expect(judgeWindow(walk, { received: 4, limit: 4, more: false }).pending).toHaveLength(2);
  });

  it('believes a relay that says there is more, though its answer was short', () => {
    const walk = { pending: [{ since: 10, until: 15 }], full: [] };
    expect(judgeWindow(walk, { received: 1, limit: 4, more: true }).pending).toHaveLength(2);
  });

  it('asks for full seconds again after everything else', () => {
    expect(askFullAgain({ pending: [{ since: 1, until: 5 }], full: [9, 7] })).toEqual({
      pending: [
        { since: 1, until: 5 },
        { since: 9, until: 9 },
        { since: 7, until: 7 },
      ],
      full: [],
    });
  });

  it('names the seconds that it could not finish', () => {
    expect(endOfWalk({ pending: [], full: [1_600_000_000] }).reason).toContain('2020-09-13 12:26:40 UTC');
    expect(endOfWalk({ pending: [], full: [1_600_000_000, 1_600_000_001] }).reason).toContain('2 seconds');
  });
});

describe('windows that follow each other', () => {
  it('become spans that hold exactly their seconds, every window in one of them, in its order', () => {
    fc.assert(
      fc.property(windows, (given) => {
        const spans = joinWindows(given);
        expect(secondsOf(spans)).toEqual(secondsOf(given));
        expect(spans.flatMap((span) => span.windows)).toHaveLength(given.length);
        for (const span of spans) {
          expect(span.windows).toEqual(given.filter((one) => one.since >= span.since && one.until <= span.until));
        }
        // Newest first, with at least one second between two of them.
        spans.slice(1).forEach((span, index) => expect(span.until + 1).toBeLessThan(spans[index]?.since ?? 0));
      }),
      { numRuns: 1000 },
    );
  });
});

/** Walks to the end against a relay that holds one event at each of these seconds and answers with the newest ones. */
function walkAll(begin: WindowWalk, held: readonly number[]): { asked: Window[]; seen: Set<number>; walk: WindowWalk } {
  const asked: Window[] = [];
  const seen = new Set<number>();
  let walk = begin;
  for (;;) {
    const [next] = walk.pending;
    if (next === undefined) return { asked, seen, walk };
    asked.push(next);
    const answer = answerTo(next, held);
    for (const index of answer) seen.add(index);
    walk = judgeWindow(walk, { received: answer.length, limit: LIMIT, more: false });
  }
}

/** The events, by their place in `held`, that a relay answers a window with. */
function answerTo(asked: Window, held: readonly number[]): number[] {
  return held
    .map((second, index) => ({ second, index }))
    .filter(({ second }) => contains(asked, second))
    .sort((a, b) => b.second - a.second)
    .slice(0, LIMIT)
    .map(({ index }) => index);
}

function contains({ since, until }: Window, second: number): boolean {
  return since <= second && second <= until;
}

function secondsOf(list: readonly Window[]): number[] {
  return Array.from({ length: LAST + 1 }, (_, second) => second).filter((second) =>
    list.some((one) => contains(one, second)),
  );
}
