import type { QueryEnding } from '../../preload/contract.ts';
import { formatSecond } from '../platform/format-second.ts';

/**
 * Paging decides nothing but what to ask next and when to stop. It is pure: one answer goes in, one decision comes
 * out, and everything it remembers fits in a checkpoint. Rules: spec §4 "Initial history and fallback paging",
 * design §3.4, §3.5 and §3.7.
 */
export interface WalkState {
  /** Inclusive `until` of the next page, Unix seconds. */
  cursor: number;
  /** Most EVENT frames that one finished answer of this walk carried: a silent cap shows here. */
  largestPage: number;
  /** Finished answers so far. */
  pages: number;
  /** Whether an event is known to lie on the cursor's second, so that the next answer must contain it. */
  boundaryKnown: boolean;
  /** Seconds that hold more events than a page can carry; the range stays partial while there is one. The first of many. */
  saturatedSeconds: number[];
  /** The second whose predecessor is being asked, to tell a capped page from the end of history. */
  probing: number | null;
  /**
   * Set while the page is asked again one second later, because the relay left out the boundary second that it is
   * known to hold; `resumeAt` is where the walk goes on otherwise.
   */
  rechecking: { resumeAt: number | null } | null;
  /** The relay was seen to take `until` as exclusive: it is asked with one second more. */
  exclusiveUntil: boolean;
  /**
   * Set while the seconds between an unordered page's earliest event and the cursor are asked once more: a relay that
   * does not answer newest first may have left events out of the middle. `cursor` is where the walk goes on.
   */
  verifying: { since: number; cursor: number } | null;
  /** Nothing but the saturated seconds stands open: the walk itself came to its end. */
  reachedEnd: boolean;
}

/** One finished answer (EOSE in one of its forms), as counted by the transaction that stores it. */
export interface PageAnswer {
  ending: Extract<QueryEnding, 'eose' | 'eose-finish' | 'eose-more'>;
  /** The limit that was sent. */
  limit: number;
  /** EVENT frames, repeats and invalid ones included. */
  received: number;
  /** Of those, what was malformed, not validly signed, or not asked for. */
  invalid: number;
  /** What came meanwhile and could not be read or told apart: something may have been lost with it. */
  unreadable: number;
  /** Distinct valid, matching events. */
  valid: number;
  /** Of those, the ones that this walk did not know before. */
  unique: number;
  /** Earliest and latest plausible `created_at` among the valid ones; null when there is none. */
  earliest: number | null;
  latest: number | null;
  /** Whether the events came newest first, as NIP-01 has it. */
  ordered: boolean;
}

export type WalkDecision =
  | { type: 'continue'; state: WalkState; observedCap: number | null }
  | { type: 'end'; state: WalkState; reason: string }
  | { type: 'stop'; state: WalkState; reason: string; unpageable: boolean };

/** More saturated seconds than this are passed without being named. */
const NAMED_SECONDS = 100;

/** The state of a walk that has asked nothing yet. */
export function beginWalk(until: number): WalkState {
  return {
    cursor: until,
    largestPage: 0,
    pages: 0,
    boundaryKnown: false,
    saturatedSeconds: [],
    probing: null,
    rechecking: null,
    exclusiveUntil: false,
    verifying: null,
    reachedEnd: false,
  };
}

/** The bounds to send for the next page. */
export function nextBounds(state: WalkState, since: number | null): { since: number | null; until: number } {
  return {
    since: state.verifying?.since ?? since,
    until: state.exclusiveUntil || state.rechecking !== null ? state.cursor + 1 : state.cursor,
  };
}

/**
 * What follows from a page asked with `until = state.cursor`.
 *
 * `end` licenses calling the walk's whole scope established, unless seconds are saturated (then the decision is
 * `stop`). `continue` and `stop` license nothing about events that did not arrive.
 *
 * @param since lower bound of the range, or null for Beginning.
 * @param knownCap the largest page this relay was ever seen to carry while it held more (a hint), or null.
 */
