/** What was learned about a relay's limits. Hints only: they choose what is asked, they never prove anything. */
export interface RelayHints {
  /** The largest page the relay was seen to carry while it held more. */
  observedCap: number | null;
  /** A `limit` it accepted after it had refused a larger one. */
  acceptedLimit: number | null;
  /** `max_limit` of its NIP-11 document. */
  maxLimit: number | null;
}

export const NO_HINTS: Readonly<RelayHints> = { observedCap: null, acceptedLimit: null, maxLimit: null };
