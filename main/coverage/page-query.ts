import type { EventVerifier } from '../archive/event-verifier.ts';
import type { ArrivedPage, PageRequest } from './arrived-page.ts';
import { linkSignals } from '../relays/linked-signal.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { QueryResult, Waiting } from '../relays/relay-query.ts';
import { PageCollector } from './page-collector.ts';
import { MOST_BYTES, MOST_EVENTS } from './unfinished-answer.ts';

export interface PageQueryContext {
  verifier: EventVerifier;
  connection: RelayConnection;
  signal: AbortSignal;
  idleTimeoutMs: number;
  onWaiting: (waiting: Waiting | null) => void;
}

/** A page and what comes of it; what arrives is being checked from then on. */
export interface PageQuery {
  readonly request: PageRequest;
  readonly collector: PageCollector;
  /** How the answer ended. Checking may not be over by then. */
  readonly result: Promise<QueryResult>;
  /** Ends it as `cancelled` when it has not ended, and resolves with what it came to. */
  abandon(why: string): Promise<QueryResult>;
}

/** Asks a relay for one page, now. */
export function askPage(context: PageQueryContext, request: PageRequest): PageQuery {
  const { verifier, connection, idleTimeoutMs, onWaiting } = context;
  const collector = new PageCollector(verifier, request);
  const abandoned = new AbortController();
  const link = linkSignals(context.signal, abandoned.signal);
  const result = connection
    .query(request, {
      onEvent: (event) => collector.add(event),
      signal: link.signal,
      idleTimeoutMs,
      maxEvents: MOST_EVENTS,
      maxBytes: MOST_BYTES,
      onWaiting,
    })
    .finally(link.unlink);
  // It is looked at when the page before it is done, which may be after it failed.
  result.catch(() => undefined);
  return {
    request,
    collector,
    result,
    abandon(why) {
      abandoned.abort(new Error(why));
      return result;
    },
  };
}

/** An answer that was kept, as if it had just arrived. */
export function replayPage(verifier: EventVerifier, page: ArrivedPage): PageQuery {
  const { request } = page;
  const collector = new PageCollector(verifier, request);
  for (const event of page.events) collector.add(event);
  const { sentAtMs, completedAtMs, ending, received } = page;
  const result = Promise.resolve<QueryResult>({
    sent: true,
    // Nothing is kept of an answer that has any fault, and it is kept with the times that it is recorded with.
    outcome: {
      ending,
      message: null,
      sentAtMs,
      completedAtMs,
      setBackMs: 0,
      received,
      malformed: 0,
      unreadable: 0,
      lateEvents: 0,
      bytes: 0,
    },
  });
  return { request, collector, result, abandon: () => result };
}
