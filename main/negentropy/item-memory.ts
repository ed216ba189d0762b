import { ID_SIZE } from './bound.ts';
import { LIMBS, sumsLength } from './fingerprint.ts';

const SMALLEST_CAPACITY = 1024;

/** Larger memory is not kept: 256 Ki items take 12 MB. */
const LARGEST_SPARE = 262_144;

/** What a set is packed into. It may be larger than the set, and what lies behind the set is not zero. */
export class ItemMemory {
  timestamps: Float64Array<ArrayBuffer>;
  /** The IDs, 8 limbs of 32 bits each. */
  limbs: Int32Array<ArrayBuffer>;
  /** The same IDs, 32 bytes each. */
  ids: Uint8Array<ArrayBuffer>;
  #sums = new Uint32Array(0);

  constructor(capacity: number) {
    this.timestamps = new Float64Array(capacity);
    this.limbs = new Int32Array(capacity * LIMBS);
    this.ids = new Uint8Array(this.limbs.buffer);
  }

  /** How many items fit. */
  get capacity(): number {
    return this.timestamps.length;
  }

  /** Room for the running sums of the IDs, made when it is first asked for. */
  get sums(): Uint32Array<ArrayBuffer> {
    const length = sumsLength(this.capacity);
    if (this.#sums.length < length) this.#sums = new Uint32Array(length);
    return this.#sums;
  }

  /**
   * Moves everything to arrays for `capacity` items; those of before are empty from then on. A transfer frees memory at
   * once, where a copy would leave it to the garbage collector.
   */
  move(capacity: number): void {
    this.timestamps = new Float64Array(this.timestamps.buffer.transfer(capacity * Float64Array.BYTES_PER_ELEMENT));
    this.limbs = new Int32Array(this.limbs.buffer.transfer(capacity * ID_SIZE));
    this.ids = new Uint8Array(this.limbs.buffer);
    this.#sums = new Uint32Array(this.#sums.buffer.transfer());
  }
}

/**
 * The memory of a set that was released, for the next one. Fresh memory piles up until the garbage collector runs, and
 * costs a page fault for every 4 KiB whenever the allocator has handed the last set's back to the system.
 */
let spare: ItemMemory | null = null;

/** Memory for at least `capacity` items. */
export function takeMemory(capacity: number): ItemMemory {
  const taken = spare;
  if (taken === null || taken.capacity < capacity) return new ItemMemory(Math.max(SMALLEST_CAPACITY, capacity));
  spare = null;
  return taken;
}

/** Gives memory back. Whoever still has arrays of it finds them empty, not filled with the items of another set. */
export function giveBack(memory: ItemMemory): void {
  memory.move(memory.capacity);
  if (memory.capacity <= LARGEST_SPARE && memory.capacity > (spare?.capacity ?? 0)) spare = memory;
}
