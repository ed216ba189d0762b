import { isAddressableKind, isReplaceableKind } from 'nostr-tools/kinds';
import type { SignedEvent } from '../../preload/contract.ts';
import { matchesFilter } from './relay-filter.ts';
import type { RelayFilter } from './relay-filter.ts';

/** An event together with its JSON, so that serving it costs no serialisation. */
export interface StoredEvent {
  readonly event: SignedEvent;
  readonly json: string;
}

/** What a relay found for one REQ: newest first, and whether it holds more than it was allowed to give. */
export interface StoredPage {
  events: StoredEvent[];
  more: boolean;
}

/**
 * The events of a small relay, in memory. Kept in the order of NIP-01 (newest first, the lowest ID first among equal
 * times), over all and per author, so that a page is found by binary search.
 */
export class EventStore {
  readonly #byId = new Map<string, StoredEvent>();
  readonly #byAuthor = new Map<string, StoredEvent[]>();
  #ordered: StoredEvent[] = [];

  constructor(events: Iterable<SignedEvent> = []) {
    this.hold(Array.from(events, withJson));
  }

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** All events, newest first. */
  all(): readonly StoredEvent[] {
    return this.#ordered;
  }

  /** Takes events as they are, superseded versions included: a relay's holdings as somebody decided them. */
  hold(stored: readonly StoredEvent[]): void {
    const touched = new Set<StoredEvent[]>();
    for (const entry of stored) {
      if (this.#byId.has(entry.event.id)) continue;
      this.#byId.set(entry.event.id, entry);
      this.#ordered.push(entry);
      const own = this.#listOf(entry.event.pubkey);
      own.push(entry);
      touched.add(own);
    }
    this.#ordered.sort(newestFirst);
    for (const list of touched) list.sort(newestFirst);
  }

  /**
   * Stores a published event as NIP-01 says: a newer replaceable or addressable version drops the older ones.
   * Returns `superseded` when a newer version is already held.
   */
  add(event: SignedEvent): 'stored' | 'duplicate' | 'superseded' {
    if (this.#byId.has(event.id)) return 'duplicate';
    const entry = withJson(event);
    const versions = this.#versionsOf(event);
    if (versions.some((held) => newestFirst(held, entry) < 0)) return 'superseded';
    for (const older of versions) this.remove(older.event.id);
    this.#byId.set(event.id, entry);
    insert(this.#ordered, entry);
    insert(this.#listOf(event.pubkey), entry);
    return 'stored';
  }

  /** Forgets an event; returns false when it was not held. */
  remove(id: string): boolean {
    const entry = this.#byId.get(id);
    if (!entry) return false;
    this.#byId.delete(id);
    for (const list of [this.#ordered, this.#listOf(entry.event.pubkey)]) list.splice(list.indexOf(entry), 1);
    return true;
  }

  /** The stored answer to a REQ: the union of its filters, each with its own limit, or `limitWithout` where it has none. */
  query(filters: readonly RelayFilter[], limitWithout: number = Number.POSITIVE_INFINITY): StoredPage {
    const pages = filters.map((filter) => this.#page(filter, filter.limit ?? limitWithout));
    const [first] = pages;
    if (pages.length === 1 && first) return first;
    const union = new Set(pages.flatMap((page) => page.events));
    return { events: [...union].sort(newestFirst), more: pages.some((page) => page.more) };
  }

  #page(filter: RelayFilter, limit: number): StoredPage {
    const lists = this.#candidates(filter);
    const events: StoredEvent[] = [];
    for (const list of lists) {
      const from = filter.until === undefined ? 0 : firstAtOrBefore(list, filter.until);
      for (let index = from, taken = 0; index < list.length && taken <= limit; index++) {
        const entry = list[index];
        if (!entry || (filter.since !== undefined && entry.event.created_at < filter.since)) break;
        if (!matchesFilter(entry.event, filter)) continue;
        events.push(entry);
        taken++;
      }
    }
    if (lists.length > 1) events.sort(newestFirst);
    return events.length > limit ? { events: events.slice(0, limit), more: true } : { events, more: false };
  }

  /** Ordered lists without common members that hold everything the filter can match. */
  #candidates(filter: RelayFilter): readonly (readonly StoredEvent[])[] {
    if (filter.ids) {
      const named = Array.from(filter.ids, (id) => this.#byId.get(id)).filter((entry) => entry !== undefined);
      return [named.sort(newestFirst)];
    }
    if (filter.authors) return Array.from(filter.authors, (author) => this.#byAuthor.get(author) ?? []);
    return [this.#ordered];
  }

  #listOf(author: string): StoredEvent[] {
    let list = this.#byAuthor.get(author);
    if (!list) this.#byAuthor.set(author, (list = []));
    return list;
  }

  #versionsOf(event: SignedEvent): StoredEvent[] {
    const addressable = isAddressableKind(event.kind);
    if (!addressable && !isReplaceableKind(event.kind)) return [];
    return this.#listOf(event.pubkey).filter(
      (held) => held.event.kind === event.kind && (!addressable || identifierOf(held.event) === identifierOf(event)),
    );
  }
}

/** The event with its JSON. */
export function withJson(event: SignedEvent): StoredEvent {
  return { event, json: JSON.stringify(event) };
}

/** The order of NIP-01: newest first, the lowest ID first among equal times. */
export function newestFirst(a: StoredEvent, b: StoredEvent): number {
  return b.event.created_at - a.event.created_at || (a.event.id < b.event.id ? -1 : a.event.id > b.event.id ? 1 : 0);
}

function identifierOf(event: SignedEvent): string {
  return event.tags.find(([name]) => name === 'd')?.[1] ?? '';
}

function insert(list: StoredEvent[], entry: StoredEvent): void {
  list.splice(
    partition(list, (held) => newestFirst(held, entry) < 0),
    0,
    entry,
  );
}

function firstAtOrBefore(list: readonly StoredEvent[], until: number): number {
  return partition(list, (held) => held.event.created_at > until);
}

/** Index of the first entry for which `before` is false, in a list where it never turns true again. */
function partition(list: readonly StoredEvent[], before: (entry: StoredEvent) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = list[middle];
    if (entry && before(entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
