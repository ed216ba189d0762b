import type { CoverageAttempt, CoverageRange } from '../../preload/contract.ts';
import { formatCount } from '../text/numbers.ts';
import { rangeStatus, standing, status, type Status } from '../text/status.ts';
import type { AttemptRelation } from './rows.ts';

/** The status of an attempt. A comparison that paging took over from is told as that, not as a failure. */
export function attemptStatus(
  attempt: Pick<CoverageAttempt, 'status' | 'strategy'>,
  relation: AttemptRelation,
): Status {
  return relation.replacedBy === null
    ? standing({ ...attempt, closedBy: null })
    : status('quiet', 'stopped', 'Fell back');
}

/** Windows of the first version, all those on a relay together. That all were asked completes nothing, so it warns of nothing either. */
export function oldWindowsStatus(ranges: readonly Pick<CoverageRange, 'status'>[]): Status {
  const left = ranges.filter((range) => range.status === 'partial' || range.status === 'failed').length;
  if (ranges.some((range) => range.status === 'active')) return rangeStatus('active');
  return left === 0 ? status('quiet', 'check', 'All asked') : status('warn', 'half', `${formatCount(left)} unfinished`);
}

/** How an attempt stands to an earlier one, for its row: "continues attempt 3"; null for a first attempt. */
export function relationPhrase(relation: AttemptRelation): string | null {
  if (relation.replacedBy !== null) return `attempt ${relation.replacedBy} paged instead`;
  if (relation.prior === null) return null;
  const { number, how } = relation.prior;
  return how === 'instead-of' ? `instead of attempt ${number}` : `${how} attempt ${number}`;
}

/** The same as whole sentences, for the details. */
export function relationSentences(relation: AttemptRelation): string[] {
  const sentences: string[] = [];
  if (relation.prior !== null) {
    const { number, how } = relation.prior;
    const said = {
      continues: `Continues attempt ${number} from where it stood.`,
      repeats: `Repeats attempt ${number}; what that one found is kept.`,
      'instead-of': `The comparison of attempt ${number} could not be made, so the same stretch was asked for page by page. Nothing is lost by that; it only transfers more.`,
    };
    sentences.push(said[how]);
  }
  if (relation.replacedBy !== null) {
    sentences.push(`Attempt ${relation.replacedBy} of the same run asked page by page instead.`);
  }
  return sentences;
}
