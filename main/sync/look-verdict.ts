import type { DeliveryReason, DeliveryState } from '../../preload/contract.ts';
import { formatSecond } from '../platform/format-second.ts';
import type { Refusal } from './publication-verdict.ts';

/** Sendings of a delivery that a connection did not survive, one after the other. */
export interface CutOff {
  times: number;
  /** Of those, how often the relay closed it itself, for no reason that passes, while nothing else was on its way. */
  closings: number;
  /** How the connection ended the last time. */
  message: string;
}

/** What is known of a delivery, beyond what is recorded, while a run goes on. */
export interface Circumstances {
  /** It was sent before the run was interrupted, and how that went is not known any more. */
  fromBefore: boolean;
  cutOff: CutOff | null;
  /** What the relay said that seems to refuse the event, without an OK that was waited for and says so. */
  doubt: Refusal | null;
  /** An OK came for it after all, when it was not waited for any more. */
  answeredLate: boolean;
  /** The relay took another event meanwhile. */
  tookOthers: boolean;
}

/** Of what this launch has not sent, nothing is known. */
export const NOTHING_KNOWN: Circumstances = {
  fromBefore: false,
  cutOff: null,
  doubt: null,
  answeredLate: false,
  tookOthers: false,
};

/** What is known about a delivery when a relay, asked for the event, did not return it. */
export interface UnseenDelivery extends Circumstances {
  state: DeliveryState;
  /** An OK came for the latest sending. */
  answered: boolean;
  /** It was verified at some time, Unix milliseconds. */
  verifiedAtMs: number | null;
  /** Conclusive looks that did not return it, this one included. */
  looks: number;
}

/** `look-again`: after a pause. `send-again`: nobody confirmed it, and the relay does not have it. */
export type LookVerdict =
  | { type: 'look-again' }
  | { type: 'keep' }
  | { type: 'send-again'; alone: boolean }
  | { type: 'unverified'; reason: DeliveryReason; message: string }
  | ({ type: 'rejected' } & Refusal);

/** What is said of an event that the relay said yes to, and does not return. */
export const TAKEN_AND_NOT_RETURNED = 'The relay said that it took the event, and does not return it.';

/** How many conclusive looks it takes to say that a relay does not return an event. */
const LOOKS = 2;
/** An event over which the relay closes the connection this often, sent by itself, is what it objects to. */
const CLOSINGS = 2;
/** Connections that may be lost over an event, through whatever fault, before it is left alone until the run is gone on with. */
const CUT_OFF = 4;

/**
 * What follows from a conclusive look that did not return an event. An event that was confirmed by an OK, or verified
 * at any time, is never sent again within its run: a relay that says yes and does not return it would be sent it for ever.
 */
export function judgeUnseen(delivery: UnseenDelivery): LookVerdict {
  const { state, verifiedAtMs, looks, cutOff, doubt } = delivery;
  const answered = delivery.answered || delivery.answeredLate;
  if (!answered && verifiedAtMs === null) {
    if (doubt !== null) return looks < LOOKS ? { type: 'look-again' } : { ...doubt, type: 'rejected' };
    if (cutOff !== null && cutOff.closings >= CLOSINGS) {
      return { ...refusalByClosing(cutOff.message, delivery.tookOthers), type: 'rejected' };
    }
    if (cutOff !== null && cutOff.times < CUT_OFF) return { type: 'send-again', alone: true };
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
        message: TAKEN_AND_NOT_RETURNED,
      }
    : {
        type: 'unverified',
        reason: 'no-answer',
        message:
          cutOff === null
            ? 'The relay did not say whether it took the event, and does not return it.'
            : `The connection ended each time this event was sent, and the relay does not return it. ${cutOff.message}`,
      };
}

/** A relay that takes nothing at all closes the connection over any event: that says little about this one. */
function refusalByClosing(words: string, tookOthers: boolean): Refusal {
  const isTooLarge = /\b1009\b|too (large|big|long)|\bsize\b/i.test(words);
  return {
    reason: isTooLarge ? 'too-large' : 'other',
    lasting: isTooLarge || tookOthers,
    message: `The connection ended each time this event was sent. ${words}`,
  };
}
