/** How far ahead of the clock a `created_at` may lie and still move cursors and edges, in seconds (design §3.7). */
export const FUTURE_TOLERANCE_SECONDS = 86_400;

/**
 * Whether a `created_at` may move a cursor, a boundary or a range edge: a number of seconds that is neither before
 * 1970 nor more than a day ahead of `nowSeconds` (milliseconds taken for seconds lie far ahead).
 */
export function isPlausibleTime(createdAt: number, nowSeconds: number): boolean {
  return createdAt >= 0 && createdAt <= nowSeconds + FUTURE_TOLERANCE_SECONDS;
}
