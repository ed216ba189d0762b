import type {
  Reverification,
  Delivery,
  DeliveryHistory,
  DeliveryPage,
  DeliveryReason,
  DeliveryState,
  DeliveryStep,
  DeliveryTotals,
  Methods,
  RelayProgress,
  RunProgress,
  RunSummary,
  SyncReport,
} from '../../preload/contract.ts';
import { DAY, hex } from './fixture-parts.ts';
import { WORDS } from './fixture-candidates.ts';

/** A sync of the fixture that has ended with everything that can happen, and one that goes on. */
export const ENDED_SYNC = 40;
export const RUNNING_SYNC = 41;

const RELAYS = ['wss://relay-a.example', 'wss://relay-b.example', 'wss://nostr.caps-its-pages.example/inbox'];

type Standing = readonly [DeliveryState, DeliveryReason | null, string | null];

const MIXED: readonly Standing[] = [
  ['rejected', 'invalid', 'invalid: created_at too early'],
  ['rejected', 'too-large', 'The relay closed the connection (1009: message too big) both times when this was sent.'],
  ['unverified', 'not-returned', null],
  ['rejected', 'blocked', 'blocked: pubkey \u202e is not admitted <script>alert(1)</script>'],
  ['withdrawn', 'deleted', null],
  ['unverified', 'no-answer', null],
  ['rejected', 'auth-required', 'auth-required: we only accept events from authenticated users'],
  ['accepted', 'not-read-back', 'The relay did not answer within 30 s.'],
  ['pending', 'not-sent', 'The connection was refused.'],
  ['rejected', 'pow', 'pow: difficulty 12 is less than 30'],
];

const VERIFIED: Standing = ['verified', null, null];

/** How the delivery at a place stands: the ended sync mostly verified, the running one as far as it is. */
function standing(run: number, index: number, count: number): Standing {
  if (run === ENDED_SYNC) {
    const odd = (index * 7919) % 97;
    return odd < 12 ? (MIXED[(index * 31) % MIXED.length] ?? VERIFIED) : VERIFIED;
  }
  const reached = index / count;
  if (reached < 0.4) return index % 61 === 7 ? (MIXED[index % 2] ?? VERIFIED) : VERIFIED;
  if (reached < 0.43) return ['accepted', null, null];
  return reached < 0.434 ? ['sent', null, null] : ['pending', null, null];
}

/** Deliveries that exist on paper only, as many as are wanted. */
export class FixtureDeliveries {
  readonly #count: number;
  readonly #now: number;
  readonly #places = new Map<string, readonly number[]>();

  constructor(count: number, now: number) {
    this.#count = count;
    this.#now = now;
  }

