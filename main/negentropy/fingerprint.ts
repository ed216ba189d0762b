import { hash } from 'node:crypto';

/** Bytes of a fingerprint. */
export const FINGERPRINT_SIZE = 16;

/** Limbs of 32 bits in an ID, read as a little-endian number. */
export const LIMBS = 8;

if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new Error('Holdfast needs a little-endian processor.');
}

/** The sum of the IDs and, after it, their count as a varint of at most five digits: what is hashed. */
const sum = new Uint32Array(LIMBS + 2);
const input = new Uint8Array(sum.buffer);
const inputOfCountDigits = [1, 2, 3, 4, 5].map((digits) => input.subarray(0, LIMBS * 4 + digits));

/**
 * The running sums of packed IDs modulo 2^256: entry k is the sum of the first k, so that the sum of any range is one
 * subtraction. `ids` holds 8 limbs an ID.
 */
export function prefixSums(ids: Uint32Array, count: number): Uint32Array {
  const sums = new Uint32Array((count + 1) * LIMBS);
  // Signed views keep the arithmetic in 32-bit integers; the bits are the same.
  const from = new Int32Array(ids.buffer, ids.byteOffset, count * LIMBS);
  const to = new Int32Array(sums.buffer);
  for (let at = 0; at < from.length; at += LIMBS) {
    let carry = 0;
    for (let limb = at; limb < at + LIMBS; limb += 1) {
      const a = to[limb] as number;
      const b = from[limb] as number;
      const total = (a + b + carry) | 0;
      to[limb + LIMBS] = total;
      // The top bit was carried out if both had it, or one had it and the total has lost it.
      carry = ((a & b) | ((a | b) & ~total)) >>> 31;
    }
  }
  return sums;
}

/**
 * The fingerprint of the items `from … to - 1`: the first 16 bytes of the SHA-256 of their IDs' sum, little-endian, and
 * their count as a varint. Returned as a string of one character a byte, of which the first 16 count: that is
 * the form in which the platform hashes short inputs fastest.
 */
export function fingerprint(sums: Uint32Array, from: number, to: number): string {
  let borrow = 0;
  for (let limb = 0; limb < LIMBS; limb += 1) {
    const difference = (sums[to * LIMBS + limb] as number) - (sums[from * LIMBS + limb] as number) - borrow;
    sum[limb] = difference;
    borrow = difference < 0 ? 1 : 0;
  }
  const count = to - from;
  let digits = 1;
  while (digits < 5 && count >= 128 ** digits) digits += 1;
  let rest = count;
  for (let digit = digits - 1; digit >= 0; digit -= 1) {
    input[LIMBS * 4 + digit] = (rest % 128) | (digit === digits - 1 ? 0 : 0x80);
    rest = Math.floor(rest / 128);
  }
  return hash('sha256', inputOfCountDigits[digits - 1] ?? input, 'binary');
}
