import type { QueryOutcome } from '../relays/relay-query.ts';

/** Setbacks since the last finished answer. */
export interface Setbacks {
  unfinished: number;
  rateLimits: number;
  busy: number;
}

export const NO_SETBACKS: Setbacks = { unfinished: 0, rateLimits: 0, busy: 0 };

/** What to do after an answer that did not finish. `smaller`: ask for fewer IDs. */
export type AfterUnfinishedLook =
  { type: 'again'; setbacks: Setbacks; smaller: boolean } | { type: 'stop'; reason: string };

const UNFINISHED = 3;
const RATE_LIMITS = 20;
const BUSY = 5;

/**
 * An answer that did not finish says nothing about what it did not return. It is asked for again a few times; how long to
 * wait before that is the connection's business.
 */
export function afterUnfinishedLook(outcome: QueryOutcome, setbacks: Setbacks, url: string): AfterUnfinishedLook {
  const words = outcome.message === null || outcome.message === '' ? '' : `: ${outcome.message}`;
  if (outcome.tooManyRequests === true && setbacks.busy < BUSY) {
    return { type: 'again', setbacks: { ...setbacks, busy: setbacks.busy + 1 }, smaller: false };
  }
  switch (outcome.ending) {
    case 'auth-required':
      return { type: 'stop', reason: `${url} returns events only after authentication${words}` };
    case 'cancelled':
      return { type: 'stop', reason: outcome.message ?? 'Cancelled.' };
    case 'rate-limited':
      if (setbacks.rateLimits < RATE_LIMITS) {
        return { type: 'again', setbacks: { ...setbacks, rateLimits: setbacks.rateLimits + 1 }, smaller: false };
      }
      return { type: 'stop', reason: `${url} keeps limiting the rate of requests${words}` };
    case 'closed':
    case 'notice':
    case 'timeout':
    case 'disconnect':
    case 'failed':
    case 'eose':
    case 'eose-finish':
    case 'eose-more':
    case 'neg-complete':
    case 'neg-err':
    case 'unpageable':
      break;
  }
  if (setbacks.unfinished + 1 < UNFINISHED) {
    return { type: 'again', setbacks: { ...setbacks, unfinished: setbacks.unfinished + 1 }, smaller: true };
  }
  return { type: 'stop', reason: `${url} did not finish its answer${words}` };
}
