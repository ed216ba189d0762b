import { PAGE_LIMIT } from '../../preload/contract.ts';
import { Fault } from './fault.ts';

/** @throws Fault `invalid-argument` for everything that is no page limit. */
export function checkPageLimit(limit: unknown): asserts limit is number {
  const { smallest, largest } = PAGE_LIMIT;
  if (Number.isInteger(limit) && Number(limit) >= smallest && Number(limit) <= largest) return;
  throw new Fault(
    'invalid-argument',
    `The page limit must be a whole number from ${smallest} to ${largest}, not ${String(limit)}.`,
    { limit },
  );
}
