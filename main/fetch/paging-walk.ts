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
  /** Seconds that hold more events than a page can carry; the range stays partial while there is one. */
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
}

/** One finished answer (EOSE in one of its forms), as counted by the transaction that stores it. */
export interface PageAnswer {
  ending: Extract<QueryEnding, 'eose' | 'eose-finish' | 'eose-more'>;
  /** The limit that was sent. */
  limit: number;
  /** EVENT frames, repeats and invalid ones included. */
  received: number;
  /** Distinct valid, matching events. */
  valid: number;
  /** Of those, the ones that this walk did not know before. */
  unique: number;
  /** Earliest and latest plausible `created_at` among the valid ones; null when there is none. */
  earliest: number | null;
  latest: number | null;
}

export type WalkDecision =
  | { type: 'continue'; state: WalkState; observedCap: number | null }
  | { type: 'end'; state: WalkState; reason: string }
  | { type: 'stop'; state: WalkState; reason: string; unpageable: boolean };

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
  };
}

/** The `until` to send for the next page. */
export function nextUntil(state: WalkState): number {
  return state.exclusiveUntil || state.rechecking !== null ? state.cursor + 1 : state.cursor;
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
  if (answer.ending === 'eose-finish') return finish(next, 'The relay said that nothing older is left.');
  if (state.probing !== null) return judgeProbe(next, answer, state.probing);
  if (state.rechecking !== null) return judgeRecheck(next, answer, state.rechecking.resumeAt);
  if (lacksBoundary(state, answer)) {
    const rechecking = { resumeAt: answer.unique > 0 ? answer.earliest : null };
    return { type: 'continue', state: { ...next, rechecking }, observedCap: null };
  }
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
    before.pages > 0 && before.largestPage > 1 && before.largestPage < answer.limit ? before.largestPage : null;
  const cursor = answer.earliest === null ? before.cursor : Math.min(before.cursor, answer.earliest);
  return {
    type: 'continue',
    state: { ...next, cursor, boundaryKnown: answer.earliest !== null || before.boundaryKnown },
    observedCap,
  };
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
  const withinOneSecond = answer.valid > 0 && answer.earliest === second && answer.latest === second;
  if (answer.valid === 0 && answer.received > 0 && (full || answer.received >= before.largestPage)) {
    return stop(
      next,
      'The relay answered with nothing but events that were not asked for or not validly signed.',
      true,
    );
  }
  if (full || answer.ending === 'eose-more') {
    if (withinOneSecond) return passSaturated(next, second, since);
    return stop(next, 'The relay repeats a full page, so older events cannot be reached by paging.', true);
  }
  // Nothing says that this page was cut off, but it is as large as any other one and lies in one second: a relay
  // with a cap looks just like this. What lies before that second tells the two apart.
  if (withinOneSecond && answer.valid >= 2 && answer.received >= before.largestPage) {
    if (since === null || second - 1 >= since) {
      return {
        type: 'continue',
        state: { ...next, cursor: second - 1, boundaryKnown: false, probing: second },
        observedCap: null,
      };
    }
  }
  const scope = since === null ? 'nothing older' : 'nothing more';
  return finish(
    next,
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
  return (
    state.boundaryKnown && !state.exclusiveUntil && answer.latest !== state.cursor && answer.received === answer.valid
  );
}

/** The answer to `until = E + 1` after one to `until = E` lacked what is known to lie on E. */
function judgeRecheck(next: WalkState, answer: PageAnswer, resumeAt: number | null): WalkDecision {
  const settled = { ...next, rechecking: null };
  const second = next.cursor;
  if (answer.latest !== null && answer.latest >= second) {
    // Exclusive it is. When this page stays within E although older events exist, it was cut off within E.
    const exclusive = { ...settled, exclusiveUntil: true };
    const cutOff = resumeAt !== null && answer.earliest !== null && answer.earliest >= second;
    const saturatedSeconds = cutOff ? [...settled.saturatedSeconds, second] : settled.saturatedSeconds;
    const cursor = Math.min(second, answer.earliest ?? second, resumeAt ?? second);
    return { type: 'continue', state: { ...exclusive, saturatedSeconds, cursor }, observedCap: null };
  }
  const earliest = answer.earliest ?? resumeAt;
  if (earliest !== null) {
    // The event on E is gone; the walk goes on with what lies before it.
    return {
      type: 'continue',
      state: { ...settled, cursor: Math.min(earliest, resumeAt ?? earliest) },
      observedCap: null,
    };
  }
  return stop(
    { ...settled, boundaryKnown: false },
    `Asked again for everything up to ${formatSecond(second)}, the relay returned nothing, not even what it had returned from that second before.`,
    false,
  );
}

/** The answer to "anything before this second?": if there was, the page before had been cut off within the second. */
function judgeProbe(next: WalkState, answer: PageAnswer, second: number): WalkDecision {
  if (answer.unique === 0) {
    const settled = { ...next, probing: null, cursor: second, boundaryKnown: true };
    return finish(settled, `The relay returned nothing before ${formatSecond(second)}.`);
  }
  const cursor = answer.earliest ?? next.cursor;
  return {
    type: 'continue',
    state: {
      ...next,
      probing: null,
      cursor,
      boundaryKnown: answer.earliest !== null,
      saturatedSeconds: [...next.saturatedSeconds, second],
    },
    observedCap: null,
  };
}

/**
 * A second that is full and repeats is named and stays open; what lies before it is fetched all the same, because a
 * backup of it is worth having. Nothing of that makes the range complete.
 */
function passSaturated(next: WalkState, second: number, since: number | null): WalkDecision {
  const saturatedSeconds = next.saturatedSeconds.includes(second)
    ? next.saturatedSeconds
    : [...next.saturatedSeconds, second];
  const state = { ...next, saturatedSeconds };
  if (since !== null && second - 1 < since) return finish(state, '');
  return { type: 'continue', state: { ...state, cursor: second - 1, boundaryKnown: false }, observedCap: null };
}

function finish(state: WalkState, reason: string): WalkDecision {
  const first = state.saturatedSeconds[0];
  if (first === undefined) return { type: 'end', state, reason };
  const others = state.saturatedSeconds.length - 1;
  return stop(
    state,
    `The second ${formatSecond(first)}${others > 0 ? ` (and ${others} more)` : ''} holds more events than one page can carry, so some of them may be missing. A larger page limit or NIP-77 may close it.`,
    true,
  );
}

function stop(state: WalkState, reason: string, unpageable: boolean): WalkDecision {
  return { type: 'stop', state, reason, unpageable };
}
