import type { RelayProgress, RelayRunState, RunProgress, RunType } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { RateMeter } from '../platform/rate-meter.ts';
import type { Waiting } from '../relays/relay-query.ts';

/** Live progress of one relay within a run. */
export class RelayFetchProgress {
  readonly #onChange: () => void;
  readonly #meter: RateMeter;
  #state: RelayProgress;

  constructor(url: string, clock: Clock, onChange: () => void) {
    this.#onChange = onChange;
    this.#meter = new RateMeter(clock);
    this.#state = {
      url,
      state: 'waiting',
      pages: 0,
      found: 0,
      fetched: 0,
      newlyArchived: 0,
      rate: 0,
      reachedSecond: null,
      since: null,
      until: null,
      waitingUntil: null,
      reason: null,
      deliveries: null,
    };
  }

  enter(state: RelayRunState, reason: string | null = null, waitingUntil: number | null = null): void {
    this.#state = { ...this.#state, state, reason, waitingUntil };
    this.#onChange();
  }

  /** What the connection waits for, or null when it goes on. */
  wait(waiting: Waiting | null): void {
    if (waiting === null) {
      this.enter('fetching');
      return;
    }
    const state = (
      { 'rate-limited': 'cooling-down', backoff: 'connecting', busy: 'waiting', pacing: 'waiting' } as const
    )[waiting.kind];
    this.enter(state, waiting.reason, waiting.untilMs === null ? null : Math.ceil(waiting.untilMs / 1000));
  }

  beginRange(since: number | null, until: number): void {
    this.#state = { ...this.#state, since, until, reachedSecond: null };
    this.#onChange();
  }

  addPage(page: { unique: number; newlyArchived: number; reachedSecond: number | null }): void {
    this.#meter.add(page.unique);
    const state = this.#state;
    this.#state = {
      ...state,
      pages: state.pages + 1,
      found: state.found + page.unique,
      fetched: state.fetched + page.unique,
      newlyArchived: state.newlyArchived + page.newlyArchived,
      reachedSecond: page.reachedSecond ?? state.reachedSecond,
    };
    this.#onChange();
  }

  /** IDs that the relay named and whose bodies are on their way: found, not yet fetched. */
  addNamed(count: number): void {
    this.#meter.add(count);
    this.#state = { ...this.#state, found: this.#state.found + count };
    this.#onChange();
  }

  addBodies(batch: { fetched: number; newlyArchived: number }): void {
    const state = this.#state;
    this.#state = {
      ...state,
      pages: state.pages + 1,
      fetched: state.fetched + batch.fetched,
      newlyArchived: state.newlyArchived + batch.newlyArchived,
    };
    this.#onChange();
  }

  /** A finished comparison: what both sides had is found and fetched. */
  addCompared(common: number): void {
    const state = this.#state;
    this.#state = { ...state, pages: state.pages + 1, found: state.found + common, fetched: state.fetched + common };
    this.#onChange();
  }

  snapshot(): RelayProgress {
    return { ...this.#state, rate: this.#meter.perSecond() };
  }
}

/** Live progress of a run. Found here counts per relay: one event found on two relays is found twice. */
export class RunFetchProgress {
  readonly #run: { run: number; type: RunType; account: string; startedAt: number };
  readonly #relays: RelayFetchProgress[];

  constructor(run: { run: number; type: RunType; account: string; startedAt: number }, relays: RelayFetchProgress[]) {
    this.#run = run;
    this.#relays = relays;
  }

  snapshot(): RunProgress {
    const relays = this.#relays.map((relay) => relay.snapshot());
    const sum = (of: (relay: RelayProgress) => number): number => relays.reduce((total, relay) => total + of(relay), 0);
    return {
      ...this.#run,
      found: sum((relay) => relay.found),
      newlyArchived: sum((relay) => relay.newlyArchived),
      rate: sum((relay) => relay.rate),
      relays,
      deliveries: null,
    };
  }
}
