import type { SignedEvent } from '../../preload/contract.ts';

/** One query as the rules of evidence see it. */
export interface Observation {
  query: number;
  relay: number;
  walk: number;
  atMs: number;
  /** Its place among all queries in the order in which they ended, where the times alone do not tell it. */
  turn: number | null;
  /** IDs that it returned, named, or showed to be on both sides. */
  seen: readonly string[];
  /** The seconds that the walk was done with by it, both inclusive; null from is Beginning. */
  covered: Scope | null;
}

export interface Scope {
  from: number | null;
  until: number;
}

/** What a walk asked about. */
interface Inventory {
  relay: number;
  author: string;
  scope: Scope;
}

export interface Knowledge {
  present: boolean;
  atMs: number;
  turn: number | null;
  /** Null for a sighting of the first version. */
  query: number | null;
}

/** Kinds that relays show to authenticated readers only, whatever they say. */
const NEVER_CONCLUDED = [4, 1059];

/**
 * What is known about each event on each relay, computed from the whole history of observations by the rules of
 * evidence: nothing is kept up to date here, every answer begins anew.
 */
export class PresenceModel {
  readonly #archive = new Map<string, SignedEvent>();
  readonly #observations: Observation[] = [];
  readonly #inventories = new Map<number, Inventory>();
  readonly #refused = new Set<string>();
  readonly #sightings: { relay: number; id: string; atMs: number }[] = [];

  archive(events: readonly SignedEvent[]): void {
    for (const event of events) this.#archive.set(event.id, event);
  }

  /** Whether it is known that somebody else signed an event. */
  isForeign(id: string, author: string): boolean {
    const event = this.#archive.get(id);
    return event !== undefined && event.pubkey !== author;
  }

  observe(observation: Observation): void {
    this.#observations.push(observation);
  }

  /** The walk finished its whole scope. */
  complete(walk: number, inventory: Inventory): void {
    this.#inventories.set(walk, inventory);
  }

  /** The first version saw these events on a relay. */
  sight(relay: number, ids: readonly string[], atMs: number): void {
    this.#sightings.push(...ids.map((id) => ({ relay, id, atMs })));
  }

  refuse(relay: number, kind: number): void {
    this.#refused.add(`${relay} ${kind}`);
  }

  isArchived(id: string): boolean {
    return this.#archive.has(id);
  }

  kindOf(id: string): number | null {
    return this.#archive.get(id)?.kind ?? null;
  }

  /** Archived events by an author within a scope: our side of a comparison. */
  ours(author: string, scope: Scope): string[] {
    return [...this.#archive.values()]
      .filter((event) => event.pubkey === author && isComparable(event) && isWithin(event, scope))
      .map(({ id }) => id);
  }

  /** The latest applicable evidence, or null: undetermined. */
  known(relay: number, id: string): Knowledge | null {
    let best: Knowledge | null = null;
    for (const evidence of [...this.#positives(relay, id), ...this.#negatives(relay, id)]) {
      if (best === null || isLater(evidence, best)) best = evidence;
    }
    return best;
  }

  /** Distinct events that a walk found. */
  found(walk: number): string[] {
    return [...new Set(this.#of(walk).flatMap(({ seen }) => [...seen]))];
  }

  fetched(walk: number): string[] {
    return this.found(walk).filter((id) => this.#archive.has(id));
  }

  /** Fetched events of a walk by kind. */
  kinds(walk: number): Record<string, number> {
    const kinds: Record<string, number> = {};
    for (const id of this.fetched(walk)) {
      const kind = String(this.kindOf(id));
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    return kinds;
  }

  #of(walk: number): Observation[] {
    return this.#observations.filter((observation) => observation.walk === walk);
  }

  #positives(relay: number, id: string): Knowledge[] {
    const sightings = this.#sightings
      .filter((sighting) => sighting.relay === relay && sighting.id === id)
      .map(({ atMs }) => ({ present: true, atMs, turn: null, query: null }));
    const returned = this.#observations
      .filter((observation) => observation.relay === relay && observation.seen.includes(id))
      .map(({ atMs, turn, query }) => ({ present: true, atMs, turn, query }));
    return [...sightings, ...returned];
  }

  #negatives(relay: number, id: string): Knowledge[] {
    const event = this.#archive.get(id);
    if (event === undefined || !isComparable(event)) return [];
    if (NEVER_CONCLUDED.includes(event.kind) || this.#refused.has(`${relay} ${event.kind}`)) return [];
    const negatives: Knowledge[] = [];
    for (const [walk, inventory] of this.#inventories) {
      if (inventory.relay !== relay || inventory.author !== event.pubkey || !isWithin(event, inventory.scope)) continue;
      const observations = this.#of(walk);
      if (observations.some(({ seen }) => seen.includes(id))) continue;
      const covering = observations.find(({ covered }) => covered !== null && isWithin(event, covered));
      if (covering === undefined) throw new Error(`walk ${walk} is complete and leaves ${event.created_at} out`);
      const { atMs, turn, query } = covering;
      negatives.push({ present: false, atMs, turn, query });
    }
    return negatives;
  }
}

/** A negative number is no time of the protocol: no relay can be relied on to compare it. */
function isComparable(event: SignedEvent): boolean {
  return event.created_at >= 0;
}

function isWithin(event: SignedEvent, scope: Scope): boolean {
  return event.created_at <= scope.until && (scope.from === null || event.created_at >= scope.from);
}

/**
 * By the order in which the queries ended, else by completion time; at the same millisecond a positive says more than a
 * negative, then the later query, and any query more than none.
 */
function isLater(a: Knowledge, b: Knowledge): boolean {
  if (a.turn !== null && b.turn !== null && a.turn !== b.turn) return a.turn > b.turn;
  if (a.atMs !== b.atMs) return a.atMs > b.atMs;
  if (a.present !== b.present) return a.present;
  return (a.query ?? 0) > (b.query ?? 0);
}
