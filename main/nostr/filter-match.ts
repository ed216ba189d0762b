import type { SignedEvent } from '../../preload/contract.ts';

/** The part of a NIP-01 filter that decides whether one event matches; `limit` does not. */
export interface MatchableFilter {
  ids?: readonly string[];
  authors?: readonly string[];
  kinds?: readonly number[];
  since?: number;
  until?: number;
  [tag: `#${string}`]: readonly string[];
}

/** Whether an event matches a filter by NIP-01: all given conditions hold, any value within one suffices. */
export function matchesFilter(filter: MatchableFilter, event: SignedEvent): boolean {
  if (filter.ids !== undefined && !filter.ids.includes(event.id)) return false;
  if (filter.authors !== undefined && !filter.authors.includes(event.pubkey)) return false;
  if (filter.kinds !== undefined && !filter.kinds.includes(event.kind)) return false;
  if (filter.since !== undefined && event.created_at < filter.since) return false;
  if (filter.until !== undefined && event.created_at > filter.until) return false;
  for (const name of Object.keys(filter)) {
    if (!name.startsWith('#')) continue;
    const wanted = filter[name as `#${string}`];
    if (wanted === undefined) continue;
    if (!event.tags.some((tag) => tag[0] === name.slice(1) && tag[1] !== undefined && wanted.includes(tag[1])))
      return false;
  }
  return true;
}
