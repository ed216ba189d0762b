import { PAGE_LIMIT, REQUEST_BUDGET } from '../../preload/contract.ts';
import { formatCount } from '../text/numbers.ts';

/** What is wrong with a page limit, in one sentence; null when it can be used. An empty field comes as null. */
export function limitProblem(limit: number | null | undefined): string | null {
  return withinProblem('A page holds', limit, PAGE_LIMIT.smallest, PAGE_LIMIT.largest);
}

/** What is wrong with a request budget; null when it can be used. */
export function budgetProblem(budget: number | null | undefined): string | null {
  return withinProblem('The budget is', budget, REQUEST_BUDGET.smallest, REQUEST_BUDGET.largest);
}

function withinProblem(subject: string, value: number | null | undefined, least: number, most: number): string | null {
  if (value != null && Number.isInteger(value) && value >= least && value <= most) return null;
  return `${subject} a whole number from ${least} to ${formatCount(most)}.`;
}
