import { ID_SIZE } from './bound.ts';

/** Event IDs, packed 32 bytes each. What they mean is said where the batch is handed out. */
export class IdBatch implements Iterable<Uint8Array> {
  readonly #bytes: Uint8Array;

  /** `bytes` is kept, not copied; its length is a multiple of 32. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length / ID_SIZE;
  }

  /** The 32 bytes of one ID, as a view. Throws RangeError outside `0 … length - 1`. */
  at(index: number): Uint8Array {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new RangeError(`There is no ID number ${index} in a batch of ${this.length}.`);
    }
    return this.#bytes.subarray(index * ID_SIZE, (index + 1) * ID_SIZE);
  }

  *[Symbol.iterator](): Generator<Uint8Array, void, undefined> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }

  /** Every ID as 64 lower-case hex characters. */
  toHex(): string[] {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    return Array.from({ length: this.length }, (_, index) =>
      bytes.toString('hex', index * ID_SIZE, (index + 1) * ID_SIZE),
    );
  }
}
