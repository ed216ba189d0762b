import { ID_SIZE } from './bound.ts';
import { LIMBS } from './fingerprint.ts';
import type { ItemMemory } from './item-memory.ts';
import { giveBack, takeMemory } from './item-memory.ts';
import { identityOrder, radixPass, sortTies } from './item-order.ts';
import { ItemSet } from './item-set.ts';
import { NegentropyError } from './negentropy-error.ts';

/** Collects the items of an ItemSet, in any order; rows that come sorted by (created_at, ID) cost least. */
export class ItemSetBuilder {
  #memory: ItemMemory;
  #size = 0;
  #sorted = true;
  #built = false;

  /** `expected` is a hint of how many items will come. */
  constructor(expected = 0) {
    this.#memory = takeMemory(Math.ceil(expected));
  }

  /**
   * Adds one item: `createdAt` in whole seconds from 0 to 2^53 - 1, `id` as 32 bytes, which are copied. An item added
   * twice counts once. Throws `bad-item`, or `wrong-order` after `build`.
   */
  add(createdAt: number, id: Uint8Array): void {
    if (id.length !== ID_SIZE) throw new NegentropyError('bad-item', 'An event ID must have 32 bytes.');
    const index = this.#claim(createdAt);
    this.#memory.ids.set(id, index * ID_SIZE);
    this.#settle();
  }

  /** Adds one item whose ID is written as 64 hex characters. Throws like `add`. */
  addHex(createdAt: number, id: string): void {
    const index = this.#claim(createdAt);
    const { buffer } = this.#memory.ids;
    const written = id.length === 2 * ID_SIZE ? Buffer.from(buffer, index * ID_SIZE, ID_SIZE).write(id, 'hex') : 0;
    if (written !== ID_SIZE) throw new NegentropyError('bad-item', 'An event ID must be 64 hex characters.');
    this.#settle();
  }

  /** Adds `[createdAt, id]` rows, as a raw SQLite statement iterates them. Returns itself. Throws like `add`. */
  addAll(rows: Iterable<readonly [createdAt: number, id: Uint8Array]>): this {
    for (const [createdAt, id] of rows) this.add(createdAt, id);
    return this;
  }

  /** The finished set. The builder is spent: its memory is now the set's. */
  build(): ItemSet {
    this.#checkUnbuilt();
    this.#built = true;
    if (!this.#sorted) this.#sort();
    return new ItemSet(this.#size, this.#memory);
  }

  #checkUnbuilt(): void {
    if (this.#built) throw new NegentropyError('wrong-order', 'The set is already built.');
  }

  /** Makes room for one more item and writes its timestamp; it counts once `#settle` is called. */
  #claim(createdAt: number): number {
    this.#checkUnbuilt();
    if (!Number.isSafeInteger(createdAt) || createdAt < 0) {
      throw new NegentropyError('bad-item', 'A timestamp must be a whole number of seconds from 0 to 2^53 - 1.');
    }
    const index = this.#size;
    if (index === this.#memory.capacity) this.#memory.move(index * 2);
    this.#memory.timestamps[index] = createdAt;
    return index;
  }

  #settle(): void {
    const index = this.#size;
    if (this.#sorted && index > 0) {
      const { timestamps } = this.#memory;
      const step = (timestamps[index] as number) - (timestamps[index - 1] as number);
      const order = step === 0 ? this.#compareIds(index, index - 1) : step;
      if (order === 0) return;
      if (order < 0) this.#sorted = false;
    }
    this.#size = index + 1;
  }

  #compareIds(a: number, b: number): number {
    const { ids } = this.#memory;
    for (let i = 0; i < ID_SIZE; i += 1) {
      const difference = (ids[a * ID_SIZE + i] as number) - (ids[b * ID_SIZE + i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /**
   * Sorts by timestamp, then ID, and drops repeats: a radix sort over the first 32 bits of the ID and as many bits as
   * the timestamps span; the few that are still equal are compared in full.
   */
  #sort(): void {
    const order = this.#radixOrder();
    const unsorted = this.#memory;
    const sorted = takeMemory(this.#size);
    let kept = 0;
    let previous = -1;
    for (const index of order) {
      if (previous >= 0 && this.#isSameItem(previous, index)) continue;
      sorted.timestamps[kept] = unsorted.timestamps[index] as number;
      for (let limb = 0; limb < LIMBS; limb += 1) {
        sorted.limbs[kept * LIMBS + limb] = unsorted.limbs[index * LIMBS + limb] as number;
      }
      kept += 1;
      previous = index;
    }
    this.#size = kept;
    this.#memory = sorted;
    giveBack(unsorted);
  }

  #radixOrder(): Uint32Array {
    const size = this.#size;
    const { timestamps, limbs } = this.#memory;
    let earliest = Infinity;
    let latest = 0;
    for (let i = 0; i < size; i += 1) {
      const timestamp = timestamps[i] as number;
      if (timestamp < earliest) earliest = timestamp;
      if (timestamp > latest) latest = timestamp;
    }
    const keys = new Uint32Array(size);
    let order = identityOrder(size);
    let target = new Uint32Array(size);
    const pass = (shift: number): void => {
      radixPass(order, target, keys, 1, shift);
      [order, target] = [target, order];
    };
    for (let i = 0; i < size; i += 1) keys[i] = this.#idStart(i);
    pass(0);
    pass(16);
    let span = latest - earliest;
    for (let unit = 1; span > 0; unit *= 2 ** 32) {
      // The assignment to an unsigned 32-bit slot keeps the low bits of the quotient.
      for (let i = 0; i < size; i += 1) keys[i] = Math.floor(((timestamps[i] as number) - earliest) / unit);
      pass(0);
      if (span >= 2 ** 16) pass(16);
      span = Math.floor(span / 2 ** 32);
    }
    sortTies(
      order,
      (a, b) => timestamps[a] === timestamps[b] && limbs[a * LIMBS] === limbs[b * LIMBS],
      (a, b) => this.#compareIds(a, b),
    );
    return order;
  }

  /** The first four bytes of an ID as a big-endian number, so that numbers order as the bytes do. */
  #idStart(index: number): number {
    const at = index * ID_SIZE;
    const { ids } = this.#memory;
    return (
      (((ids[at] as number) << 24) |
        ((ids[at + 1] as number) << 16) |
        ((ids[at + 2] as number) << 8) |
        (ids[at + 3] as number)) >>>
      0
    );
  }

  #isSameItem(a: number, b: number): boolean {
    const { timestamps } = this.#memory;
    return timestamps[a] === timestamps[b] && this.#compareIds(a, b) === 0;
  }
}
