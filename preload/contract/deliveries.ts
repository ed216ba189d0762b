/** How deliveries stand, one by one and added up. */

/**
 * How a delivery stands. `sent`: no OK came, or none yet, so only reading it back can tell. `accepted` is the relay's word,
 * `verified` what reading it back showed. `withdrawn`: it may not or need not be sent any more.
 */
export type DeliveryState = 'pending' | 'sent' | 'accepted' | 'rejected' | 'verified' | 'unverified' | 'withdrawn';

/** Deliveries by state; they add up to all deliveries of the run. */
export type DeliveryTotals = Record<DeliveryState, number>;
