import type { DeliveryReason } from '../../preload/contract.ts';
import type { PublishResult, RelayReason } from '../relays/relay-query.ts';
import { meaningOf } from '../relays/relay-reason.ts';

/** What one sending comes to. `later`: the relay refused, and the same may be taken another time. */
export type PublicationVerdict =
  | { type: 'accepted'; duplicate: boolean; message: string | null }
  | { type: 'rejected'; reason: DeliveryReason; lasting: boolean; message: string }
  | { type: 'later'; reason: DeliveryReason; message: string }
  | { type: 'unanswered'; cause: 'timeout' | 'disconnect' | 'cancelled'; message: string }
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
      return { type: 'unanswered', cause: outcome.cause, message: outcome.message };
    case 'rejected': {
      const reason = reasonOf(outcome.reason);
      const message = outcome.reason.text.trim() || 'The relay refused the event and gave no reason.';
      if (outcome.lasting) return { type: 'rejected', reason, lasting: true, message };
      // Authentication is not something that time brings.
      if (reason === 'auth-required') return { type: 'rejected', reason, lasting: false, message };
      if (reason === 'rate-limited' || refusals + 1 < PASSING_REFUSALS) return { type: 'later', reason, message };
      return { type: 'rejected', reason, lasting: false, message };
    }
  }
}

/** The reason of a refusal: what the relay means where that is beyond doubt, else its prefix (NIP-01). */
export function reasonOf(reason: RelayReason): DeliveryReason {
  const meaning = meaningOf(reason);
  if (meaning === 'rate-limited' || meaning === 'auth-required') return meaning;
  if (meaning === 'frame-too-large') return 'too-large';
  // A relay that has the event did not refuse it: that outcome is an acceptance.
  return reason.prefix === null || reason.prefix === 'duplicate' ? 'other' : reason.prefix;
}
