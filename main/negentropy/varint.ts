import { NegentropyError } from './negentropy-error.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/**
 * An unsigned 64-bit integer in one canonical form: a number up to 2^53 - 1, a bigint above. Because the form is
 * canonical `===` compares values, and JavaScript compares a number with a bigint exactly.
 */
export type Uint64 = number | bigint;

export const MAX_UINT64 = 2n ** 64n - 1n;

/** 64 bits in digits of 7. */
const MAX_DIGITS = 10;
/** So many digits always fit in a double without rounding. */
const SAFE_DIGITS = 7;

/** The canonical form of a bigint between 0 and 2^64 - 1. */
export function toUint64(value: bigint): Uint64 {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/**
 * Reads a NIP-77 varint: base-128 digits, most significant first, the high bit set on all but the last.
 * Throws `truncated`, or `bad-varint` when it exceeds 64 bits or starts with a zero digit (the protocol asks for as few
 * digits as possible; a longer form would let one message have many spellings).
 */
export function readVarint(reader: ByteReader): Uint64 {
  let byte = reader.readByte();
  if (byte < 0x80) return byte;
  if (byte === 0x80) throw new NegentropyError('bad-varint', 'A number in the message starts with a zero digit.');
  let value = byte & 0x7f;
  for (let digits = 2; digits <= SAFE_DIGITS; digits += 1) {
    byte = reader.readByte();
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  let wide = BigInt(value);
  for (let digits = SAFE_DIGITS + 1; digits <= MAX_DIGITS; digits += 1) {
    byte = reader.readByte();
    wide = (wide << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) {
      if (wide > MAX_UINT64) break;
      return toUint64(wide);
    }
  }
  throw new NegentropyError('bad-varint', 'A number in the message is larger than 64 bits.');
}

/** Writes `value` in the fewest digits. */
export function writeVarint(writer: ByteWriter, value: Uint64): void {
  if (value < 0x80) {
    writer.writeByte(Number(value));
    return;
  }
  if (typeof value === 'bigint') {
    let shift = 7n;
    while (value >> shift > 0n) shift += 7n;
    for (shift -= 7n; shift > 0n; shift -= 7n) writer.writeByte(Number((value >> shift) & 0x7fn) | 0x80);
    writer.writeByte(Number(value & 0x7fn));
    return;
  }
  let unit = 128;
  while (value >= unit * 128) unit *= 128;
  for (; unit > 1; unit /= 128) writer.writeByte((Math.floor(value / unit) % 128) | 0x80);
  writer.writeByte(value % 128);
}
