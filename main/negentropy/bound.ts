import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { NegentropyError } from './negentropy-error.ts';
import { MAX_UINT64, readVarint, toUint64, writeVarint } from './varint.ts';
import type { Uint64 } from './varint.ts';

/** Bytes of an event ID. */
export const ID_SIZE = 32;

export const NO_PREFIX = new Uint8Array(0);

/**
 * A point between items, in the order of the protocol: by timestamp, then by ID. `timestamp` is seconds, or the number
 * `Infinity` after every item; `prefix` is the start of an ID whose missing bytes are zero.
 */
export interface Bound {
  readonly timestamp: Uint64;
  readonly prefix: Uint8Array;
}

export const FIRST_BOUND: Bound = { timestamp: 0, prefix: NO_PREFIX };
export const INFINITE_BOUND: Bound = { timestamp: Infinity, prefix: NO_PREFIX };

/** Negative, zero or positive as `a` lies before, at or after `b`. All infinite bounds are equal. */
export function compareBounds(a: Bound, b: Bound): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1;
  if (a.timestamp === Infinity) return 0;
  const length = Math.max(a.prefix.length, b.prefix.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a.prefix[i] ?? 0) - (b.prefix[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The shortest prefix of the later of two IDs that differ which the earlier one does not share. */
export function separatingPrefix(earlier: Uint8Array, later: Uint8Array): Uint8Array {
  let shared = 0;
  while (shared < ID_SIZE - 1 && earlier[shared] === later[shared]) shared += 1;
  return later.subarray(0, shared + 1);
}

/** The most bytes that one encoded bound takes. */
export const MAX_BOUND_SIZE = 10 + 1 + ID_SIZE;

/**
 * Writes a bound: 0 for infinity, otherwise 1 + the distance from the timestamp written before it in the same message
 * (0 at its start), then the prefix with its length. Returns the timestamp to pass with the next bound.
 */
export function writeBound(writer: ByteWriter, bound: Bound, previous: Uint64): Uint64 {
  if (bound.timestamp === Infinity) {
    writer.writeByte(0);
  } else if (typeof bound.timestamp === 'number' && typeof previous === 'number') {
    writeVarint(writer, bound.timestamp - previous + 1);
  } else {
    writeVarint(writer, toUint64(BigInt(bound.timestamp) - BigInt(previous) + 1n));
  }
  writer.writeByte(bound.prefix.length);
  writer.write(bound.prefix);
  return bound.timestamp;
}

/**
 * Reads a bound that must not lie before `previous`, the bound before it in the same message. Throws `truncated`,
 * `bad-varint`, `bad-bound` or `bounds-backwards`. The bound does not keep the message alive.
 */
export function readBound(reader: ByteReader, previous: Bound): Bound {
  const encoded = readVarint(reader);
  const timestamp = encoded === 0 ? Infinity : addDistance(previous.timestamp, encoded);
  const length = readVarint(reader);
  if (length > ID_SIZE) throw new NegentropyError('bad-bound', 'A bound has an ID prefix longer than an ID.');
  const start = reader.skip(Number(length));
  if (timestamp === Infinity) return INFINITE_BOUND;
  const prefix = length === 0 ? NO_PREFIX : reader.bytes.slice(start, start + Number(length));
  const bound = { timestamp, prefix };
  if (timestamp === previous.timestamp && compareBounds(bound, previous) < 0) {
    throw new NegentropyError('bounds-backwards', 'A range ends before it begins.');
  }
  return bound;
}

function addDistance(previous: Uint64, encoded: Uint64): Uint64 {
  if (previous === Infinity) throw new NegentropyError('bounds-backwards', 'A range follows the end of time.');
  if (typeof previous === 'number' && typeof encoded === 'number') {
    const sum = previous + (encoded - 1);
    if (sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  const sum = BigInt(previous) + BigInt(encoded) - 1n;
  // The largest 64-bit value stands for infinity and is not a timestamp.
  if (sum >= MAX_UINT64) throw new NegentropyError('bad-bound', 'A bound has a timestamp larger than 64 bits.');
  return toUint64(sum);
}
