import type { QueryEnding } from '../../preload/contract.ts';

/** What an ending allows to be concluded about events that did not arrive. */
export interface EndingMeaning {
  /** The relay said that its answer was over. */
  finished: boolean;
  /** The relay said that nothing older is left (only then is a single answer the end of history). */
  endOfHistory: boolean;
  /** Asking the same again, later, may well bring an answer. */
  worthRepeating: boolean;
}

/**
 * The closed set of endings and what each one licenses. Only `eose`, `eose-finish`, `eose-more` and `neg-complete` are
 * words of the relay about its answer being over; no other ending says anything about events that did not arrive.
 */
export const ENDINGS: Readonly<Record<QueryEnding, EndingMeaning>> = {
  /** The stored events were sent. Relays cap silently, so a short page is no end of history. */
  eose: { finished: true, endOfHistory: false, worthRepeating: false },
  /** NIP-67 `finish`: every stored event that matches was sent. */
  'eose-finish': { finished: true, endOfHistory: true, worthRepeating: false },
  /** NIP-67 `more`: the relay holds more that matches. */
  'eose-more': { finished: true, endOfHistory: false, worthRepeating: false },
  /** Reconciliation ended without an error: the whole scope was compared. */
  'neg-complete': { finished: true, endOfHistory: true, worthRepeating: false },
  /** The relay gave a reconciliation up. */
  'neg-err': { finished: false, endOfHistory: false, worthRepeating: true },
  /** CLOSED for another reason than authentication or rate limiting. */
  closed: { finished: false, endOfHistory: false, worthRepeating: true },
  /** A NOTICE that can only be about this query. */
  notice: { finished: false, endOfHistory: false, worthRepeating: true },
  /** Nothing new for this query for its time-out, or no end in all the time it had, whatever else the relay said. */
  timeout: { finished: false, endOfHistory: false, worthRepeating: true },
  /** The socket went away. */
  disconnect: { finished: false, endOfHistory: false, worthRepeating: true },
  /** The relay wants NIP-42 first: never an empty result. */
  'auth-required': { finished: false, endOfHistory: false, worthRepeating: false },
  /** The relay wants less speed; the connection cools down. */
  'rate-limited': { finished: false, endOfHistory: false, worthRepeating: true },
  /** A second holds more than a page can carry (decided by paging, never by the connection). */
  unpageable: { finished: false, endOfHistory: false, worthRepeating: false },
  /** Ended by a person or by closing down. */
  cancelled: { finished: false, endOfHistory: false, worthRepeating: true },
  /** Ended by us: the answer exceeded a limit that protects memory, or could not be handled. */
  failed: { finished: false, endOfHistory: false, worthRepeating: true },
};

/** True when the relay itself said that its answer is over. */
export function isFinished(ending: QueryEnding): boolean {
  return ENDINGS[ending].finished;
}
