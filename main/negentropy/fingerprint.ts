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

/** Limbs that the running sums of `count` IDs take. */
export function sumsLength(count: number): number {
  return (Math.floor(count / STRIDE) + 1) * LIMBS;
}

/**
 * The fingerprints of packed IDs. Running sums modulo 2^256 are kept for every eighth item, so that the sum of any range
 * is two short additions and a subtraction, limb by limb with a carry. Doubles hold these sums exactly.
 */
export class Fingerprints {
  readonly #ids: Uint32Array;
  readonly #sums: Uint32Array;
  /** The sum of the first `#reached` IDs: ranges are mostly asked about in order, each from where the last one ended. */
  #upper = new Float64Array(LIMBS);
  #lower = new Float64Array(LIMBS);
  #reached = 0;

  /** Keeps `ids`: 8 limbs an ID, little-endian, of at least `count` IDs; and `sums`, at least as long as they ask for. */
  constructor(ids: Uint32Array, count: number, sums: Uint32Array) {
    sums.fill(0, 0, LIMBS);
    const last = sumsLength(count) - LIMBS;
    for (let at = 0; at < last; at += LIMBS) writeNextSum(ids, sums, at);
    this.#ids = ids;
    this.#sums = sums;
  }

  /**
   * The fingerprint of the items `from … to - 1`: the first 16 bytes of the SHA-256 of their IDs' sum and their count as a
   * varint. Returned as a string of one character a byte, of which the first 16 count: that is the form in which
   * the platform hashes short inputs fastest.
   */
  of(from: number, to: number): string {
    if (from !== this.#reached) this.#sumUpTo(from, this.#upper);
    const lower = this.#upper;
    const upper = this.#lower;
    this.#sumUpTo(to, upper);
    let carry = 0;
    for (let limb = 0; limb < LIMBS; limb += 1) {
      const value = (upper[limb] as number) - (lower[limb] as number) + carry;
      hashedLimbs[limb] = value;
      carry = Math.floor(value / LIMB);
    }
    this.#lower = lower;
    this.#upper = upper;
    this.#reached = to;
    return hash('sha256', hashedOfCountDigits[writeCount(to - from) - 1] ?? hashed, 'binary');
  }

  /** Writes the sum of the first `count` IDs modulo 2^256, its limbs not carried over. */
  #sumUpTo(count: number, sum: Float64Array): void {
    const ids = this.#ids;
    const step = Math.floor(count / STRIDE);
    for (let limb = 0; limb < LIMBS; limb += 1) {
      let total = this.#sums[step * LIMBS + limb] as number;
      for (let at = step * STRIDE * LIMBS + limb; at < count * LIMBS; at += LIMBS) total += ids[at] as number;
      sum[limb] = total;
    }
  }
}

/**
 * Writes the running sum after the one at `at`. A function of its own, with the additions written out in pairs that do not
 * wait for one another: as one loop over everything it took nearly twice as long, and in some processes a quarter more still.
 */
function writeNextSum(ids: Uint32Array, sums: Uint32Array, at: number): void {
  let carry = 0;
  for (let limb = at; limb < at + LIMBS; limb += 1) {
    const id = limb + at * (STRIDE - 1);
    const first = (ids[id] as number) + (ids[id + LIMBS] as number);
    const second = (ids[id + 2 * LIMBS] as number) + (ids[id + 3 * LIMBS] as number);
    const third = (ids[id + 4 * LIMBS] as number) + (ids[id + 5 * LIMBS] as number);
    const fourth = (ids[id + 6 * LIMBS] as number) + (ids[id + 7 * LIMBS] as number);
    const value = (sums[limb] as number) + carry + (first + second + (third + fourth));
    // An unsigned limb keeps what is left of a number modulo 2^32.
    sums[limb + LIMBS] = value;
    carry = Math.trunc(value / LIMB);
  }
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