export function judgePage(
  state: WalkState,
  answer: PageAnswer,
  since: number | null,
  knownCap: number | null,
): WalkDecision {
  const next: WalkState = {
    ...state,
    pages: state.pages + 1,
    largestPage: Math.max(state.largestPage, answer.received),
  };
  if (state.verifying !== null) return judgeVerification(next, answer, state.verifying.cursor);
  if (state.probing !== null) return judgeProbe(next, answer, state.probing);
  if (state.rechecking !== null) return judgeRecheck(next, answer, state.rechecking.resumeAt);
  if (lacksBoundary(state, answer)) return missBoundary(state, next, answer);
  if (answer.ending === 'eose-finish') return finish(next, answer, 'The relay said that nothing older is left.');
  if (answer.unique > 0 || reachesFurther(state, answer)) return goOn(state, next, answer);
  return judgeWithoutNews(state, next, answer, since, knownCap);
}

/**
 * Events before the cursor were part of no finished page, even when the walk knows them: an answer that broke off had
 * brought them. So they are news to the walk's progress, though not to its finds.
 */
function reachesFurther(state: WalkState, answer: PageAnswer): boolean {
  return answer.earliest !== null && answer.earliest < state.cursor;
}

/** New events came: the walk goes on at the earliest second, which is asked again because it may hold more. */
function goOn(before: WalkState, next: WalkState, answer: PageAnswer): WalkDecision {
  // A page shorter than its limit that nevertheless was not the last one shows a cap of the relay.
  const observedCap =
    before.pages > 0 && before.largestPage > 0 && before.largestPage < answer.limit ? before.largestPage : null;
  const cursor = answer.earliest === null ? before.cursor : Math.min(before.cursor, answer.earliest);
  if (!answer.ordered && cursor < before.cursor) {
    return { type: 'continue', state: { ...next, verifying: { since: cursor + 1, cursor } }, observedCap };
  }
  return {
    type: 'continue',
    state: { ...next, cursor, boundaryKnown: answer.earliest !== null || before.boundaryKnown },
    observedCap,
  };
}

/** The answer about the seconds that an unordered page passed over: they must hold nothing that the page left out. */
function judgeVerification(next: WalkState, answer: PageAnswer, cursor: number): WalkDecision {
  if (answer.unique > 0) {
    return stop(
      { ...next, verifying: null, boundaryKnown: false },
      'The relay does not answer newest first, so a page says nothing about what lies between its events.',
      true,
    );
  }
  return { type: 'continue', state: { ...next, verifying: null, cursor, boundaryKnown: true }, observedCap: null };
}

function judgeWithoutNews(
  before: WalkState,
  next: WalkState,
  answer: PageAnswer,
  since: number | null,
  knownCap: number | null,
): WalkDecision {
  const second = before.cursor;
  const full = answer.received > 0 && answer.received >= Math.min(answer.limit, knownCap ?? answer.limit);
  const asLargeAsAny = answer.received > 0 && answer.received >= before.largestPage;
  const withinOneSecond = answer.valid > 0 && answer.earliest === second && answer.latest === second;
  // Frames that do not count may have taken the place of events that would.
  if (answer.invalid > 0 && (answer.valid === 0 || full || asLargeAsAny)) {
    return stop(next, 'The relay answered with events that were not asked for or not validly signed.', false);
  }
  if (full || answer.ending === 'eose-more') {
    if (withinOneSecond) return passSaturated(next, answer, second, since);
    return stop(next, 'The relay repeats a full page, so older events cannot be reached by paging.', true);
  }
  // Nothing says that this page was cut off, but it is as large as any other one and lies in one second: a relay
  // with a cap looks just like this. What lies before that second tells the two apart.
  if (withinOneSecond && asLargeAsAny && (since === null || second - 1 >= since)) {
    return {
      type: 'continue',
      state: { ...next, cursor: second - 1, boundaryKnown: false, probing: second },
      observedCap: null,
    };
  }
  const scope = since === null ? 'nothing older' : 'nothing more';
  return finish(
    next,
    answer,
    before.boundaryKnown
      ? `Asked again for everything up to ${formatSecond(second)}, the relay returned ${scope}.`
      : 'The relay returned nothing for this scope.',
  );
}

/**
 * An answer to `until = E` must contain the event that is known to lie on E, as the newest one. When it does not, the
 * relay takes `until` as exclusive, no longer holds the event, or answers at random.
 */
function lacksBoundary(state: WalkState, answer: PageAnswer): boolean {
  return state.boundaryKnown && (answer.latest === null || answer.latest < state.cursor);
}

