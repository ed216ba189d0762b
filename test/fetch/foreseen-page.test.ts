import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundsWhateverIsNew, foreseeBounds } from '../../main/fetch/foreseen-page.ts';
import type { AnswerSoFar } from '../../main/fetch/page-answer.ts';
import { beginWalk, judgePage, nextBounds, type WalkState } from '../../main/fetch/paging-walk.ts';

/** A walk that has committed one page and knows of an event on its cursor. */
const WALKING: WalkState = { ...beginWalk(1000), pages: 1, largestPage: 10, boundaryKnown: true };

/** A full, faultless page from the cursor down to 900. */
const ANSWER: AnswerSoFar = {
  ending: 'eose',
  limit: 10,
  received: 10,
  invalid: 0,
  unreadable: 0,
  valid: 10,
  earliest: 900,
  latest: 1000,
  ordered: true,
};

describe('foreseeing what follows an answer', () => {
  it('sees the next page from the earliest second of an answer that reaches further', () => {
    expect(foreseeBounds(WALKING, ANSWER, null, null)).toEqual({ since: null, until: 900 });
    expect(foreseeBounds(WALKING, { ...ANSWER, ending: 'eose-more' }, 500, null)).toEqual({ since: 500, until: 900 });
    expect(foreseeBounds(WALKING, { ...ANSWER, received: 7, valid: 7 }, null, null)).toEqual({
      since: null,
      until: 900,
    });
  });

  it.each<[string, Partial<WalkState>, Partial<AnswerSoFar>]>([
    ['it is the first of its walk', { pages: 0, boundaryKnown: false }, {}],
    ['a second is being asked once more', { rechecking: { resumeAt: 990 } }, {}],
    ['a second is being probed', { probing: 1000 }, {}],
    ['a stretch is being verified', { verifying: { since: 950, cursor: 940 } }, {}],
    ['the relay takes until as exclusive', { exclusiveUntil: true }, {}],
    ['something in it is invalid', {}, { invalid: 1 }],
    ['something in it could not be read', {}, { unreadable: 1 }],
    ['the relay says that nothing is left', {}, { ending: 'eose-finish' }],
    ['it is empty', {}, { received: 0, valid: 0, earliest: null, latest: null }],
    ['it reaches no further', {}, { earliest: 1000 }],
    ['it fills one second, and what is new decides', { largestPage: 20 }, { earliest: 1000, received: 20, limit: 20 }],
    ['it lacks what is known to lie on the cursor', {}, { latest: 990 }],
    ['it is not newest first', {}, { ordered: false }],
  ])('sees nothing after an answer when %s', (_, state, answer) => {
    expect(foreseeBounds({ ...WALKING, ...state }, { ...ANSWER, ...answer }, null, null)).toBeNull();
  });

  it('tells where a checked page leads even when some of it was invalid, unless what is new decides', () => {
    expect(boundsWhateverIsNew(WALKING, { ...ANSWER, invalid: 3, valid: 7 }, null, null)).toEqual({
      since: null,
      until: 900,
    });
    expect(boundsWhateverIsNew(WALKING, { ...ANSWER, invalid: 3, valid: 7, earliest: 950 }, null, null)).toEqual({
      since: null,
      until: 950,
    });
    expect(boundsWhateverIsNew(WALKING, { ...ANSWER, earliest: 1000 }, null, null)).toBeNull();
    const nothingValid = { ...ANSWER, invalid: 10, valid: 0, earliest: null, latest: null };
    expect(boundsWhateverIsNew({ ...WALKING, boundaryKnown: false }, nothingValid, null, null)).toBeNull();
  });

  it('is never wrong about what the judge decides, however much of the page is new', () => {
    const second = fc.integer({ min: 880, max: 1010 });
    const state = fc.record({
      cursor: second,
      largestPage: fc.nat({ max: 12 }),
      pages: fc.nat({ max: 3 }),
      boundaryKnown: fc.boolean(),
      saturatedSeconds: fc.subarray([1005]),
      probing: fc.option(second),
      rechecking: fc.option(fc.record({ resumeAt: fc.option(second) })),
      exclusiveUntil: fc.boolean(),
      verifying: fc.option(fc.record({ since: second, cursor: second })),
      reachedEnd: fc.constant(false),
    });
    const answer = fc
      .record({
        ending: fc.constantFrom('eose' as const, 'eose-finish' as const, 'eose-more' as const),
        limit: fc.integer({ min: 2, max: 12 }),
        extra: fc.nat({ max: 3 }),
        invalid: fc.nat({ max: 2 }),
        unreadable: fc.constantFrom(0, 0, 1),
        seconds: fc.array(second, { maxLength: 12 }),
        sorted: fc.boolean(),
      })
      .map(({ extra, seconds, sorted, ...rest }): AnswerSoFar => {
        const times = sorted ? seconds.toSorted((a, b) => b - a) : seconds;
        return {
          ...rest,
          received: times.length + rest.invalid + extra,
          valid: times.length,
          earliest: times.length === 0 ? null : Math.min(...times),
          latest: times.length === 0 ? null : Math.max(...times),
          ordered: times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time)),
        };
      });
    let told = 0;
    fc.assert(
      fc.property(
        state,
        answer,
        fc.constantFrom(null, 870),
        fc.option(fc.nat({ max: 12 })),
        (from, page, since, cap) => {
          const whatever = boundsWhateverIsNew(from, page, since, cap);
          const foreseen = foreseeBounds(from, page, since, cap);
          if (foreseen !== null) expect(whatever).toEqual(foreseen);
          if (whatever === null) return;
          told += 1;
          for (let unique = 0; unique <= page.valid; unique += 1) {
            const decision = judgePage(from, { ...page, unique }, since, cap);
            expect(decision.type).toBe('continue');
            expect(nextBounds(decision.state, since)).toEqual(whatever);
          }
        },
      ),
      { numRuns: 2000 },
    );
    expect(told).toBeGreaterThan(100);
  });
});
