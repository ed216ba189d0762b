import type { Bound } from './bound.ts';
import { ID_SIZE, NO_PREFIX, separatingPrefix } from './bound.ts';
import { FINGERPRINT_SIZE, Fingerprints } from './fingerprint.ts';

/**
 * What one side knows of a scope: (created_at, ID) of every event, sorted by both, without repeats. Never changes. It is packed: 44
 * bytes an item, and the fingerprint of any range costs the same. Made by ItemSetBuilder.
 */
export class ItemSet {
  readonly size: number;
  readonly #timestamps: Float64Array;
  readonly #ids: Uint8Array;
  readonly #limbs: Int32Array;
  readonly #fingerprints: Fingerprints;

  /**
   * Keeps both arrays, whose first `size` items must be sorted and distinct: use ItemSetBuilder. `limbs` holds the IDs, 32
   * bytes each.
   */
  constructor(size: number, timestamps: Float64Array, limbs: Int32Array) {
    this.size = size;
    this.#timestamps = timestamps;
    this.#limbs = limbs;
    this.#ids = new Uint8Array(limbs.buffer, limbs.byteOffset, limbs.byteLength);
    this.#fingerprints = new Fingerprints(new Uint32Array(limbs.buffer, limbs.byteOffset, limbs.length), size);
  }

  /** The packed IDs as 8 limbs of 32 bits each; not to be written to. */
  get limbs(): Int32Array {
    return this.#limbs;
  }

  /** The `created_at` of one item, in seconds. */
  timestampAt(index: number): number {
    return this.#timestamps[index] as number;
  }

  /** The IDs of the items `from … to - 1`, as a view of 32 bytes each. */
  idBytes(from: number, to: number): Uint8Array {
    return this.#ids.subarray(from * ID_SIZE, to * ID_SIZE);
  }

  /** The fingerprint of the items `from … to - 1`: a string of one character a byte, of which the first 16 count. */
  fingerprint(from: number, to: number): string {
    return this.#fingerprints.of(from, to);
  }

  /** Whether the 16 bytes of `bytes` at `offset` are the fingerprint of the items `from … to - 1`. */
  hasFingerprint(from: number, to: number, bytes: Uint8Array, offset: number): boolean {
    const digest = this.fingerprint(from, to);
    for (let i = 0; i < FINGERPRINT_SIZE; i += 1) {
      if (digest.charCodeAt(i) !== bytes[offset + i]) return false;
    }
    return true;
  }

  /** The shortest bound after the item `index - 1` and not after `index`: timestamps that differ need no prefix. */
  boundBefore(index: number): Bound {
    const timestamp = this.timestampAt(index);
    if (timestamp !== this.timestampAt(index - 1)) return { timestamp, prefix: NO_PREFIX };
    return { timestamp, prefix: separatingPrefix(this.idBytes(index - 1, index), this.idBytes(index, index + 1)) };
  }

  /** The first index from `from` on whose item is not before `bound`; `size` when there is none. */
  lowerBound(bound: Bound, from: number): number {
    let low = from;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(middle, bound)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(index: number, bound: Bound): boolean {
    const timestamp = this.timestampAt(index);
    if (timestamp !== bound.timestamp) return timestamp < bound.timestamp;
    const start = index * ID_SIZE;
    for (let i = 0; i < bound.prefix.length; i += 1) {
      const difference = (this.#ids[start + i] as number) - (bound.prefix[i] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }
}