/** Once per walk the page is asked again one second later: a relay that takes `until` as exclusive then shows the event. */
function missBoundary(state: WalkState, next: WalkState, answer: PageAnswer): WalkDecision {
  const resumeAt = answer.unique > 0 || reachesFurther(state, answer) ? answer.earliest : null;
  if (state.exclusiveUntil) return passMissing(next, answer, resumeAt);
  return { type: 'continue', state: { ...next, rechecking: { resumeAt } }, observedCap: null };
}

/** The answer to `until = E + 1` after one to `until = E` lacked what is known to lie on E. */
function judgeRecheck(next: WalkState, answer: PageAnswer, resumeAt: number | null): WalkDecision {
  const settled = { ...next, rechecking: null };
  const second = next.cursor;
  if (answer.latest === null || answer.latest < second) return passMissing(settled, answer, resumeAt);
  // Exclusive it is. When this page stays within E although older events exist, it was cut off within E.
  const exclusive = { ...settled, exclusiveUntil: true };
  const cutOff = resumeAt !== null && answer.earliest !== null && answer.earliest >= second;
  const state = cutOff ? { ...exclusive, saturatedSeconds: named(settled.saturatedSeconds, second) } : exclusive;
  const cursor = Math.min(second, answer.earliest ?? second, resumeAt ?? second);
  return { type: 'continue', state: { ...state, cursor }, observedCap: null };
}

/** What is known to lie on the boundary did not come again: with older events it is gone, without any the answer is not believed. */
function passMissing(next: WalkState, answer: PageAnswer, resumeAt: number | null): WalkDecision {
  const earliest = answer.earliest ?? resumeAt;
  if (earliest !== null) {
    return {
      type: 'continue',
      state: { ...next, cursor: Math.min(earliest, resumeAt ?? earliest) },
      observedCap: null,
    };
  }
  return stop(
    next,
    `Asked again for everything up to ${formatSecond(next.cursor)}, the relay did not return even what it had returned from that second before.`,
    false,
  );
}

/** The answer to "anything before this second?": if there was, the page before had been cut off within the second. */
function judgeProbe(next: WalkState, answer: PageAnswer, second: number): WalkDecision {
  if (answer.unique === 0 && !reachesFurther(next, answer)) {
    const settled = { ...next, probing: null, cursor: second, boundaryKnown: true };
    if (answer.invalid > 0) {
      return stop(settled, 'The relay answered with events that were not asked for or not validly signed.', false);
    }
    return finish(settled, answer, `The relay returned nothing before ${formatSecond(second)}.`);
  }
  return {
    type: 'continue',
    state: {
      ...next,
      probing: null,
      cursor: answer.earliest ?? next.cursor,
      boundaryKnown: answer.earliest !== null,
      saturatedSeconds: named(next.saturatedSeconds, second),
    },
    observedCap: null,
  };
}

/**
 * A second that is full and repeats is named and stays open; what lies before it is fetched all the same, because a
 * backup of it is worth having. Nothing of that makes the range complete.
 */
function passSaturated(next: WalkState, answer: PageAnswer, second: number, since: number | null): WalkDecision {
  const state = { ...next, saturatedSeconds: named(next.saturatedSeconds, second) };
  if (since !== null && second - 1 < since) return finish(state, answer, '');
  return { type: 'continue', state: { ...state, cursor: second - 1, boundaryKnown: false }, observedCap: null };
}

function named(seconds: readonly number[], second: number): number[] {
  return seconds.includes(second) || seconds.length >= NAMED_SECONDS ? [...seconds] : [...seconds, second];
}

/** The end of the walk, unless something stands against it. */
function finish(state: WalkState, answer: PageAnswer, reason: string): WalkDecision {
  const first = state.saturatedSeconds[0];
  if (first !== undefined) {
    const others = state.saturatedSeconds.length - 1;
    return stop(
      { ...state, reachedEnd: true },
      `The second ${formatSecond(first)}${others > 0 ? ` (and ${others} more)` : ''} holds more events than one page can carry, so some of them may be missing. A larger page limit or NIP-77 may close it.`,
      true,
    );
  }
  if (answer.unreadable > 0) {
    return stop(
      state,
      'Part of what the relay sent could not be read, so its answer is not taken for the whole.',
      false,
    );
  }
  if (answer.ending === 'eose-finish' && answer.invalid > 0) {
    return stop(state, 'The relay answered with events that were not asked for or not validly signed.', false);
  }
  return { type: 'end', state, reason };
}

function stop(state: WalkState, reason: string, unpageable: boolean): WalkDecision {
  return { type: 'stop', state, reason, unpageable };
}
