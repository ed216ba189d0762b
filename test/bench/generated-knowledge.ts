import { RELAYS, type GeneratedHistory } from './generated-history.ts';

const ABSENT = 1;
const PRESENT = 2;

/** What is known about every event on one relay, by event index; `state` 0 is undetermined, 1 absent, 2 present. */
export interface Known {
  state: Uint8Array;
  observedAtMs: Float64Array;
  query: Uint32Array;
}

/** The seconds (inclusive; null is Beginning) that one query covered. */
export interface Cover {
  from: number | null;
  until: number;
  query: number;
  completedAtMs: number;
  /** Up to which place in the order of archiving a comparison had bodies on our side; null for a page. */
  comparedUpTo: number | null;
}

/** A walk that finished its whole scope. */
export interface Inventory {
  since: number | null;
  until: number;
  /** Without gaps, and none over another. */
  covers: Cover[];
}

/**
 * Keeps what is known of each event on each relay up to date while a generated history is fetched, by the rules of
 * evidence as they are written here, so that it can be compared with what the application makes of the same evidence.
 */
export class GeneratedKnowledge {
  readonly known: readonly Known[];
  readonly #history: GeneratedHistory;
  readonly #inventories: Inventory[][] = RELAYS.map(() => []);
  /** By event index, place in the order of archiving; 0: not archived. */
  readonly #sequences: Uint32Array;

  constructor(history: GeneratedHistory) {
    const { count } = history;
    this.#history = history;
    this.#sequences = new Uint32Array(count);
    this.known = RELAYS.map(() => ({
      state: new Uint8Array(count),
      observedAtMs: new Float64Array(count),
      query: new Uint32Array(count),
    }));
  }

  /** A query returned or named an event. */
  seen(relay: number, index: number, query: number, atMs: number): void {
    this.#observe(relay, index, PRESENT, query, atMs);
  }

  /** A new body is compared at once with the inventories that cover it: they did not show it. */
  archived(index: number, sequence: number): void {
    this.#sequences[index] = sequence;
    const time = this.#history.createdAt[index] ?? 0;
    for (const [relay, inventories] of this.#inventories.entries()) {
      for (const inventory of inventories) {
        if (inventory.until >= time && (inventory.since ?? 0) <= time) this.#missed(relay, inventory, index, false);
      }
    }
  }

  /** A walk finished; `resultOf` tells what it said of an event, where `lacking` is a comparison's own word. */
  completed(relay: number, walk: Inventory, resultOf: (index: number) => 'seen' | 'lacking' | 'unseen'): void {
    const { since, until } = walk;
    const inventory = { since, until, covers: walk.covers.toSorted((a, b) => a.until - b.until) };
    this.#inventories[relay]?.push(inventory);
    const high = this.#history.before(until + 1);
    for (let index = since === null ? 0 : this.#history.before(since); index < high; index += 1) {
      if (this.#sequences[index] === 0) continue;
      const result = resultOf(index);
      if (result !== 'seen') this.#missed(relay, inventory, index, result === 'lacking');
    }
  }

  /** An inventory did not show an event; a comparison did so only when the event was not on both sides. */
  #missed(relay: number, inventory: Inventory, index: number, saidLacking: boolean): void {
    const kind = this.#history.kinds[index] ?? 0;
    if (kind === 4 || kind === 1059 || (RELAYS[relay]?.hides.includes(kind) ?? true)) return;
    const time = this.#history.createdAt[index] ?? 0;
    let low = 0;
    let high = inventory.covers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((inventory.covers[middle]?.until ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    const cover = inventory.covers[low];
    if (cover === undefined || (cover.from !== null && cover.from > time)) throw new Error('a second was not covered');
    if (!saidLacking && cover.comparedUpTo !== null && (this.#sequences[index] ?? 0) <= cover.comparedUpTo) return;
    this.#observe(relay, index, ABSENT, cover.query, cover.completedAtMs);
  }

  /** Later evidence wins, by the time of its query. */
  #observe(relay: number, index: number, state: number, query: number, atMs: number): void {
    const known = this.known[relay];
    if (known === undefined || (known.observedAtMs[index] ?? 0) >= atMs) return;
    known.state[index] = state;
    known.observedAtMs[index] = atMs;
    known.query[index] = query;
  }
}
