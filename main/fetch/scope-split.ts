/** A scope by time, both ends inclusive; `since: null` is Beginning. */
export interface Scope {
  since: number | null;
  until: number;
}

/** Before this second hardly anybody signed events; an open beginning is cut above it first. */
const EARLY = 1_600_000_000;

/**
 * Cuts a scope that a relay calls too large in two, newer part first. Both parts together are exactly the whole.
 *
 * @param middle the last second of the lower part as our own items suggest it, or null.
 * @returns null when a single second is left: cutting in time cannot help any further.
 */
export function splitScope(scope: Scope, middle: number | null): [Scope, Scope] | null {
  const lowest = scope.since ?? (scope.until > EARLY ? EARLY : 0);
  const cut = middle !== null && isWithin(scope, middle) ? middle : Math.floor((lowest + scope.until) / 2);
  if (!isWithin(scope, cut)) return null;
  return [
    { since: cut + 1, until: scope.until },
    { since: scope.since, until: cut },
  ];
}

function isWithin(scope: Scope, cut: number): boolean {
  return cut >= (scope.since ?? 0) && cut < scope.until;
}
