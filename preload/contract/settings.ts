/** What a person may choose, and its bounds. */

/** What a page may be asked to carry, everywhere: a page of one event could never get past a second with two. */
export const PAGE_LIMIT = { smallest: 2, largest: 5000 } as const;

/** How many requests may be open on one relay connection. */
export const REQUEST_BUDGET = { smallest: 1, largest: 100 } as const;

export interface Settings {
  /** Within {@link PAGE_LIMIT}. */
  pageLimit: number;
  /** Where relay lists are looked up (NIP-65). */
  indexRelays: string[];
  theme: 'system' | 'light' | 'dark';
  /** Open requests per relay connection at the most; within {@link REQUEST_BUDGET}. */
  requestBudget: number;
}
