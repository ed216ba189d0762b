import { decode } from 'nostr-tools/nip19';
import { Fault } from '../platform/fault.ts';

/**
 * Reads an event's ID as a person has it: 64 hex characters, note or nevent (NIP-19), also with a `nostr:` prefix.
 *
 * @returns 64 hex characters.
 * @throws Fault `invalid-argument`.
 */
export function readEventReference(text: string): string {
  const trimmed = text
    .trim()
    .replace(/^nostr:/i, '')
    .toLowerCase();
  if (/^[0-9a-f]{64}$/.test(trimmed)) return trimmed;
  if (/^(note|nevent)1/.test(trimmed)) {
    try {
      const decoded = decode(trimmed);
      if (decoded.type === 'note') return decoded.data;
      if (decoded.type === 'nevent') return decoded.data.id;
    } catch {
      throw new Fault('invalid-argument', 'This is not a valid note or nevent: it was mistyped or cut off.');
    }
  }
  throw new Fault('invalid-argument', 'An event ID is 64 hex characters, a note1… or a nevent1….');
}
