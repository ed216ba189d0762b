import * as v from 'valibot';
import type { SignedEvent } from '../../preload/contract.ts';

/** A NIP-01 filter as a relay applies it. Tag conditions are kept by letter, without the `#`. */
export interface RelayFilter {
  ids?: ReadonlySet<string>;
  authors?: ReadonlySet<string>;
  kinds?: ReadonlySet<number>;
  tags: ReadonlyMap<string, ReadonlySet<string>>;
  since?: number;
  until?: number;
  limit?: number;
}

const hex32 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex characters'));
const wholeNumber = v.pipe(v.number(), v.safeInteger());

const filterFields = v.looseObject({
  ids: v.optional(v.array(hex32)),
  authors: v.optional(v.array(hex32)),
  kinds: v.optional(v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65535)))),
  since: v.optional(wholeNumber),
  until: v.optional(wholeNumber),
  limit: v.optional(v.pipe(wholeNumber, v.minValue(0))),
});

const tagValues = v.array(v.string());

/**
 * Reads a filter from a client's message. Returns the filter, or a sentence that says what is wrong with it.
 * Keys that NIP-01 does not define are ignored.
 */
export function readFilter(value: unknown): RelayFilter | string {
  if (Array.isArray(value)) return 'a filter is an object';
  const parsed = v.safeParse(filterFields, value);
  if (!parsed.success) {
    const issue = parsed.issues[0];
    return `${v.getDotPath(issue) ?? 'filter'}: ${issue.message}`;
  }
  const tags = new Map<string, ReadonlySet<string>>();
  for (const [key, content] of Object.entries(parsed.output)) {
    if (!/^#[a-zA-Z]$/.test(key)) continue;
    const values = v.safeParse(tagValues, content);
    if (!values.success) return `${key}: expected an array of strings`;
    tags.set(key.slice(1), new Set(values.output));
  }
  const { ids, authors, kinds, since, until, limit } = parsed.output;
  const filter: RelayFilter = { tags };
  if (ids) filter.ids = new Set(ids);
  if (authors) filter.authors = new Set(authors);
  if (kinds) filter.kinds = new Set(kinds);
  if (since !== undefined) filter.since = since;
  if (until !== undefined) filter.until = until;
  if (limit !== undefined) filter.limit = limit;
  return filter;
}

/** True when the event satisfies every condition of the filter; `limit` is no condition (NIP-01). */
export function matchesFilter(event: SignedEvent, filter: RelayFilter): boolean {
  if (filter.since !== undefined && event.created_at < filter.since) return false;
  if (filter.until !== undefined && event.created_at > filter.until) return false;
  if (filter.kinds && !filter.kinds.has(event.kind)) return false;
  if (filter.authors && !filter.authors.has(event.pubkey)) return false;
  if (filter.ids && !filter.ids.has(event.id)) return false;
  for (const [letter, wanted] of filter.tags) {
    if (!event.tags.some(([name, value]) => name === letter && value !== undefined && wanted.has(value))) return false;
  }
  return true;
}
