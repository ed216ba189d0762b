import type { QueryEnding } from '../../preload/contract.ts';
import type { PageRequest } from '../coverage/arrived-page.ts';
import { isPlausibleTime } from '../nostr/plausible-time.ts';
import type { QueryOutcome } from '../relays/relay-query.ts';
import type { CollectedPage } from '../coverage/page-collector.ts';
import type { PageAnswer } from './paging-walk.ts';

/** What paging is told about an answer, except how much of it is new to the walk. */
export type AnswerSoFar = Omit<PageAnswer, 'unique'>;

/**
 * Counts a finished answer for paging. Times that are not plausible count for nothing; they are judged by when the answer
 * was complete, so that it comes to the same whenever it is looked at.
 *
 * @param page what counts as valid of it; before anything is checked, everything that arrived.
 */
export function countAnswer(request: PageRequest, outcome: QueryOutcome, page: CollectedPage): AnswerSoFar {
  const completedAt = Math.floor(outcome.completedAtMs / 1000);
  const times = page.events.map((event) => event.created_at).filter((time) => isPlausibleTime(time, completedAt));
  return {
    ending: finishedEnding(outcome.ending),
    limit: request.limit,
    received: outcome.received,
    invalid: page.invalid + outcome.malformed,
    unreadable: outcome.unreadable + outcome.lateEvents,
    valid: page.events.length,
    earliest: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)),
    latest: times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b)),
    ordered: times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time)),
  };
}

function finishedEnding(ending: QueryEnding): PageAnswer['ending'] {
  return ending === 'eose-finish' || ending === 'eose-more' ? ending : 'eose';
}
