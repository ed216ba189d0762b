/** Candidates, deliveries, and how far a copy is known to have arrived. */

import type { DeliveryState, DeliveryTotals, Reverification } from './deliveries.ts';
import type { RunStatus } from './runs.ts';

/** Why an archived event is not sent, although a relay lacks it (design §6). */
export type ExclusionReason =
  'deleted' | 'expired' | 'superseded' | 'protected' | 'vanished' | 'ephemeral' | 'never-sent';

/**
 * Why a delivery stands where it stands. Of a rejection: the prefix of NIP-01, `too-large`, or `other`. `not-returned`:
 * accepted, and not returned when asked for; `no-answer`: no OK came, and it is not returned either; `not-read-back`: asking
 * for it did not come to an end; `not-sent`: the relay could not be reached. Of a withdrawal: why it may not be sent any
 * more, `no-write-relay`, or `present` when the relay turned out to have it.
 */
export type DeliveryReason =
  | 'auth-required'
  | 'restricted'
  | 'rate-limited'
  | 'pow'
  | 'blocked'
  | 'invalid'
  | 'unsupported'
  | 'mute'
  | 'error'
  | 'too-large'
  | 'other'
  | 'not-returned'
  | 'no-answer'
  | 'not-read-back'
  | 'not-sent'
  | 'no-write-relay'
  | 'present'
  | ExclusionReason;

/** What Sync is narrowed to; what is left out is not narrowed. Both bounds are inclusive seconds of `created_at`. */
export interface Narrowing {
  /** URLs of write relays. */
  relays?: string[];
  kinds?: number[];
  since?: number;
  until?: number;
}

/**
 * How far a relay was compared with the archive for an account. `unanswered`: it was asked, and never answered. `unfinished`:
 * it answered, and its history was not gone through to the end, so that nothing is missing there can be said of no event.
 */
export type Comparison = 'never-asked' | 'unanswered' | 'unfinished' | 'compared';

/** Copies of one kind, and when the oldest observation among them was made. */
export interface KindCopies {
  kind: number;
  count: number;
  observedAt: number;
}

/** Confirmed-missing copies of eligible events on one write relay. */
export interface CandidateRelay {
  url: string;
  /** Without those in `refused`. */
  count: number;
  /**
   * When the oldest of the observations that this rests on was made; without candidates, when the relay's whole history was
   * compared last. Null of a relay that never was compared.
   */
  observedAt: number | null;
  comparison: Comparison;
  kinds: KindCopies[];
  /** Missing copies that this relay refused for a lasting reason: offered on demand only. */
  refused: number;
  refusedKinds: KindCopies[];
  /**
   * Eligible events of which nothing conclusive is known on this relay: they are neither missing nor present. Null while they
   * are being counted, which may take a second or two.
   */
  undetermined: number | null;
}

/** What Sync offers to send. One event missing on two relays is two copies. */
export interface CandidateTree {
  account: string;
  total: number;
  /** All write relays of the account, or those narrowed to. */
  relays: CandidateRelay[];
  /** Events that some of these relays lack and that are not sent, each counted once, by reason. */
  excluded: { reason: ExclusionReason; events: number }[];
  /**
   * Archived events that are left out because nobody has checked yet whether they may be sent: a process that only reads
   * cannot. Absent when there are none.
   */
  unchecked?: number;
  computedAt: number;
}

/** One confirmed-missing copy. */
export interface Candidate {
  event: string;
  kind: number;
  createdAt: number;
  /** The beginning of the content, as text. */
  preview: string;
  observedAt: number;
  /** The relay refused it for a lasting reason before. */
  refused: boolean;
}

/** Something that is known about a relay and makes it likely that it refuses or loses some of what would be sent. */
export interface SyncWarning {
  type:
    | 'too-old'
    | 'too-large'
    | 'authentication'
    | 'payment'
    | 'restricted'
    | 'refused-before'
    | 'unreachable'
    /** In an earlier sync it accepted events and did not return them. */
    | 'not-returned'
    /** In an earlier sync it said of no event whether it took it. */
    | 'no-answer';
  /** How many of the copies it concerns; null when that cannot be told. */
  copies: number | null;
  /** One plain sentence that says where this is known from. */
  message: string;
}

/** Exactly what a sync would send where. Nothing is sent by looking at it. */
export interface SyncPreview {
  account: string;
  total: number;
  /** Distinct events among the copies. */
  events: number;
  relays: {
    url: string;
    count: number;
    /** Of their frames. */
    bytes: number;
    oldest: number;
    newest: number;
    kinds: { kind: number; count: number }[];
    warnings: SyncWarning[];
  }[];
}

/** One event on its way to one relay. */
export interface Delivery {
  id: number;
  event: string;
  kind: number;
  createdAt: number;
  preview: string;
  relay: string;
  state: DeliveryState;
  reason: DeliveryReason | null;
  /** The relay's own words where there are any, else ours. */
  message: string | null;
  /** The relay said that it had the event already. */
  duplicate: boolean;
  /** A rejection that time does not change: Resume leaves it, a retry on demand does not. */
  lasting: boolean;
  /** How often it was sent. */
  attempts: number;
  sentAt: number | null;
  verifiedAt: number | null;
}

/** One thing that was done for a delivery, and what came of it. */
export interface DeliveryStep {
  type: 'send' | 'read-back' | 'withdraw';
  at: number;
  completedAt: number | null;
  /** `unanswered`: no OK came; `interrupted`: it broke off; `inconclusive`: the answer does not tell. */
  outcome:
    | 'accepted'
    | 'duplicate'
    | 'rejected'
    | 'unanswered'
    | 'interrupted'
    | 'found'
    | 'not-found'
    | 'inconclusive'
    | 'withdrawn'
    | null;
  message: string | null;
  /** The recorded query of a read-back. */
  query: number | null;
}

/** A delivery, and the sync that it belongs to. */
export interface EventDelivery extends Delivery {
  run: number;
}

export interface DeliveryHistory extends EventDelivery {
  steps: DeliveryStep[];
}

/** How a sync stands, by state, by reason, and by relay. */
export interface SyncReport {
  run: number;
  account: string;
  status: RunStatus;
  startedAt: number;
  finishedAt: number | null;
  /** It was gone on with, or looked at again, after it had ended: from its start to its end is not the time it took. */
  resumed: boolean;
  /** What the run was narrowed to when it was begun. */
  narrowing: Narrowing;
  totals: DeliveryTotals;
  reasons: { state: DeliveryState; reason: DeliveryReason; count: number }[];
  relays: { url: string; totals: DeliveryTotals }[];
  resumable: boolean;
  /** Refused for a lasting reason: sent again on demand only. */
  refused: number;
  /** Null when its verified copies were never looked for again. */
  reverification: Reverification | null;
}

export interface DeliveryPage {
  /** How many deliveries match in all. */
  total: number;
  deliveries: Delivery[];
}
