import type { Random } from '../platform/random.ts';

export interface BackoffTimes {
  /** After the first failure. */
  baseMs: number;
  /** Never longer than this. */
  maxMs: number;
}

/** The GRASP-02 times: five seconds, doubling up to an hour. */
export const DEFAULT_BACKOFF: BackoffTimes = { baseMs: 5_000, maxMs: 3_600_000 };

/** How far the jitter moves a delay, as a part of it, to either side. */
const JITTER = 0.25;

/**
 * The delay in milliseconds before the next try after `failures` failures in a row: `base * 2^(failures - 1)`, at most
 * `maxMs`, moved by up to a quarter either way so that clients do not come back all at once. Zero without a failure.
 */
export function backoffMs(failures: number, random: Random, times: BackoffTimes = DEFAULT_BACKOFF): number {
  if (failures <= 0) {
    return 0;
  }
  const plain = Math.min(times.maxMs, times.baseMs * 2 ** Math.min(failures - 1, 40));
  return Math.round(plain * (1 - JITTER + 2 * JITTER * random()));
}
