import type { SignedEvent } from '../../preload/contract.ts';

const HEX_64 = /^[0-9a-f]{64}$/;
const HEX_128 = /^[0-9a-f]{128}$/;
const LARGEST_KIND = 65_535;

/**
 * Reads a foreign value as a NIP-01 event: fields of the right type and length, nothing more. ID and signature are not
 * checked, and a `created_at` may be any whole number: judging it is the reader's business (design §3.7).
 *
 * @returns the event with exactly its seven fields, or words that say what is wrong with the value.
 */
export function readSignedEvent(value: unknown): SignedEvent | string {
  if (!isRecord(value)) {
    return 'the event is not an object';
  }
  const { id, pubkey, created_at, kind, tags, content, sig }: Partial<Record<keyof SignedEvent, unknown>> = value;
  if (typeof id !== 'string' || !HEX_64.test(id)) {
    return 'id is not 64 lower-case hex characters';
  }
  if (typeof pubkey !== 'string' || !HEX_64.test(pubkey)) {
    return 'pubkey is not 64 lower-case hex characters';
  }
  if (typeof sig !== 'string' || !HEX_128.test(sig)) {
    return 'sig is not 128 lower-case hex characters';
  }
  if (typeof created_at !== 'number' || !Number.isSafeInteger(created_at)) {
    return 'created_at is not a whole number';
  }
  if (typeof kind !== 'number' || !Number.isInteger(kind) || kind < 0 || kind > LARGEST_KIND) {
    return `kind is not a whole number from 0 to ${LARGEST_KIND}`;
  }
  if (typeof content !== 'string') {
    return 'content is not a text';
  }
  if (!isTagList(tags)) {
    return 'tags is not a list of lists of texts';
  }
  return { id, pubkey, created_at, kind, tags, content, sig };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTagList(value: unknown): value is string[][] {
  return (
    Array.isArray(value) &&
    value.every((tag: unknown) => Array.isArray(tag) && tag.every((item: unknown) => typeof item === 'string'))
  );
}