  #size(run: number): number {
    return run === RUNNING_SYNC ? 3000 : this.#count;
  }

  #delivery(run: number, index: number): Delivery {
    const [state, reason, message] = standing(run, index, this.#size(run));
    const kind = index % 5 === 2 ? 7 : index % 17 === 3 ? 30_023 : 1;
    const attempts = state === 'pending' || state === 'withdrawn' ? 0 : index % 13 === 0 ? 2 : 1;
    return {
      id: run * 1_000_000 + index,
      event: hex(20_000 + index),
      kind,
      createdAt: Math.floor(this.#now - 1500 * DAY + (index * 1400 * DAY) / this.#size(run)),
      preview: kind === 7 ? '+' : (WORDS[index % WORDS.length] ?? ''),
      relay: RELAYS[index % RELAYS.length] ?? '',
      state,
      reason,
      message,
      duplicate: state === 'verified' && index % 40 === 9,
      lasting: state === 'rejected' && reason !== 'auth-required',
      attempts,
      sentAt: attempts === 0 ? null : this.#now - 3000,
      verifiedAt: state === 'verified' ? this.#now - 2990 : null,
    };
  }

  page(args: Methods['sync.deliveries']['args']): DeliveryPage {
    const { offset = 0, limit = 100 } = args;
    const places = this.#placesOf(args);
    return {
      total: places.length,
      deliveries: places.slice(offset, offset + limit).map((index) => this.#delivery(args.run, index)),
    };
  }

  /** Kept, since it would else be counted inside the frames of the page that is looked at. */
  #placesOf({ run, states, reason, relay }: Methods['sync.deliveries']['args']): readonly number[] {
    const key = JSON.stringify([run, states, reason, relay]);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const places: number[] = [];
    for (let index = 0; index < this.#size(run); index += 1) {
      const [state, why] = standing(run, index, this.#size(run));
      if (states !== undefined && !states.includes(state)) continue;
      if (reason !== undefined && reason !== why) continue;
      if (relay !== undefined && RELAYS[index % RELAYS.length] !== relay) continue;
      places.push(index);
    }
    this.#places.set(key, places);
    return places;
  }

  history(id: number): DeliveryHistory {
    const run = Math.floor(id / 1_000_000);
    const delivery = this.#delivery(run, id % 1_000_000);
    const steps: DeliveryStep[] = [];
    for (let attempt = 0; attempt < delivery.attempts; attempt += 1) {
      const at = this.#now - 3000 - (delivery.attempts - attempt) * 60;
      const last = attempt === delivery.attempts - 1;
      const refused = delivery.state === 'rejected';
      steps.push({
        type: 'send',
        at,
        completedAt: at + 1,
        outcome: !last ? 'unanswered' : refused ? 'rejected' : delivery.duplicate ? 'duplicate' : 'accepted',
        message: !last ? 'The relay closed the connection (1006).' : refused ? delivery.message : null,
        query: null,
      });
      if (!last || refused) continue;
      const found = delivery.state === 'verified';
      for (let look = 0; look < (found ? 1 : 2); look += 1) {
        steps.push({
          type: 'read-back',
          at: at + 2 + look * 10,
          completedAt: at + 3 + look * 10,
          outcome: found ? 'found' : delivery.state === 'unverified' ? 'not-found' : 'inconclusive',
          message: found ? null : 'The relay ended the answer with EOSE.',
          query: 51_200 + look,
        });
      }
    }
    return { ...delivery, run, steps };
  }

  #totals(run: number, relay: string | null): DeliveryTotals {
    const totals = { pending: 0, sent: 0, accepted: 0, rejected: 0, verified: 0, unverified: 0, withdrawn: 0 };
    for (let index = 0; index < this.#size(run); index += 1) {
      if (relay === null || RELAYS[index % RELAYS.length] === relay)
        totals[standing(run, index, this.#size(run))[0]] += 1;
    }
    return totals;
  }

  report(run: number, account: string): SyncReport {
    const reasons = new Map<string, SyncReport['reasons'][number]>();
    let refused = 0;
    for (let index = 0; index < this.#size(run); index += 1) {
      const [state, reason] = standing(run, index, this.#size(run));
      if (reason === null) continue;
      const entry = reasons.get(`${state} ${reason}`) ?? { state, reason, count: 0 };
      reasons.set(`${state} ${reason}`, { ...entry, count: entry.count + 1 });
      if (state === 'rejected' && reason !== 'auth-required') refused += 1;
    }
    const active = run === RUNNING_SYNC;
    return {
      run,
      account,
      status: active ? 'active' : 'partial',
      startedAt: active ? this.#now - 47 : this.#now - 3 * 3600,
      finishedAt: active ? null : this.#now - 3 * 3600 + 512,
      resumed: false,
      reverification: active ? null : this.#reverification(),
      narrowing: active ? {} : { kinds: [1, 7, 30_023], since: this.#now - 1500 * DAY },
      totals: this.#totals(run, null),
      reasons: [...reasons.values()],
      relays: RELAYS.map((url) => ({ url, totals: this.#totals(run, url) })),
      resumable: !active,
      refused,
    };
  }

  /** A sample, of which one copy is gone. */
  #reverification(): Reverification {
    return { begunAt: this.#now - 200, endedAt: this.#now - 185, copies: 100, returned: 99, missing: 1 };
  }

  summary(run: number, account: string): RunSummary {
    const { status, startedAt, finishedAt, totals, resumable, reverification } = this.report(run, account);
    return {
      id: run,
      type: 'sync',
      account,
      status,
      startedAt,
      finishedAt,
      resumed: false,
      reverification,
      boundary: startedAt,
      limit: 100,
      strategy: 'auto',
      found: 0,
      newlyArchived: 0,
      resumable,
      warnings: [],
      relays: [],
      deliveries: totals,
    };
  }

  /** The running sync, one relay in each state that there is. */
  progress(account: string): RunProgress {
    const relay = (url: string, part: Partial<RelayProgress>): RelayProgress => ({
      url,
      state: 'sending',
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
      deliveries: this.#totals(RUNNING_SYNC, url),
      ...part,
    });
    return {
      run: RUNNING_SYNC,
      type: 'sync',
      account,
      startedAt: this.#now - 47,
      found: 0,
      newlyArchived: 0,
      rate: 0,
      relays: [
        relay(RELAYS[0] ?? '', { state: 'reading-back' }),
        relay(RELAYS[1] ?? '', {
          state: 'cooling-down',
          waitingUntil: this.#now + 41,
          reason: 'rate-limited: you are noting too much',
        }),
        relay(RELAYS[2] ?? '', { state: 'sending' }),
      ],
      deliveries: this.#totals(RUNNING_SYNC, null),
    };
  }

  exported(run: number, format: 'json' | 'csv'): string {
    return format === 'json' ? JSON.stringify(this.report(run, '')) : 'event,kind,relay,state,reason\r\n';
  }
}
