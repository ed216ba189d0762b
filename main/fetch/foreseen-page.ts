import type { AnswerSoFar } from './page-answer.ts';
import { judgePage, nextBounds, type WalkState } from './paging-walk.ts';

/** Bounds of a request, inclusive, Unix seconds; `since: null` is Beginning. */
export type Bounds = ReturnType<typeof nextBounds>;

/**
 * What a walk will ask after an answer that has just arrived, provided that everything in it proves valid. Null when that
 * cannot be told before it is committed: when it depends on what is new in it, when the walk ends or looks twice, or
 * when the answer is not faultless. A walk's first page is never looked beyond, so that whatever is gone on with has a
 * cursor.
 *
 * Foreseeing decides nothing: the page is judged when it is checked, and {@link boundsWhateverIsNew} then tells whether
 * the walk goes on as foreseen.
 */
export function foreseeBounds(
  state: WalkState,
  answer: AnswerSoFar,
  since: number | null,
  knownCap: number | null,
): Bounds | null {
  if (state.pages === 0 || !isPlain(state) || answer.invalid > 0 || answer.unreadable > 0) return null;
  const next = stateWhateverIsNew(state, answer, since, knownCap);
  return next === null || !isPlain(next) ? null : nextBounds(next, since);
}

/** What a walk asks after a checked answer, when that is the same however much of the answer is new to it; otherwise null. */
export function boundsWhateverIsNew(
  state: WalkState,
  answer: AnswerSoFar,
  since: number | null,
  knownCap: number | null,
): Bounds | null {
  const next = stateWhateverIsNew(state, answer, since, knownCap);
  return next === null ? null : nextBounds(next, since);
}

/** The judge looks at what is new only to see whether there is any. */
function stateWhateverIsNew(
  state: WalkState,
  answer: AnswerSoFar,
  since: number | null,
  knownCap: number | null,
): WalkState | null {
  const nothingNew = judgePage(state, { ...answer, unique: 0 }, since, knownCap);
  const allNew = judgePage(state, { ...answer, unique: answer.valid }, since, knownCap);
  if (nothingNew.type !== 'continue' || allNew.type !== 'continue') return null;
  const [one, other] = [nextBounds(nothingNew.state, since), nextBounds(allNew.state, since)];
  return one.since === other.since && one.until === other.until ? nothingNew.state : null;
}

/** Nothing is being looked at a second time, and the relay takes bounds as they are meant. */
function isPlain(state: WalkState): boolean {
  return state.verifying === null && state.probing === null && state.rechecking === null && !state.exclusiveUntil;
}
