import type { SignedEvent } from '../../preload/contract.ts';
import { loadSignatureCheck } from '../archive/signature-check.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';

/** Decides whether a relay takes what a client published. */
export interface EventCheck {
  /** The event, or what is wrong with it, with the machine-readable prefix of NIP-01. */
  read(value: unknown): SignedEvent | string;
}

/** A check of shape, ID and signature, as NIP-01 asks of a relay. */
export async function createEventCheck(): Promise<EventCheck> {
  const check = await loadSignatureCheck();
  return {
    read(value) {
      const event = readSignedEvent(value);
      if (typeof event === 'string') return `invalid: ${event}`;
      return check({ ...event }) === 'valid' ? event : 'invalid: the ID or the signature does not fit the event';
    },
  };
}
