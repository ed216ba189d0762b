import type { QueryEnding, SignedEvent } from '../../preload/contract.ts';
import type { CompletenessHint, Scalar } from './relay-frame.ts';

/** A NIP-01 filter. Tag filters are keyed `#x`. */
export interface RelayFilter {
  ids?: string[];
  authors?: string[];
  kinds?: number[];
  since?: number;
  until?: number;
  limit?: number;
  [tag: `#${string}`]: string[];
}

/** Why a relay could not be asked at all. Nothing was sent, so nothing is concluded about what it holds. */
export type ConnectionFailureCode =
  | 'name-not-resolved'
  | 'refused'
  | 'unreachable'
  | 'bad-certificate'
  | 'http-status'
  | 'not-a-relay'
  | 'connect-timeout'
  | 'closed-early'
  | 'rate-limited'
  | 'cancelled';

export interface ConnectionFailure {
  code: ConnectionFailureCode;
  /** One plain sentence, with the relay's or the system's own words in it. */
  message: string;
}

/**
 * What came of one REQ. Only `eose`, `eose-finish` and `eose-more` say that the relay finished its answer; every other
 * ending licenses no conclusion about events that did not arrive.
 */
export interface QueryOutcome {
  ending: QueryEnding;
  /** The relay's own words (CLOSED, NOTICE, close reason), or why we ended it ourselves. */
  message: string | null;
  sentAtMs: number;
  completedAtMs: number;
  /**
   * How far the wall clock stood behind the end of an earlier query when this one completed, in milliseconds: 0, but
   * after the clock was set back. It is recorded as later by so much, and so after those before it.
   */
  setBackMs: number;
  /** EVENT frames for this subscription, repeats and invalid ones included. */
  received: number;
  /** Frames for this subscription that were no event at all (wrong shape); included in `received`. */
  malformed: number;
  /**
   * Frames that came on the connection while this query was open and that may have been parts of its answer, but could
   * not be read or belonged to nothing: broken JSON, binary frames, EVENTs for subscriptions that were never ours. When
   * there are any, events that did not arrive may have been sent all the same.
   */
  unreadable: number;
  /**
   * EVENTs that the relay sent after its EOSE: those of this query that came until the relay answered a ping (they are
   * delivered, and included in `received`), and those of queries that finished before this one (dropped). When there
   * are any, an EOSE of this relay does not say that its answer was over.
   */
  lateEvents: number;
  bytes: number;
  /** The relay refused the `limit` as too large: the same with a smaller one may be answered. */
  refusedLimit?: true;
  /** The relay refused because too many requests were open: the same, later, may be answered. */
  tooManyRequests?: true;
}

export type QueryResult = { sent: true; outcome: QueryOutcome } | { sent: false; failure: ConnectionFailure };

export interface QueryOptions {
  /** Called for every frame that has the shape of an event; ID, signature and filter are not checked yet. */
  onEvent: (event: SignedEvent) => void;
  /** Cancels waiting and asking: the query ends `cancelled` and the subscription is closed. */
  signal?: AbortSignal;
  /** Without an event that this query has not had yet for this long, it ends `timeout`. Default 30 000. */
  idleTimeoutMs?: number;
  /** Without an end for this long after sending, it ends `timeout`, whatever still comes. Default 600 000. */
  totalTimeoutMs?: number;
  /** More events than this end the query as `failed`: protects memory. Default: five times the limit, at least 1 000. */
  maxEvents?: number;
  /** More bytes than this end the query as `failed`. Default 64 MiB. */
  maxBytes?: number;
  /** Connection attempts at the most, with backoff between them. Default 3; 2 where a repeat cannot help. */
  connectAttempts?: number;
  /** A backoff that would last longer than this is not waited for: the query ends as not sent. Default 60 000. */
  patienceMs?: number;
  /** Called when the query has to wait, and with null when it goes on. */
  onWaiting?: (waiting: Waiting | null) => void;
}

