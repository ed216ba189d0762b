import { hash } from 'node:crypto';

/** Bytes of a fingerprint. */
export const FINGERPRINT_SIZE = 16;

/** Limbs of 32 bits in an ID, read as a little-endian number. */
export const LIMBS = 8;

if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new Error('Holdfast needs a little-endian processor.');
}

const LIMB = 2 ** 32;

/** Items from one running sum to the next: few enough to add up at once, many enough to keep the sums small. */
const STRIDE = 8;

/** What is hashed: the sum of the IDs and, after it, their count as a varint of at most five digits. */
const hashedLimbs = new Uint32Array(LIMBS + 2);
const hashed = new Uint8Array(hashedLimbs.buffer);
const hashedOfCountDigits = [1, 2, 3, 4, 5].map((digits) => hashed.subarray(0, LIMBS * 4 + digits));

/**
 * The fingerprints of packed IDs. Running sums modulo 2^256 are kept for every eighth item, so that the sum of any range
 * is two short additions and a subtraction, limb by limb with a carry. Doubles hold these sums exactly.
 */
export class Fingerprints {
  readonly #ids: Uint32Array;
  readonly #sums: Uint32Array;

  /** Keeps `ids`: 8 limbs an ID, little-endian, of at least `count` IDs. */
  constructor(ids: Uint32Array, count: number) {
    const steps = Math.floor(count / STRIDE);
    const sums = new Uint32Array((steps + 1) * LIMBS);
    for (let step = 0; step < steps; step += 1) {
      let carry = 0;
      for (let limb = 0; limb < LIMBS; limb += 1) {
        const known = sums[step * LIMBS + limb] as number;
        const value = known + carry + columnSum(ids, limb, step * STRIDE, (step + 1) * STRIDE);
        // An unsigned limb keeps what is left of a number modulo 2^32.
        sums[(step + 1) * LIMBS + limb] = value;
        carry = Math.floor(value / LIMB);
      }
    }
    this.#ids = ids;
    this.#sums = sums;
  }

  /**
   * The fingerprint of the items `from … to - 1`: the first 16 bytes of the SHA-256 of their IDs' sum and their count as a
   * varint. Returned as a string of one character a byte, of which the first 16 count: that is the form in which
   * the platform hashes short inputs fastest.
   */
  of(from: number, to: number): string {
    const ids = this.#ids;
    const fromStep = Math.floor(from / STRIDE);
    const toStep = Math.floor(to / STRIDE);
    let carry = 0;
    for (let limb = 0; limb < LIMBS; limb += 1) {
      const upper = (this.#sums[toStep * LIMBS + limb] as number) + columnSum(ids, limb, toStep * STRIDE, to);
      const lower = (this.#sums[fromStep * LIMBS + limb] as number) + columnSum(ids, limb, fromStep * STRIDE, from);
      const value = upper - lower + carry;
      hashedLimbs[limb] = value;
      carry = Math.floor(value / LIMB);
    }
    return hash('sha256', hashedOfCountDigits[writeCount(to - from) - 1] ?? hashed, 'binary');
  }
}

/** The sum of one limb of the IDs `from … to - 1`, not carried over. */
function columnSum(ids: Uint32Array, limb: number, from: number, to: number): number {
  let total = 0;
  for (let at = from * LIMBS + limb; at < to * LIMBS; at += LIMBS) total += ids[at] as number;
  return total;
}

/** Writes a count after the sum, as a varint; returns its digits. */
function writeCount(count: number): number {
  let digits = 1;
  while (digits < 5 && count >= 128 ** digits) digits += 1;
  let rest = count;
  for (let digit = digits - 1; digit >= 0; digit -= 1) {
    hashed[LIMBS * 4 + digit] = (rest % 128) | (digit === digits - 1 ? 0 : 0x80);
    rest = Math.floor(rest / 128);
  }
  return digits;
}
