import type {
  Delivery,
  DeliveryReason,
  DeliveryState,
  HoldfastApi,
  Methods,
  SyncReport,
} from '../../preload/contract.ts';
import { ListPages } from '../state/list-pages.ts';
import { deliveryStates } from '../text/deliveries.ts';

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

/** The deliveries of a run that match a filter, fetched as they come into view. */
export class DeliveryPages extends ListPages<Delivery> {
  /** `onChange` is called whenever something arrived. */
  constructor(api: Pick<HoldfastApi, 'call'>, run: number, filter: DeliveryFilter, onChange: () => void) {
    const args: Methods['sync.deliveries']['args'] = { run };
    if (filter.states.length > 0) args.states = [...filter.states];
    if (filter.reason !== null) args.reason = filter.reason;
    if (filter.relay !== null) args.relay = filter.relay;
    super(async (offset, limit) => {
      const { total, deliveries } = await api.call('sync.deliveries', { ...args, offset, limit });
      return { total, items: deliveries };
    }, onChange);
  }
}