/** That something has to wait before it is sent, and for what. */
export interface Waiting {
  /**
   * `rate-limited`: the relay asked for less speed; `backoff`: before connecting again; `busy`: for a place among the
   * open requests; `pacing`: for the usual interval between two sends.
   */
  kind: 'rate-limited' | 'backoff' | 'busy' | 'pacing';
  /** Unix milliseconds; null when nobody knows. */
  untilMs: number | null;
  reason: string;
}

/** A relay's reason, split once by the NIP-01 prefix. `text` is the whole of the relay's words. */
export interface RelayReason {
  prefix:
    | 'auth-required'
    | 'restricted'
    | 'rate-limited'
    | 'duplicate'
    | 'pow'
    | 'blocked'
    | 'invalid'
    | 'unsupported'
    | 'mute'
    | 'error'
    | null;
  text: string;
}

/** Waiting is the same for everything that is sent. */
export type WaitingOptions = Pick<QueryOptions, 'signal' | 'connectAttempts' | 'patienceMs' | 'onWaiting'>;

export interface LiveHandlers {
  onEvent: (event: SignedEvent) => void;
  /** The stored events are over; what follows is new. */
  onEose?: (hint: CompletenessHint) => void;
}

/** A live subscription. It does not come back by itself: whoever asked decides what to ask after a reconnect. */
export interface LiveSubscription {
  close(): void;
  /** How it ended: by the relay, by the socket, or `cancelled` by `close`. */
  ended: Promise<QueryResult>;
}

/** What came of one NEG session (NIP-77). */
export interface NegentropyOutcome {
  ending: QueryEnding;
  /** The relay's own words, or why we ended it ourselves. */
  message: string | null;
  /** The NEG-ERR frame, without what is nested in it; its fourth element may name the largest set the relay reconciles. */
  negErr: { reason: RelayReason; maximum: number | null; elements: Scalar[] } | null;
  sentAtMs: number;
  completedAtMs: number;
  /** See {@link QueryOutcome}. */
  setBackMs: number;
  /** NEG-MSG frames from the relay. */
  rounds: number;
  /** Bytes of the NEG-MSG frames of both sides. */
  bytes: number;
}

export type NegentropyResult = { sent: true; outcome: NegentropyOutcome } | { sent: false; failure: ConnectionFailure };

/**
 * What came of one EVENT frame.
 *
 * `rejected`: only an OK names the event it is about; a NOTICE, or the closing of a connection as over a frame too large, is
 * given to the event that it can only be about, and reading back has the last word.
 *
 * `unknown` decides nothing: reading back does. `unclear` is an OK that says neither yes nor no.
 */
export type PublishOutcome =
  | { state: 'accepted'; duplicate: boolean; reason: RelayReason; sentAtMs: number; completedAtMs: number }
  | {
      state: 'rejected';
      lasting: boolean;
      by: 'ok' | 'notice' | 'close';
      reason: RelayReason;
      sentAtMs: number;
      completedAtMs: number;
    }
  | {
      state: 'unknown';
      cause: 'timeout' | 'disconnect' | 'cancelled' | 'unclear';
      message: string;
      /** The code with which the relay itself closed the connection; null when it did not. */
      closeCode: number | null;
      sentAtMs: number;
    };

/** An answer that came when it was not waited for any more. */
export type LateAnswer = Exclude<PublishOutcome, { state: 'unknown' }>;

export interface PublishOptions extends WaitingOptions {
  /** Without an OK for this long the outcome is unknown. Default 20 000. */
  okTimeoutMs?: number;
  /** Asked when everything else has been waited for, right before the frame leaves. When false the event is not sent. */
  mayBeSent?: () => Promise<boolean>;
  /** Called when an OK comes after all, on the same connection, once its time was over. */
  onLateAnswer?: (answer: LateAnswer) => void;
}

export type PublishResult = { sent: true; outcome: PublishOutcome } | { sent: false; failure: ConnectionFailure };
