import type { Bound } from './bound.ts';
import { FIRST_BOUND, ID_SIZE, INFINITE_BOUND, readBound } from './bound.ts';
import { ByteReader } from './byte-reader.ts';
import { FINGERPRINT_SIZE } from './fingerprint.ts';
import { NegentropyError } from './negentropy-error.ts';
import { MODE_FINGERPRINT, MODE_ID_LIST, MODE_SKIP } from './protocol.ts';
import { readVarint } from './varint.ts';

/**
 * One range of a message: from `lower` (inclusive) to `upper` (exclusive). Its payload lies in the message from `start` on: 16 bytes
 * of fingerprint, or `ids` IDs of 32 bytes.
 */
export interface ReceivedRange {
  readonly lower: Bound;
  readonly upper: Bound;
  readonly mode: 'skip' | 'fingerprint' | 'ids';
  readonly start: number;
  readonly ids: number;
}

/** The version byte of a message. Throws `empty-message`, or `bad-version` when it is not a protocol version at all. */
export function versionOf(message: Uint8Array): number {
  const version = message[0];
  if (version === undefined) throw new NegentropyError('empty-message', 'The message is empty.');
  if (version < 0x60 || version > 0x6f) {
    throw new NegentropyError('bad-version', 'The message does not start with a protocol version.');
  }
  return version;
}

/**
 * The ranges of a version 1 message, in order and without gaps; where it stops before infinity, the skip that the protocol
 * implies is added. Nothing is allocated for a length that the message only claims. Throws, at the range that is
 * wrong, any code that is said of a message.
 */
export function* receivedRanges(message: Uint8Array): Generator<ReceivedRange, void, undefined> {
  const reader = new ByteReader(message);
  reader.skip(1);
  let lower = FIRST_BOUND;
  while (reader.remaining > 0) {
    const upper = readBound(reader, lower);
    const mode = readVarint(reader);
    if (mode === MODE_SKIP) {
      yield { lower, upper, mode: 'skip', start: 0, ids: 0 };
    } else if (mode === MODE_FINGERPRINT) {
      yield { lower, upper, mode: 'fingerprint', start: reader.skip(FINGERPRINT_SIZE), ids: 0 };
    } else if (mode === MODE_ID_LIST) {
      const count = readVarint(reader);
      if (count > reader.remaining / ID_SIZE) {
        throw new NegentropyError('truncated', 'The message announces more IDs than it holds.');
      }
      const ids = Number(count);
      yield { lower, upper, mode: 'ids', start: reader.skip(ids * ID_SIZE), ids };
    } else {
      throw new NegentropyError('bad-mode', 'A range has an unknown mode.');
    }
    lower = upper;
  }
  if (lower !== INFINITE_BOUND) yield { lower, upper: INFINITE_BOUND, mode: 'skip', start: 0, ids: 0 };
}

/** The IDs of a range, as a view of the message it came in. */
export function listOf(message: Uint8Array, { start, ids }: ReceivedRange): Uint8Array {
  return message.subarray(start, start + ids * ID_SIZE);
}
