import type { AccountSummary, CandidateRelay, CandidateTree, Narrowing } from '../../preload/contract.ts';
import { isNarrowed } from '../sync/narrowing.ts';
import { ignorance, sayNothingToSend, whatThereIsInstead } from '../sync/nothing-to-send.ts';
import { accountName } from './account-lookup.ts';
import { formatCellTime, formatCount, formatQuantity, formatTime, singleLine } from './plain-text.ts';
import { tableLines } from './text-table.ts';

const INDENT = '  ';

/**
 * The candidates for a person: relays, under each the kinds of which it lacks copies, and what is not offered.
 *
 * @param about.whole the candidates without the narrowing, for the case that it selects nothing.
 */
export function* candidateLines(
  tree: CandidateTree,
  about: { narrowing: Narrowing; whole: CandidateTree },
  account: AccountSummary,
): Generator<string> {
  const name = accountName(account);
  if (tree.total === 0) yield `${name}: ${sayNothingToSend({ tree, ...about }).message}\n`;
  else yield `${name}: ${formatQuantity(tree.total, 'missing copy', 'missing copies')} may be sent\n`;

  // One table over all relays, so that the columns of all of them stand in line.
  const [title = '', ...rows] = kindTable(tree.relays.flatMap(({ kinds }) => kinds));
  let next = 0;
  for (const relay of tree.relays) {
    yield `\n${relayLine(relay)}\n`;
    if (relay.kinds.length > 0) yield `${INDENT}${title}\n`;
    for (const _ of relay.kinds) yield `${INDENT}${rows[next++] ?? ''}\n`;
  }
  const sentences = tree.total === 0 ? [] : [...whatThereIsInstead(tree), ignorance(tree).trim()].filter(isSaid);
  if (sentences.length > 0) yield `\n${sentences.map((sentence) => `${sentence}\n`).join('')}`;
}

function isSaid(sentence: string): boolean {
  return sentence !== '';
}

const NOT_COMPARED = {
  'never-asked': 'never asked: fetch first',
  unanswered: 'asked, and never answered: fetch first',
  unfinished: 'not compared to the end: fetch first',
};

function relayLine({ url, count, observedAt, comparison, refused, undetermined }: CandidateRelay): string {
  const facts: string[] = [];
  if (count > 0) facts.push(`${formatCount(count)} missing`);
  if (comparison !== 'compared') facts.push(NOT_COMPARED[comparison]);
  else if (count === 0 && refused === 0) facts.push('nothing missing');
  if (refused > 0) facts.push(`${formatCount(refused)} missing that it refused before`);
  if (observedAt !== null) facts.push(`as of ${formatTime(observedAt)}`);
  if (undetermined !== null && undetermined > 0) facts.push(`${formatCount(undetermined)} undetermined`);
  return `${singleLine(url)} (${facts.join(', ')})`;
}

function kindTable(kinds: CandidateRelay['kinds']): string[] {
  return tableLines(
    [{ title: 'kind', align: 'right' }, { title: 'missing', align: 'right' }, { title: 'observed (UTC)' }],
    kinds.map(({ kind, count, observedAt }) => [String(kind), formatCount(count), formatCellTime(observedAt)]),
  );
}

/** What can be done about it, or null. */
export function nextStep(
  tree: CandidateTree,
  narrowing: Narrowing,
  { npub }: Pick<AccountSummary, 'npub'>,
): string | null {
  if (tree.relays.length === 0) return `add write relays with: holdfast account relays ${npub} --write URL`;
  if (tree.total > 0) {
    return `send them with: holdfast sync ${npub}${isNarrowed(narrowing) ? ' and the same narrowing' : ''}`;
  }
  const isOpen = tree.relays.some(
    ({ comparison, undetermined }) => comparison !== 'compared' || (undetermined !== null && undetermined > 0),
  );
  return isOpen ? `find out what relays have with: holdfast fetch ${npub}` : null;
}
