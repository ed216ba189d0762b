import type {
  CopiesSummary,
  CoverageAttempt,
  CoverageRange,
  CoverageRelay,
  CoverageTree,
  LegacyCoverageLine,
  Strategy,
} from '../../preload/contract.ts';
import { formatCellTime, formatCount, formatDate, formatQuantity, formatTime, singleLine } from './plain-text.ts';
import type { Session } from './session.ts';
import { alignedLines, tableLines } from './text-table.ts';

const INDENT = '  ';
const DETAIL_INDENT = '         ';

/** The coverage tree for a person: relays, their ranges in one table, and under each range what it rests on. */
export async function* coverageLines(
  session: Session,
  tree: CoverageTree,
  copies: CopiesSummary,
  name: string,
): AsyncGenerator<string> {
  const { events, oldest, newest } = tree.archive;
  const span = events === 0 ? '' : `, ${formatDate(oldest)} to ${formatDate(newest)}`;
  yield `${name}: ${formatQuantity(events, 'event')} archived${span}\n`;
  if (events > 0) yield `${INDENT}copies: ${copiesOfAccount(copies)}\n`;
  if (tree.relays.length === 0)
    yield '\nNo relays to fetch from. Add some with: holdfast account relays KEY --write URL\n';

  // One table over all relays, so that the columns of all of them stand in line.
  const [title = '', ...rows] = rangeTable(tree.relays.flatMap((relay) => relay.ranges));
  let next = 0;
  for (const relay of tree.relays) {
    yield `\n${relayLine(relay)}\n`;
    const held = copies.relays.find(({ url }) => url === relay.url);
    if (events > 0 && held !== undefined) yield `${INDENT}copies: ${copiesOnRelay(held)}\n`;
    if (relay.legacy !== null) yield `${INDENT}${legacySentence(relay.legacy)}\n`;
    if (relay.ranges.length === 0) yield `${INDENT}nothing was fetched yet\n`;
    else yield `${INDENT}${title}\n`;
    for (const range of relay.ranges) {
      yield `${INDENT}${rows[next++] ?? ''}\n`;
      for (const line of await rangeDetails(session, range)) yield `${DETAIL_INDENT}${line}\n`;
    }
  }
}

function relayLine(relay: CoverageRelay): string {
  const facts = [relay.role, relay.historyComplete ? 'history complete' : 'history not complete'];
  if (relay.forwardBoundary !== null) facts.push(`newer events fetched up to ${formatTime(relay.forwardBoundary)}`);
  if (relay.invalidObservations > 0) facts.push(formatQuantity(relay.invalidObservations, 'invalid observation'));
  return `${singleLine(relay.url)} (${facts.join(', ')})`;
}

/** What the first version said of a relay: word of mouth, and nothing rests on it. */
function legacySentence({ status, oldest, newest, events }: LegacyCoverageLine): string {
  const span = oldest === null || newest === null ? '' : `, ${formatDate(oldest)} to ${formatDate(newest)}`;
  const said = `${singleLine(status)}, ${formatQuantity(events, 'event')}${span}`;
  return `the first version said: ${said}; it did not record how it knew`;
}

/** How many source relays hold the archived events, as far as is known. */
function copiesOfAccount({ none, one, two, more, undetermined, past }: CopiesSummary): string {
  const parts = [
    `${formatCount(none - undetermined)} on no relay${past === 0 ? '' : ` (${formatCount(past)} replaced or deleted)`}`,
    `${formatCount(one)} on one`,
    `${formatCount(two)} on two`,
    `${formatCount(more)} on three or more`,
  ];
  if (undetermined > 0) parts.push(`${formatCount(undetermined)} undetermined`);
  return parts.join(', ');
}

function copiesOnRelay({ present, absent, undetermined, past }: CopiesSummary['relays'][number]): string {
  const gone = past.absent === 0 ? '' : ` (${formatCount(past.absent)} replaced or deleted)`;
  return `${formatCount(present)} present, ${formatCount(absent)} absent${gone}, ${formatCount(undetermined)} undetermined`;
}

function rangeTable(ranges: readonly CoverageRange[]): string[] {
  return tableLines(
    [
      { title: 'range', align: 'right' },
      { title: 'from (UTC)' },
      { title: 'to (UTC)' },
      { title: 'status' },
      { title: 'found', align: 'right' },
      { title: 'fetched', align: 'right' },
      { title: 'not fetched', align: 'right' },
      { title: 'checked (UTC)' },
      { title: 'strategy' },
    ],
    ranges.map((range) => [
      String(range.id),
      formatCellTime(range.since, 'Beginning'),
      formatCellTime(range.until),
      range.status,
      formatCount(range.found),
      formatCount(range.fetched),
      formatCount(range.notFetched),
      formatCellTime(range.checkedAt, 'never'),
      strategyName(range.strategy),
    ]),
  );
}

async function rangeDetails(session: Session, range: CoverageRange): Promise<string[]> {
  const lines: string[] = [];
  if (range.reason !== null) lines.push(singleLine(range.reason));
  if (range.closedBy !== null)
    lines.push(`range ${range.closedBy} covers all of it and is complete, so nothing is left to do here`);
  const kinds = Object.entries(range.kinds).sort(([a, many], [b, few]) => few - many || Number(a) - Number(b));
  if (kinds.length > 0) {
    lines.push(`kinds  ${kinds.map(([kind, count]) => `${kind}: ${formatCount(count)}`).join('  ')}`);
  }
  const attempts = await session.call('coverage.attempts', { range: range.id });
  const columns = [{}, {}, {}, {}, {}, { align: 'right' } as const, {}, {}];
  return [
    ...lines,
    ...alignedLines(
      columns,
      attempts.map((attempt) => attemptCells(attempt, attempts)),
    ),
  ];
}

function attemptCells(attempt: CoverageAttempt, attempts: readonly CoverageAttempt[]): string[] {
  const prior = attempts.find(({ id }) => id === attempt.prior);
  const isReplaced = attempts.some((later) => later.prior === attempt.id && takesOver(later, attempt));
  return [
    `attempt ${attempt.id}`,
    `run ${attempt.run}`,
    formatTime(attempt.startedAt),
    strategyName(attempt.strategy),
    isReplaced ? 'paged instead' : attempt.status,
    formatQuantity(attempt.queryCount, 'query', 'queries'),
    `limit ${formatCount(attempt.limit)}`,
    isReplaced ? singleLine(attempt.reason ?? '') : relationTo(prior, attempt),
  ];
}

function relationTo(prior: CoverageAttempt | undefined, attempt: CoverageAttempt): string {
  if (attempt.prior === null) return '';
  if (attempt.continued) return `continues attempt ${attempt.prior}`;
  return `${prior !== undefined && takesOver(attempt, prior) ? 'instead of' : 'repeats'} attempt ${attempt.prior}`;
}

/** A relay that does not compare is paged in the same run: the first attempt only found that out, and has not failed. */
function takesOver(later: CoverageAttempt, earlier: CoverageAttempt): boolean {
  return (
    later.run === earlier.run &&
    later.strategy === 'paging' &&
    earlier.strategy === 'negentropy' &&
    earlier.status !== 'complete'
  );
}

function strategyName(strategy: Strategy): string {
  switch (strategy) {
    case 'negentropy':
      return 'NIP-77';
    case 'paging':
      return 'paging';
    case 'legacy-windows':
      return 'legacy windows';
  }
}
