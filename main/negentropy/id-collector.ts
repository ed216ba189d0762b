import { ID_SIZE } from './bound.ts';
import { ByteWriter } from './byte-writer.ts';
import { IdBatch } from './id-batch.ts';

/** Gathers IDs for an IdBatch. */
export class IdCollector {
  readonly #bytes = new ByteWriter();

  get length(): number {
    return this.#bytes.length / ID_SIZE;
  }

  /** Adds the ID number `index` of packed IDs. */
  add(packed: Uint8Array, index: number): void {
    this.#bytes.write(packed.subarray(index * ID_SIZE, (index + 1) * ID_SIZE));
  }

  toBatch(): IdBatch {
    return new IdBatch(this.#bytes.toBytes());
  }
}
