import type { Narrowing } from '../../preload/contract.ts';
import { formatSecond } from '../platform/format-second.ts';
import { Fault } from '../platform/fault.ts';

/** @throws Fault `invalid-argument` for a time that ends before it begins. */
export function checkNarrowing({ since, until }: Pick<Narrowing, 'since' | 'until'>): void {
  if (since === undefined || until === undefined || since <= until) return;
  throw new Fault(
    'invalid-argument',
    `The time ends before it begins: it begins with ${formatSecond(since)} and ends with ${formatSecond(until)}.`,
    { since, until },
  );
}

/** Whether anything is left out by a narrowing. */
export function isNarrowed({ relays, kinds, since, until }: Narrowing): boolean {
  return relays !== undefined || kinds !== undefined || since !== undefined || until !== undefined;
}
