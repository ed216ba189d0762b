import type { Bound } from './bound.ts';
import { ID_SIZE, NO_PREFIX, separatingPrefix } from './bound.ts';
import { FINGERPRINT_SIZE, Fingerprints } from './fingerprint.ts';
import type { ItemMemory } from './item-memory.ts';
import { giveBack } from './item-memory.ts';

/** The first step of a search by bound, about as many items as the shortest ranges have. */
const FIRST_STEP = 16;

/**
 * What one side knows of a scope: (created_at, ID) of every event, sorted by both, without repeats. Never changes. It is packed: 44
 * bytes an item, and the fingerprint of any range costs the same. Made by ItemSetBuilder.
 */
export class ItemSet {
  readonly size: number;
  readonly #memory: ItemMemory;
  readonly #timestamps: Float64Array;
  readonly #limbs: Int32Array;
  readonly #ids: Uint8Array;
  readonly #fingerprints: Fingerprints;
  #released = false;

  /** Keeps `memory`, whose first `size` items must be sorted and distinct: use ItemSetBuilder. */
  constructor(size: number, memory: ItemMemory) {
    this.size = size;
    this.#memory = memory;
    this.#timestamps = memory.timestamps;
    this.#limbs = memory.limbs;
    this.#ids = memory.ids;
    this.#fingerprints = new Fingerprints(new Uint32Array(memory.limbs.buffer), size, memory.sums);
  }

  /** Gives the memory of this set to the next one. Nothing can be asked of the set afterwards; a second call does nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    giveBack(this.#memory);
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

  /**
   * The first index from `from` on whose item is not before `bound`; `size` when there is none. Looks close to `from` first,
   * in growing steps: most ranges hold few items, and a search through all of them would miss the processor's caches.
   */
  lowerBound(bound: Bound, from: number): number {
    let low = from;
    let high = from;
    for (let step = FIRST_STEP; high < this.size && this.#isBefore(high, bound); step *= 2) {
      low = high + 1;
      high = Math.min(this.size, high + step);
    }
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
