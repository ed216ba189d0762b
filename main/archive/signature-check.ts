import { hexToBytes } from 'nostr-tools/utils';
import { schnorr } from '@noble/curves/secp256k1.js';
import { initNostrWasm } from 'nostr-wasm';
import { setNostrWasm, verifyEvent as verifyWithWasm } from 'nostr-tools/wasm';
import type { SignedEvent } from '../../preload/contract.ts';
import { computeEventId, computeVerbatimEventId } from '../nostr/event-id.ts';
import type { EventVerdict } from './event-verdict.ts';

/** Checks one event whose shape is right: its ID against its text, its signature against its ID (NIP-01). */
export type SignatureCheck = (event: SignedEvent) => EventVerdict;

/**
 * The fast check, through libsecp256k1 in WebAssembly; where that cannot be loaded, the pure one, several times slower.
 */
export async function loadSignatureCheck(): Promise<SignatureCheck> {
  try {
    setNostrWasm(await initNostrWasm());
    return checkWithWasm;
  } catch {
    return checkPure;
  }
}

/**
 * The module copies an event's whole text into a fixed memory of about a million bytes and fails when it does not fit.
 * A character takes at most six bytes there.
 */
const LARGEST_TEXT_FOR_WASM = 100_000;

const checkWithWasm: SignatureCheck = (event) => {
  if (textLength(event) > LARGEST_TEXT_FOR_WASM) return checkPure(event);
  if (computeEventId(event) !== event.id) return checkVerbatim(event);
  return verifyWithWasm(event) ? 'valid' : 'bad-signature';
};

/** The check without WebAssembly. */
export const checkPure: SignatureCheck = (event) => {
  if (computeEventId(event) !== event.id) return checkVerbatim(event);
  return isSigned(event) ? 'valid' : 'bad-signature';
};

/** Text with rare control characters has two readings of NIP-01 in use; the signer's one is the right one. */
function checkVerbatim(event: SignedEvent): EventVerdict {
  if (computeVerbatimEventId(event) !== event.id) return 'wrong-id';
  return isSigned(event) ? 'valid' : 'bad-signature';
}

/** Characters of an event's text, with what separates them when it is serialised. */
function textLength(event: SignedEvent): number {
  let length = event.content.length;
  for (const tag of event.tags) {
    length += 3;
    for (const part of tag) length += part.length + 3;
  }
  return length;
}

function isSigned(event: SignedEvent): boolean {
  try {
    return schnorr.verify(hexToBytes(event.sig), hexToBytes(event.id), hexToBytes(event.pubkey));
  } catch {
    return false;
  }
}
