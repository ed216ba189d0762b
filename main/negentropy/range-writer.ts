import type { Bound } from './bound.ts';
import { FIRST_BOUND, ID_SIZE, MAX_BOUND_SIZE, writeBound } from './bound.ts';
import { ByteWriter } from './byte-writer.ts';
import { FINGERPRINT_SIZE } from './fingerprint.ts';
import type { ItemSet } from './item-set.ts';
import { MODE_FINGERPRINT, MODE_ID_LIST, MODE_SKIP, PROTOCOL_VERSION } from './protocol.ts';
import type { Uint64 } from './varint.ts';
import { writeVarint } from './varint.ts';

/** The most bytes that a skip takes. */
export const MAX_SKIP_SIZE = MAX_BOUND_SIZE + 1;

/** The most bytes that an ID list takes before its IDs; a count has at most five digits. */
const MAX_LIST_HEAD = MAX_SKIP_SIZE + MAX_BOUND_SIZE + 1 + 5;

interface Mark {
  readonly length: number;
  readonly previousTimestamp: Uint64;
}

/**
 * A version 1 message being written, range by range in ascending order. Skips are merged, and left out at the end, where the
 * protocol implies them. A range that would make the message longer than `limit` is not written at all.
 */
export class RangeWriter {
  readonly #items: ItemSet;
  readonly #out = new ByteWriter();
  #previousTimestamp: Uint64 = FIRST_BOUND.timestamp;
  #skippedTo: Bound | null = null;

  constructor(items: ItemSet) {
    this.#items = items;
    this.#out.writeByte(PROTOCOL_VERSION);
  }

  /** Skips everything up to `upper`. */
  skip(upper: Bound): void {
    this.#skippedTo = upper;
  }

  /** Writes the fingerprint of the items `from … to - 1` for the range up to `upper`; false if it does not fit. */
  fingerprint(upper: Bound, from: number, to: number, limit: number): boolean {
    const start = this.#begin(upper, MODE_FINGERPRINT);
    this.#out.writeCharacters(this.#items.fingerprint(from, to), FINGERPRINT_SIZE);
    return this.#end(start, limit);
  }

  /** Writes the IDs of the items `from … to - 1` for the range up to `upper`; false if they do not fit. */
  list(upper: Bound, from: number, to: number, limit: number): boolean {
    const start = this.#begin(upper, MODE_ID_LIST);
    writeVarint(this.#out, to - from);
    this.#out.write(this.#items.idBytes(from, to));
    return this.#end(start, limit);
  }

  /** How many IDs a list can have that still fits. */
  idsThatFit(limit: number): number {
    return Math.max(0, Math.floor((limit - this.#out.length - MAX_LIST_HEAD) / ID_SIZE));
  }

  toBytes(): Uint8Array {
    return this.#out.toBytes();
  }

  /** Writes the skip that is due and the head of a range. Returns where to go back to if the range does not fit. */
  #begin(upper: Bound, mode: number): Mark {
    const start = { length: this.#out.length, previousTimestamp: this.#previousTimestamp };
    if (this.#skippedTo) this.#writeHead(this.#skippedTo, MODE_SKIP);
    this.#writeHead(upper, mode);
    return start;
  }

  #end(start: Mark, limit: number): boolean {
    if (this.#out.length > limit) {
      this.#out.truncate(start.length);
      this.#previousTimestamp = start.previousTimestamp;
      return false;
    }
    this.#skippedTo = null;
    return true;
  }

  #writeHead(upper: Bound, mode: number): void {
    this.#previousTimestamp = writeBound(this.#out, upper, this.#previousTimestamp);
    this.#out.writeByte(mode);
  }
}
