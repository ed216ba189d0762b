import { NegentropyError } from './negentropy-error.ts';

/** Version 1, the only one there is. */
export const PROTOCOL_VERSION = 0x61;

export const MODE_SKIP = 0;
export const MODE_FINGERPRINT = 1;
export const MODE_ID_LIST = 2;

/** Parts into which a range is split whose fingerprints differ. */
export const BUCKETS = 16;

/** A range with fewer items is not split further: its IDs are listed. */
export const LIST_BELOW = 2 * BUCKETS;

/** The smallest frame limit that leaves room for a step forward in every message. */
export const SMALLEST_FRAME_LIMIT = 4096;

/** How large one's own messages may get. */
export interface FrameLimit {
  /** Bytes of the binary message (its hex form is twice as long): 0 for no limit, otherwise at least 4,096. */
  readonly frameLimit?: number;
}

/** The limit in bytes, Infinity for none. Throws `bad-limit`. */
export function frameLimitOf(options: FrameLimit): number {
  const limit = options.frameLimit ?? 0;
  if (limit === 0) return Infinity;
  if (!Number.isSafeInteger(limit) || limit < SMALLEST_FRAME_LIMIT) {
    throw new NegentropyError('bad-limit', `A frame limit must be 0 or at least ${SMALLEST_FRAME_LIMIT} bytes.`);
  }
  return limit;
}
