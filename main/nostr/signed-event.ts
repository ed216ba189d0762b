import type { SignedEvent } from '../../preload/contract.ts';

const HEX_64 = /^[0-9a-f]{64}$/;
const HEX_128 = /^[0-9a-f]{128}$/;

/**
 * Reads a foreign value as a NIP-01 event: fields of the right type and length, nothing more. ID and signature are not
 * checked, and a `created_at` may be any whole number: judging it is the reader's business (design §3.7).
 *
 * @returns the event with exactly its seven fields, or null when the value does not have the shape.
 */
export function readSignedEvent(value: unknown): SignedEvent | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, pubkey, created_at, kind, tags, content, sig } = value as Record<string, unknown>;
  if (typeof id !== 'string' || !HEX_64.test(id)) return null;
  if (typeof pubkey !== 'string' || !HEX_64.test(pubkey)) return null;
  if (typeof sig !== 'string' || !HEX_128.test(sig)) return null;
  if (typeof created_at !== 'number' || !Number.isSafeInteger(created_at)) return null;
  if (typeof kind !== 'number' || !Number.isInteger(kind) || kind < 0 || kind > 65535) return null;
  if (typeof content !== 'string' || !isTagList(tags)) return null;
  return { id, pubkey, created_at, kind, tags, content, sig };
}

function isTagList(value: unknown): value is string[][] {
  if (!Array.isArray(value)) return false;
  for (const tag of value as unknown[]) {
    if (!Array.isArray(tag)) return false;
    for (const part of tag as unknown[]) if (typeof part !== 'string') return false;
  }
  return true;
}
