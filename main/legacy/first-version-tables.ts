/**
 * The tables of the first version in the order in which they are carried over: what others refer to goes first, and
 * bodies go before what was seen of them.
 */
export const FIRST_VERSION_ORDER = [
  'accounts',
  'account_relays',
  'publication_versions',
  'events',
  'presence',
  'coverage',
  'operations',
] as const;

export type FirstVersionTable = (typeof FIRST_VERSION_ORDER)[number];
