import { formatCount } from '../text/numbers.ts';

/** A page of one event could never show that a second holds more than it. */
export const LIMIT_MINIMUM = 2;

/** The largest page that is worth asking a relay for. */
export const LIMIT_MAXIMUM = 5000;

/** The most requests that may be open on one relay connection. */
export const BUDGET_MAXIMUM = 100;

/** What is wrong with a page limit, in one sentence; null when it can be used. An empty field comes as null. */
export function limitProblem(limit: number | null | undefined): string | null {
  return withinProblem('A page holds', limit, LIMIT_MINIMUM, LIMIT_MAXIMUM);
}

/** What is wrong with a request budget; null when it can be used. */
export function budgetProblem(budget: number | null | undefined): string | null {
  return withinProblem('The budget is', budget, 1, BUDGET_MAXIMUM);
}

function withinProblem(subject: string, value: number | null | undefined, least: number, most: number): string | null {
  if (value != null && Number.isInteger(value) && value >= least && value <= most) return null;
  return `${subject} a whole number from ${least} to ${formatCount(most)}.`;
}
