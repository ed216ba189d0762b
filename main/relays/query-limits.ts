import type { QueryOptions, RelayFilter } from './relay-query.ts';

const IDLE_TIMEOUT_MS = 30_000;
const TOTAL_TIMEOUT_MS = 10 * 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
const LEAST_MAX_EVENTS = 1_000;
/** What relays send at the most, by their defaults, when no limit is asked for. */
const UNLIMITED_PAGE = 5_000;
/** Stored events of one live subscription at the most; new ones are not counted. */
const LIVE_MAX_EVENTS = 100_000;

/** How long one request may take and how large its answer may become. */
export interface RequestLimits {
  idleTimeoutMs: number;
  totalTimeoutMs: number;
  maxBytes: number;
}

export interface SubscriptionLimits extends RequestLimits {
  maxEvents: number;
  /** An answer with this many events holds all that was asked for: nothing is concluded from what it lacks. */
  fullAt: number;
}

/** The limits asked for, or the usual ones. */
export function requestLimits(options: Partial<RequestLimits>): RequestLimits {
  return {
    idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    totalTimeoutMs: options.totalTimeoutMs ?? TOTAL_TIMEOUT_MS,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  };
}

/** The limits of one query with this filter. */
export function queryLimits(filter: RelayFilter, options: QueryOptions): SubscriptionLimits {
  return {
    ...requestLimits(options),
    maxEvents: options.maxEvents ?? Math.max(LEAST_MAX_EVENTS, 5 * (filter.limit ?? UNLIMITED_PAGE)),
    fullAt: Math.min(filter.limit ?? Number.POSITIVE_INFINITY, filter.ids?.length ?? Number.POSITIVE_INFINITY),
  };
}

/** A live subscription may be silent, and last, for as long as it likes. */
export const LIVE_LIMITS: Readonly<SubscriptionLimits> = {
  idleTimeoutMs: Number.POSITIVE_INFINITY,
  totalTimeoutMs: Number.POSITIVE_INFINITY,
  maxBytes: MAX_BYTES,
  maxEvents: LIVE_MAX_EVENTS,
  fullAt: Number.POSITIVE_INFINITY,
};
