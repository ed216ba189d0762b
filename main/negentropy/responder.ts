import type { Bound } from './bound.ts';
import { INFINITE_BOUND } from './bound.ts';
import { buckets } from './buckets.ts';
import { FINGERPRINT_SIZE } from './fingerprint.ts';
import type { ItemSet } from './item-set.ts';
import type { FrameLimit } from './protocol.ts';
import { frameLimitOf, LIST_BELOW, PROTOCOL_VERSION } from './protocol.ts';
import { MAX_SKIP_SIZE, RangeWriter } from './range-writer.ts';
import type { ReceivedRange } from './received-ranges.ts';
import { listOf, receivedRanges, versionOf } from './received-ranges.ts';

/** What is kept free for the last range of a message that ran full: a skip, then infinity, mode and fingerprint. */
const REST_SIZE = MAX_SKIP_SIZE + 3 + FINGERPRINT_SIZE;

/**
 * The answering side of NIP-77. It keeps no state between messages and learns nothing from them: all conclusions are
 * the initiator's.
 */
export class Responder {
  readonly #items: ItemSet;
  readonly #limit: number;

  /** Answers for `items`, in messages within the frame limit. Throws `bad-limit`. */
  constructor(items: ItemSet, options: FrameLimit = {}) {
    this.#items = items;
    this.#limit = frameLimitOf(options);
  }

  /**
   * The answer to one message of an initiator. A message in a version that is not ours is answered by the one byte of
   * the version that is, as the protocol asks. Throws a NegentropyError whose code is said of a message; the next
   * message is answered as if nothing had happened.
   */
  respond(message: Uint8Array): Uint8Array {
    if (versionOf(message) !== PROTOCOL_VERSION) return Uint8Array.of(PROTOCOL_VERSION);
    const out = new RangeWriter(this.#items);
    let from = 0;
    let full = false;
    for (const range of receivedRanges(message)) {
      // The rest is still read, so that a message with a flaw is refused whether or not the frame is full.
      if (full) continue;
      const to = this.#items.lowerBound(range.upper, from);
      const restFrom = this.#answer(out, message, range, from, to);
      if (restFrom !== null) {
        out.fingerprint(INFINITE_BOUND, restFrom, this.#items.size, this.#limit);
        full = true;
      }
      from = to;
    }
    return out.toBytes();
  }

  /** Answers a range. Returns null, or the first item that did not fit: all before it is answered. */
  #answer(out: RangeWriter, message: Uint8Array, range: ReceivedRange, from: number, to: number): number | null {
    if (range.mode === 'skip' || this.#isSame(message, range, from, to)) {
      out.skip(range.upper);
      return null;
    }
    if (range.mode === 'ids' || to - from < LIST_BELOW) return this.#list(out, range.upper, from, to);
    const limit = this.#limit - REST_SIZE;
    for (const bucket of buckets(this.#items, from, to, range.upper)) {
      if (!out.fingerprint(bucket.upper, bucket.from, bucket.to, limit)) return bucket.from;
    }
    return null;
  }

  #isSame(message: Uint8Array, range: ReceivedRange, from: number, to: number): boolean {
    if (range.mode === 'fingerprint') return this.#items.hasFingerprint(from, to, message, range.start);
    return range.ids === to - from && Buffer.compare(listOf(message, range), this.#items.idBytes(from, to)) === 0;
  }

  #list(out: RangeWriter, upper: Bound, from: number, to: number): number | null {
    const limit = this.#limit - REST_SIZE;
    const end = Math.min(to, from + out.idsThatFit(limit));
    if (end === to && out.list(upper, from, to, limit)) return null;
    if (end === from || end === to) return from;
    out.list(this.#items.boundBefore(end), from, end, limit);
    return end;
  }
}
