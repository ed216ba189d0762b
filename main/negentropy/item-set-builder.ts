import { ID_SIZE } from './bound.ts';
import { LIMBS } from './fingerprint.ts';
import { identityOrder, radixPass, sortTies } from './item-order.ts';
import { ItemSet } from './item-set.ts';
import { NegentropyError } from './negentropy-error.ts';

const FIRST_CAPACITY = 1024;

/** Collects the items of an ItemSet, in any order; rows that come sorted by (created_at, ID) cost least. */
export class ItemSetBuilder {
  #timestamps: Float64Array<ArrayBuffer>;
  #limbs: Int32Array<ArrayBuffer>;
  #ids: Uint8Array<ArrayBuffer>;
  #size = 0;
  #sorted = true;
  #built = false;

  /** `expected` is a hint of how many items will come. */
  constructor(expected = 0) {
    const capacity = Math.max(FIRST_CAPACITY, Math.ceil(expected));
    this.#timestamps = new Float64Array(capacity);
    this.#limbs = new Int32Array(capacity * LIMBS);
    this.#ids = new Uint8Array(this.#limbs.buffer);
  }

  /**
   * Adds one item: `createdAt` in whole seconds from 0 to 2^53 - 1, `id` as 32 bytes, which are copied. An item added
   * twice counts once. Throws `bad-item`, or `wrong-order` after `build`.
   */
  add(createdAt: number, id: Uint8Array): void {
    if (id.length !== ID_SIZE) throw new NegentropyError('bad-item', 'An event ID must have 32 bytes.');
    const index = this.#claim(createdAt);
    this.#ids.set(id, index * ID_SIZE);
    this.#settle();
  }

  /** Adds one item whose ID is written as 64 hex characters. Throws like `add`. */
  addHex(createdAt: number, id: string): void {
    const index = this.#claim(createdAt);
    const { buffer } = this.#ids;
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
    return new ItemSet(this.#size, this.#timestamps, this.#limbs);
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
    if (index === this.#timestamps.length) this.#grow();
    this.#timestamps[index] = createdAt;
    return index;
  }

  #settle(): void {
    const index = this.#size;
    if (this.#sorted && index > 0) {
      const step = (this.#timestamps[index] as number) - (this.#timestamps[index - 1] as number);
      const order = step === 0 ? this.#compareIds(index, index - 1) : step;
      if (order === 0) return;
      if (order < 0) this.#sorted = false;
    }
    this.#size = index + 1;
  }

  #grow(): void {
    const capacity = this.#timestamps.length * 2;
    // A transfer frees the old memory at once, where a copy would leave it to the garbage collector.
    this.#timestamps = new Float64Array(this.#timestamps.buffer.transfer(capacity * Float64Array.BYTES_PER_ELEMENT));
    this.#limbs = new Int32Array(this.#limbs.buffer.transfer(capacity * ID_SIZE));
    this.#ids = new Uint8Array(this.#limbs.buffer);
  }

  #compareIds(a: number, b: number): number {
    for (let i = 0; i < ID_SIZE; i += 1) {
      const difference = (this.#ids[a * ID_SIZE + i] as number) - (this.#ids[b * ID_SIZE + i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /**
   * Sorts by timestamp, then ID, and drops repeats: a radix sort over the first 32 bits of the ID and as many bits as
   * the timestamps span; the few that are still equal are compared in full.
   */
  #sort(): void {
    const size = this.#size;
    const order = this.#radixOrder();
    const timestamps = new Float64Array(size);
    const limbs = new Int32Array(size * LIMBS);
    let kept = 0;
    let previous = -1;
    for (const index of order) {
      if (previous >= 0 && this.#isSameItem(previous, index)) continue;
      timestamps[kept] = this.#timestamps[index] as number;
      for (let limb = 0; limb < LIMBS; limb += 1) {
        limbs[kept * LIMBS + limb] = this.#limbs[index * LIMBS + limb] as number;
      }
      kept += 1;
      previous = index;
    }
    this.#size = kept;
    this.#timestamps = timestamps;
    this.#limbs = limbs;
    this.#ids = new Uint8Array(limbs.buffer);
  }

  #radixOrder(): Uint32Array {
    const size = this.#size;
    let earliest = Infinity;
    let latest = 0;
    for (let i = 0; i < size; i += 1) {
      const timestamp = this.#timestamps[i] as number;
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
      for (let i = 0; i < size; i += 1) keys[i] = Math.floor(((this.#timestamps[i] as number) - earliest) / unit);
      pass(0);
      if (span >= 2 ** 16) pass(16);
      span = Math.floor(span / 2 ** 32);
    }
    sortTies(
      order,
      (a, b) => this.#timestamps[a] === this.#timestamps[b] && this.#limbs[a * LIMBS] === this.#limbs[b * LIMBS],
      (a, b) => this.#compareIds(a, b),
    );
    return order;
  }

  /** The first four bytes of an ID as a big-endian number, so that numbers order as the bytes do. */
  #idStart(index: number): number {
    const at = index * ID_SIZE;
    const ids = this.#ids;
    return (
      (((ids[at] as number) << 24) |
        ((ids[at + 1] as number) << 16) |
        ((ids[at + 2] as number) << 8) |
        (ids[at + 3] as number)) >>>
      0
    );
  }

  #isSameItem(a: number, b: number): boolean {
    return this.#timestamps[a] === this.#timestamps[b] && this.#compareIds(a, b) === 0;
  }
}
