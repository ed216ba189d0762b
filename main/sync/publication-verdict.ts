import type { DeliveryReason } from '../../preload/contract.ts';
import type { PublishOutcome, PublishResult, RelayReason } from '../relays/relay-query.ts';
import { meaningOf, saysItHasTheEvent } from '../relays/relay-reason.ts';

/** A relay's no to an event. `lasting`: it would say the same again. */
export interface Refusal {
  reason: DeliveryReason;
  lasting: boolean;
  message: string;
}

/**
 * What one sending comes to. `later`: the relay refused, and the same may be taken another time. `doubtful`: it seems to
 * refuse, but may have the event all the same, so reading back has the last word; `answered` when that was an OK.
 */
export type PublicationVerdict =
  | { type: 'accepted'; duplicate: boolean; message: string | null }
  | ({ type: 'rejected' } & Refusal)
  | { type: 'later'; reason: DeliveryReason; message: string }
  /** `closeCode`: with which the relay itself closed the connection; null when it did not. */
  | {
      type: 'unanswered';
      cause: 'timeout' | 'disconnect' | 'cancelled' | 'unclear';
      closeCode: number | null;
      message: string;
    }
  | ({ type: 'doubtful'; answered: boolean } & Refusal)
  | { type: 'not-sent'; cancelled: boolean; message: string };

/** How often a delivery is sent in one go when the relay refuses it for a reason that passes. */
export const PASSING_REFUSALS = 3;

/**
 * Judges what came of a sending.
 *
 * @param refusals how often the relay refused this delivery for a passing reason before, since the run was started or gone
 * on with. Rate limiting counts for nothing: it is not about the event, and the connection waits by itself.
 */
export function judgePublication(result: PublishResult, refusals: number): PublicationVerdict {
  if (!result.sent) {
    return { type: 'not-sent', cancelled: result.failure.code === 'cancelled', message: result.failure.message };
  }
  const { outcome } = result;
  switch (outcome.state) {
    case 'accepted':
      return { type: 'accepted', duplicate: outcome.duplicate, message: outcome.reason.text.trim() || null };
    case 'unknown':
      return {
        type: 'unanswered',
        cause: outcome.cause,
        closeCode: outcome.closeCode,
        message: outcome.message,
      };
    case 'rejected': {
      const { reason, lasting, message } = refusalOf(outcome);
      if (isDoubtful(outcome)) return { type: 'doubtful', answered: outcome.by === 'ok', reason, lasting, message };
      if (lasting) return { type: 'rejected', reason, lasting: true, message };
      // Authentication is not something that time brings.
      if (reason === 'auth-required') return { type: 'rejected', reason, lasting: false, message };
      if (reason === 'rate-limited' || refusals + 1 < PASSING_REFUSALS) return { type: 'later', reason, message };
      return { type: 'rejected', reason, lasting: false, message };
    }
  }
}

/** Whether the relay refused to be sent anything for now. */
export function isRateLimited(verdict: PublicationVerdict): boolean {
  return verdict.type === 'later' && verdict.reason === 'rate-limited';
}

/** A refusal in the words of a delivery. */
export function refusalOf({ reason, lasting }: Rejected): Refusal {
  const message = reason.text.trim() || 'The relay refused the event and gave no reason.';
  return { reason: reasonOf(reason), lasting, message };
}

type Rejected = Extract<PublishOutcome, { state: 'rejected' }>;

/**
 * Nothing but an OK names the event that it refuses, and a relay that says that it has the event already need not have
 * refused it. Words about speed and authentication are about neither.
 */
function isDoubtful({ reason, by }: Rejected): boolean {
  const meaning = meaningOf(reason);
  if (meaning === 'rate-limited' || meaning === 'auth-required') return false;
  return by !== 'ok' || saysItHasTheEvent(reason);
}

/** The reason of a refusal: what the relay means where that is beyond doubt, else its prefix (NIP-01). */
export function reasonOf(reason: RelayReason): DeliveryReason {
  const meaning = meaningOf(reason);
  if (meaning === 'rate-limited' || meaning === 'auth-required') return meaning;
  if (meaning === 'frame-too-large') return 'too-large';
  // A relay that has the event did not refuse it: that outcome is an acceptance.
  return reason.prefix === null || reason.prefix === 'duplicate' ? 'other' : reason.prefix;
}
