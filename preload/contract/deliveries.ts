/** How deliveries stand, one by one and added up. */

/**
 * How a delivery stands. `sent`: no OK came, or none yet, so only reading it back can tell. `accepted` is the relay's word,
 * `verified` what reading it back showed. `withdrawn`: it may not or need not be sent any more.
 */
export type DeliveryState = 'pending' | 'sent' | 'accepted' | 'rejected' | 'verified' | 'unverified' | 'withdrawn';

/**
 * What came of looking once more for copies that were verified, the last time that a person asked for it. Copies that are
 * neither returned nor missing could not be looked for, or not yet.
 */
export interface Reverification {
  begunAt: number;
  /** Null while it goes on. */
  endedAt: number | null;
  /** How many copies were to be looked for. */
  copies: number;
  returned: number;
  /** Asked for twice and not returned any more: unverified now. */
  missing: number;
}

/** Deliveries by state; they add up to all deliveries of the run. */
export type DeliveryTotals = Record<DeliveryState, number>;
