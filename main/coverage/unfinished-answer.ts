import type { QueryOutcome } from '../relays/relay-query.ts';

/** Setbacks since the last finished answer. */
export interface Troubles {
  disconnects: number;
  refusedLimits: number;
  busy: number;
  rateLimits: number;
}

export type AfterUnfinished =
  | {
      type: 'again';
      troubles: Troubles;
      /** A smaller limit to use with this relay from now on. */
      acceptedLimit: number | null;
      /** A smaller limit for the rest of this attempt. */
      lighterLimit: number | null;
      reason: string;
    }
  | { type: 'stop'; reason: string; lost: boolean };

/** What one answer may bring at the most; beyond it the query ends as `failed`, and memory is safe. */
export const MOST_EVENTS = 20_000;
export const MOST_BYTES = 64 * 1024 * 1024;

const DISCONNECTS = 2;
const BUSY = 5;
const RATE_LIMITS = 20;

/**
 * What to do after an answer that did not finish. None of these endings is an empty result: the range stays unfinished
 * unless asking again succeeds. Time-outs are not repeated within a run: waiting longer for a silent relay is the
 * user's choice. How long to wait before a repeat is the connection's business: it cools down and backs off.
 */
export function afterUnfinishedAnswer(
  outcome: QueryOutcome,
  troubles: Troubles,
  limit: number,
  url: string,
): AfterUnfinished {
  const words = outcome.message === null || outcome.message === '' ? '' : `: ${outcome.message}`;
  const again = (
    change: Partial<Troubles>,
    acceptedLimit: number | null = null,
    lighterLimit: number | null = null,
  ): AfterUnfinished => ({
    type: 'again',
    troubles: { ...troubles, ...change },
    acceptedLimit,
    lighterLimit,
    reason: outcome.message ?? '',
  });
  if (outcome.refusedLimit === true && troubles.refusedLimits === 0 && limit > 2) {
    return again({ refusedLimits: 1 }, smallerLimit(limit));
  }
  if (outcome.tooManyRequests === true && troubles.busy < BUSY) return again({ busy: troubles.busy + 1 });
  switch (outcome.ending) {
    case 'disconnect':
      // The connection itself waits, with jitter, before it connects again.
      if (troubles.disconnects < DISCONNECTS) return again({ disconnects: troubles.disconnects + 1 });
      return stop(`The connection to ${url} ended while a page was on its way${words}.`, true);
    case 'rate-limited':
      if (troubles.rateLimits < RATE_LIMITS) return again({ rateLimits: troubles.rateLimits + 1 });
      return stop(`${url} keeps limiting the rate of requests${words}.`, true);
    case 'timeout':
      return stop(`${url} did not finish its answer in time${words}.`, false);
    case 'auth-required':
      return stop(`${url} answers only after authentication${words}.`, true);
    case 'closed':
      return stop(`${url} refused the request${words}.`, false);
    case 'notice':
      return stop(`${url} answered with a notice instead of events${words}.`, false);
    case 'cancelled':
      return stop(outcome.message ?? 'Cancelled.', true);
    case 'failed':
      // Events this large come in fewer at a time.
      if (outcome.bytes >= MOST_BYTES && limit > 2) return again({}, null, Math.max(2, Math.floor(limit / 4)));
      return stop(`The answer of ${url} could not be taken${words}.`, false);
    case 'eose':
    case 'eose-finish':
    case 'eose-more':
    case 'neg-complete':
    case 'neg-err':
    case 'unpageable':
      return stop(`${url} ended the query in an unexpected way (${outcome.ending})${words}.`, false);
  }
}

/** Half, or one of the maxima that relays commonly have, whichever is smaller. */
function smallerLimit(limit: number): number {
  const half = Math.max(2, Math.floor(limit / 2));
  return [1000, 500, 300, 100, 50].find((common) => common <= half) ?? half;
}

function stop(reason: string, lost: boolean): AfterUnfinished {
  return { type: 'stop', reason, lost };
}
