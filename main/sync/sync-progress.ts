import type { DeliveryTotals, RelayProgress, RelayRunState, RunProgress } from '../../preload/contract.ts';
import { noDeliveries } from '../coverage/delivery-totals.ts';
import type { Clock } from '../platform/clock.ts';
import { RateMeter } from '../platform/rate-meter.ts';
import type { Waiting } from '../relays/relay-query.ts';

/** One thing that is being done with a relay: something on its way, or waiting for its time. */
export interface Activity {
  /** What it waits for, or null when it goes on. */
  wait(waiting: Waiting | null): void;
  /** What was to be done is done; only the relay's answer is outstanding. */
  awaitAnswer(): void;
  end(): void;
}

type Doing = 'sending' | 'reading-back';

interface ActivityState {
  doing: Doing;
  waiting: Waiting | null;
  awaitsAnswer: boolean;
}

const WAITING_STATES = {
  'rate-limited': 'cooling-down',
  backoff: 'connecting',
  busy: 'waiting',
} as const;

/**
 * Live progress of one relay within a sync. Sending and reading back go on side by side: the relay waits only while all
 * that is being done waits.
 */
export class RelaySyncProgress {
  readonly #url: string;
  readonly #onChange: () => void;
  readonly #meter: RateMeter;
  readonly #activities = new Set<ActivityState>();
  #totals: DeliveryTotals = noDeliveries();
  #newlyArchived = 0;
  #queries = 0;
  #ended: { state: RelayRunState; reason: string | null } | null = null;

  constructor(url: string, clock: Clock, onChange: () => void) {
    this.#url = url;
    this.#onChange = onChange;
    this.#meter = new RateMeter(clock);
  }

  /** Something begins; the returned object says how it goes on. */
  begin(doing: Doing): Activity {
    const state: ActivityState = { doing, waiting: null, awaitsAnswer: false };
    this.#activities.add(state);
    this.#onChange();
    return {
      wait: (waiting) => {
        state.waiting = waiting;
        this.#onChange();
      },
      awaitAnswer: () => {
        state.awaitsAnswer = true;
        this.#onChange();
      },
      end: () => {
        this.#activities.delete(state);
        this.#onChange();
      },
    };
  }

  setTotals(totals: DeliveryTotals): void {
    this.#totals = totals;
    this.#onChange();
  }

  /** Events that were sent now. */
  addSent(count: number): void {
    this.#meter.add(count);
    this.#onChange();
  }

  addQuery(newlyArchived: number): void {
    this.#queries += 1;
    this.#newlyArchived += newlyArchived;
  }

  finish(state: RelayRunState, reason: string | null): void {
    this.#ended = { state, reason };
    this.#onChange();
  }

  snapshot(): RelayProgress {
    const { state, reason, waitingUntil } = this.#state();
    return {
      url: this.#url,
      state,
      pages: this.#queries,
      found: this.#totals.verified,
      fetched: this.#totals.verified,
      newlyArchived: this.#newlyArchived,
      rate: this.#meter.perSecond(),
      reachedSecond: null,
      since: null,
      until: null,
      waitingUntil,
      reason,
      deliveries: this.#totals,
    };
  }

  #state(): { state: RelayRunState; reason: string | null; waitingUntil: number | null } {
    if (this.#ended !== null) return { ...this.#ended, waitingUntil: null };
    const activities = [...this.#activities];
    if (activities.length === 0) return { state: 'waiting', reason: null, waitingUntil: null };
    const working = activities.filter(({ waiting }) => waiting === null);
    if (working.length > 0) {
      const isSending = working.some(({ doing }) => doing === 'sending');
      const reason = working.every(({ awaitsAnswer }) => awaitsAnswer) ? 'waits for the relay’s answer' : null;
      return { state: isSending ? 'sending' : 'reading-back', reason, waitingUntil: null };
    }
    const [first] = activities.toSorted((a, b) => untilOf(a) - untilOf(b));
    const waiting = first?.waiting ?? null;
    if (first === undefined || waiting === null) return { state: 'waiting', reason: null, waitingUntil: null };
    const waitingUntil = waiting.untilMs === null ? null : Math.ceil(waiting.untilMs / 1000);
    // The usual interval between two events is part of sending them.
    if (waiting.kind === 'pacing') return { state: first.doing, reason: null, waitingUntil };
    return { state: WAITING_STATES[waiting.kind], reason: waiting.reason, waitingUntil };
  }
}

function untilOf({ waiting }: ActivityState): number {
  return waiting?.untilMs ?? Number.POSITIVE_INFINITY;
}

/** Live progress of a sync. */
export class RunSyncProgress {
  readonly #run: { run: number; account: string; startedAt: number };
  readonly #relays: readonly RelaySyncProgress[];

  constructor(run: { run: number; account: string; startedAt: number }, relays: readonly RelaySyncProgress[]) {
    this.#run = run;
    this.#relays = relays;
  }

  snapshot(): RunProgress {
    const relays = this.#relays.map((relay) => relay.snapshot());
    const sum = (of: (relay: RelayProgress) => number): number => relays.reduce((total, relay) => total + of(relay), 0);
    return {
      ...this.#run,
      type: 'sync',
      found: sum((relay) => relay.found),
      newlyArchived: sum((relay) => relay.newlyArchived),
      rate: sum((relay) => relay.rate),
      relays,
      deliveries: addTotals(relays.map(({ deliveries }) => deliveries ?? noDeliveries())),
    };
  }
}

/** Totals of several shares together. */
export function addTotals(totals: readonly DeliveryTotals[]): DeliveryTotals {
  const sum = noDeliveries();
  for (const share of totals) {
    for (const state of Object.keys(sum) as (keyof DeliveryTotals)[]) sum[state] += share[state];
  }
  return sum;
}
