import type { HoldfastApi, LegacyProblem, LegacyRemark, Methods } from '../../preload/contract.ts';
import { ListPages } from '../state/list-pages.ts';

/** Which remarks on rows of the first version are listed; null is any. */
export interface RemarkFilter {
  table: string | null;
  problem: LegacyProblem | null;
}

/** All remarks. */
export const anyRemark: RemarkFilter = { table: null, problem: null };

/** The remarks on a database that match a filter, fetched as they come into view; `onChange` when something arrived. */
export function remarkPages(
  api: Pick<HoldfastApi, 'call'>,
  source: number,
  { table, problem }: RemarkFilter,
  onChange: () => void,
): ListPages<LegacyRemark> {
  const args: Methods['legacy.remarks']['args'] = { source };
  if (table !== null) args.table = table;
  if (problem !== null) args.problem = problem;
  return new ListPages(async (offset, limit) => {
    const { total, remarks } = await api.call('legacy.remarks', { ...args, offset, limit });
    return { total, items: remarks };
  }, onChange);
}
