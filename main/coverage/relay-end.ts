import type { RangeStatus } from '../../preload/contract.ts';

/** How a relay's share of a run ended: the worst of its ranges, and when unfinished, why. */
export interface RelayEnd {
  status: Exclude<RangeStatus, 'active'>;
  reason: string | null;
}
