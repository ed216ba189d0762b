import { initNostrWasm } from 'nostr-wasm';
import * as v from 'valibot';
import type { SignedEvent } from '../../preload/contract.ts';

const hexOf = (characters: number): RegExp => new RegExp(`^[0-9a-f]{${characters}}$`);

const signedEvent = v.object({
  id: v.pipe(v.string(), v.regex(hexOf(64))),
  pubkey: v.pipe(v.string(), v.regex(hexOf(64))),
  created_at: v.pipe(v.number(), v.safeInteger()),
  kind: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)),
  tags: v.array(v.array(v.string())),
  content: v.string(),
  sig: v.pipe(v.string(), v.regex(hexOf(128))),
});

/** Decides whether a relay takes what a client published. */
export interface EventCheck {
  /** The event, or what is wrong with it, with the machine-readable prefix of NIP-01. */
  read(value: unknown): SignedEvent | string;
}

/** A check of shape, ID and signature, as NIP-01 asks of a relay. */
export async function createEventCheck(): Promise<EventCheck> {
  const signatures = await initNostrWasm();
  return {
    read(value) {
      const parsed = v.safeParse(signedEvent, value);
      if (!parsed.success) {
        return `invalid: ${v.getDotPath(parsed.issues[0]) ?? 'event'} is not what an event has`;
      }
      try {
        signatures.verifyEvent(parsed.output);
      } catch {
        return 'invalid: the ID or the signature does not fit the event';
      }
      return parsed.output;
    },
  };
}
