import type {
  ContractError,
  Delivery,
  DeliveryReason,
  DeliveryState,
  HoldfastApi,
  Methods,
  SyncReport,
} from '../../preload/contract.ts';
import { deliveryStates } from '../text/deliveries.ts';
import { asContractError } from '../transport/connection.ts';

/** Which deliveries of a run are listed; an empty list of states is all of them. */
export interface DeliveryFilter {
  states: readonly DeliveryState[];
  reason: DeliveryReason | null;
  relay: string | null;
}

/** All deliveries. */
export const noFilter: DeliveryFilter = { states: [], reason: null, relay: null };

/** True when rows leave and enter the list while a sync goes on. */
export function isMoving({ states, reason }: DeliveryFilter): boolean {
  return states.length > 0 || reason !== null;
}

/** How many deliveries match by the report; null when the report does not say, since it counts reasons over all relays. */
export function matching(report: SyncReport, { states, reason, relay }: DeliveryFilter): number | null {
  const wanted = states.length === 0 ? deliveryStates : states;
  if (reason !== null) {
    if (relay !== null) return null;
    return report.reasons
      .filter((each) => each.reason === reason && wanted.includes(each.state))
      .reduce((sum, each) => sum + each.count, 0);
  }
  const totals = relay === null ? report.totals : report.relays.find(({ url }) => url === relay)?.totals;
  return totals === undefined ? 0 : wanted.reduce((sum, state) => sum + totals[state], 0);
}

const PAGE = 100;

/** Pages that are asked for at a time; those that were scrolled past meanwhile are never asked for. */
const SIDE_BY_SIDE = 2;

/** The deliveries of a run that match a filter, fetched as they come into view. */
export class DeliveryPages {
  readonly #api: Pick<HoldfastApi, 'call'>;
  readonly #args: Methods['sync.deliveries']['args'];
  readonly #onChange: () => void;
  readonly #pages = new Map<number, readonly Delivery[]>();
  readonly #stale = new Set<number>();
  readonly #asked = new Set<number>();
  readonly #failed = new Set<number>();
  #window: [first: number, last: number] = [0, 0];
  #total: number | null = null;
  #error: ContractError | null = null;

  /** `onChange` is called whenever something arrived. */
  constructor(api: Pick<HoldfastApi, 'call'>, run: number, filter: DeliveryFilter, onChange: () => void) {
    this.#api = api;
    this.#onChange = onChange;
    this.#args = { run, limit: PAGE };
    if (filter.states.length > 0) this.#args.states = [...filter.states];
    if (filter.reason !== null) this.#args.reason = filter.reason;
    if (filter.relay !== null) this.#args.relay = filter.relay;
  }

  /** How many match; null until the first page came. */
  get total(): number | null {
    return this.#total;
  }

  /** Why a page could not be had; null when all came. */
  get error(): ContractError | null {
    return this.#error;
  }

  /** The delivery at a place of the list; undefined while it is on its way. */
  at(index: number): Delivery | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Asks for what these places hold, unless it is here. */
  want(first: number, last: number): void {
    this.#window = [Math.floor(first / PAGE), Math.floor(last / PAGE)];
    this.#ask();
  }

  /** Asks again for everything that comes into view; what is here stays until then. */
  refresh(): void {
    for (const page of this.#pages.keys()) this.#stale.add(page);
    this.#failed.clear();
    this.#error = null;
    this.#ask();
  }

  #ask(): void {
    const [first, last] = this.#window;
    for (let page = first; page <= last && this.#asked.size < SIDE_BY_SIDE; page += 1) {
      const settled = this.#pages.has(page) && !this.#stale.has(page);
      if (!settled && !this.#asked.has(page) && !this.#failed.has(page)) void this.#load(page);
    }
  }

  async #load(page: number): Promise<void> {
    this.#asked.add(page);
    this.#stale.delete(page);
    try {
      const found = await this.#api.call('sync.deliveries', { ...this.#args, offset: page * PAGE });
      this.#total = found.total;
      this.#pages.set(page, found.deliveries);
    } catch (thrown) {
      this.#failed.add(page);
      this.#error = asContractError(thrown);
    }
    this.#asked.delete(page);
    this.#onChange();
    this.#ask();
  }
}
