import type { Attempt, Range } from './range-history.ts';
import type { PageRecord } from './record-page.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import type { CollectedPage } from './page-collector.ts';

/** A query's outcome and what its frames turned out to be, as they are committed. */
export function pageRecord(
  scope: { range: Range; attempt: Attempt },
  request: RelayFilter,
  outcome: QueryOutcome,
  page: CollectedPage,
): PageRecord {
  return {
    ...scope,
    request,
    sentAtMs: outcome.sentAtMs,
    completedAtMs: outcome.completedAtMs,
    setBackMs: outcome.setBackMs,
    ending: outcome.ending,
    message: outcome.message,
    received: outcome.received,
    invalid: page.invalid + outcome.malformed,
    events: page.events,
  };
}
