import type { LegacyProblem } from '../../preload/contract.ts';

/** What is remarkable about a row. */
export interface Remark {
  problem: LegacyProblem;
  /** One plain sentence. */
  detail: string;
}

/**
 * What became of a row. `carried`: it stands in the new tables; `merged`: what it says stood there already; `aside`: it is
 * kept whole, and nothing was made of it; `information`: it is kept as word from the past.
 */
export interface RowFate {
  outcome: 'carried' | 'merged' | 'aside' | 'information';
  remarks: Remark[];
}

/** A row that cannot be right. */
export function aside(problem: LegacyProblem, detail: string, more: readonly Remark[] = []): RowFate {
  return { outcome: 'aside', remarks: [{ problem, detail }, ...more] };
}
