import type { DeliveryReason, DeliveryState } from '../../preload/contract.ts';
import { formatSecond } from '../platform/format-second.ts';

/** What is known about a delivery when a relay, asked for the event, did not return it. */
export interface UnseenDelivery {
  state: DeliveryState;
  /** An OK came for the latest sending. */
  answered: boolean;
  /** It was verified at some time, Unix milliseconds. */
  verifiedAtMs: number | null;
  /** Conclusive looks that did not return it, this one included. */
  looks: number;
  /** It was sent before the run was interrupted, and how that went is not known any more. */
  fromBefore: boolean;
  /** The connection ended when it had been sent: how often while nothing else was on its way, and the words of the latest end. */
  cutOff: { alone: number; message: string } | null;
}

/** `look-again`: after a pause. `send-again`: nobody confirmed it, and the relay does not have it. */
export type LookVerdict =
  | { type: 'look-again' }
  | { type: 'keep' }
  | { type: 'send-again'; alone: boolean }
  | { type: 'unverified'; reason: DeliveryReason; message: string }
  | { type: 'rejected'; reason: DeliveryReason; message: string };

/** How many conclusive looks it takes to say that a relay does not return an event. */
const LOOKS = 2;
/** An event that ends the connection this often, sent by itself, is what the relay objects to. */
const CONNECTIONS_ENDED = 2;

/**
 * What follows from a conclusive look that did not return an event. An event that was confirmed by an OK, or verified
 * at any time, is never sent again within its run: a relay that says yes and does not return it would be sent it for ever.
 */
export function judgeUnseen(delivery: UnseenDelivery): LookVerdict {
  const { state, answered, verifiedAtMs, looks, cutOff } = delivery;
  if (!answered && verifiedAtMs === null) {
    if (cutOff !== null && cutOff.alone >= CONNECTIONS_ENDED)
      return { type: 'rejected', ...refusalByClosing(cutOff.message) };
    if (cutOff !== null) return { type: 'send-again', alone: true };
    if (delivery.fromBefore) return { type: 'send-again', alone: false };
  }
  if (state === 'unverified') return { type: 'keep' };
  if (looks < LOOKS) return { type: 'look-again' };
  if (verifiedAtMs !== null) {
    return {
      type: 'unverified',
      reason: 'not-returned',
      message: `It was returned at ${formatSecond(Math.floor(verifiedAtMs / 1000))}, and is not returned any more.`,
    };
  }
  return answered
    ? {
        type: 'unverified',
        reason: 'not-returned',
        message: 'The relay said that it took the event, and does not return it.',
      }
    : {
        type: 'unverified',
        reason: 'no-answer',
        message: 'The relay did not say whether it took the event, and does not return it.',
      };
}

function refusalByClosing(words: string): { reason: DeliveryReason; message: string } {
  const reason = /\b1009\b|too (large|big|long)|\bsize\b/i.test(words) ? 'too-large' : 'other';
  return { reason, message: `The connection ended each time this event was sent. ${words}` };
}
