import type {
  ContractError,
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
} from '../../preload/contract.ts';
import { sortedKinds } from '../text/event-kinds.ts';
import { countOf } from '../text/numbers.ts';
import { unfinishedReason } from '../text/sentences.ts';
import { formatSecond } from '../text/times.ts';

interface RowBase {
  key: string;
  level: number;
  /** Null for a row that cannot be opened. */
  open: boolean | null;
}

/** One visible row of the coverage tree: relay, range, its facts, kinds, attempts, and their queries. */
export type CoverageRow = RowBase &
  (
    | { type: 'relay'; relay: CoverageRelay }
    | { type: 'range'; relay: CoverageRelay; range: CoverageRange }
    | { type: 'note'; tone: 'warn' | 'bad' | 'quiet'; text: string; range: CoverageRange | null; offer: Offer | null }
    | { type: 'range-facts'; range: CoverageRange; latest: CoverageAttempt | null }
    | { type: 'kinds'; range: CoverageRange }
    | { type: 'kind'; kind: number; count: number }
    | { type: 'attempts'; range: CoverageRange }
    | { type: 'attempt'; attempt: CoverageAttempt; number: number }
    | { type: 'attempt-facts'; attempt: CoverageAttempt; prior: number | null }
    | { type: 'query'; attempt: CoverageAttempt; index: number; query: CoverageQuery | ContractError | undefined }
    | { type: 'query-facts'; query: CoverageQuery }
    | { type: 'pending'; text: string }
  );

/** The one thing that helps with a note. */
export type Offer = 'resume' | 'larger-page';

/** What the flattening needs to know beside the tree. */
export interface RowSources {
  isOpen(key: string): boolean;
  attempts(range: number): { attempts: readonly CoverageAttempt[] | null; error: ContractError | null } | undefined;
  query(attempt: number, index: number): CoverageQuery | ContractError | undefined;
}

/** True for a failed lookup, as opposed to a query row. */
export function isLookupError(value: CoverageQuery | ContractError): value is ContractError {
  return 'code' in value;
}

/**
 * The tree as the rows that are visible now. Ranges stand in the order of time, attempts newest first; a query that
 * is not here yet has a row all the same, so that nothing moves when it arrives.
 */
export function coverageRows(relays: readonly CoverageRelay[], sources: RowSources): CoverageRow[] {
  const rows: CoverageRow[] = [];
  for (const relay of relays) {
    const key = `relay ${relay.url}`;
    const open = sources.isOpen(key);
    rows.push({ type: 'relay', key, level: 1, open, relay });
    if (open) addRelay(rows, relay, sources);
  }
  return rows;
}

function note(
  key: string,
  level: number,
  tone: 'warn' | 'bad' | 'quiet',
  text: string,
  range: CoverageRange | null = null,
  offer: Offer | null = null,
): CoverageRow {
  return { type: 'note', key, level, open: null, tone, text, range, offer };
}

function addRelay(rows: CoverageRow[], relay: CoverageRelay, sources: RowSources): void {
  if (relay.invalidObservations > 0) {
    const text = `${countOf(relay.invalidObservations, 'delivery', 'deliveries')} from this relay ${
      relay.invalidObservations === 1 ? 'was' : 'were'
    } malformed, wrongly signed or not what was asked for. None was stored, and none counts as found.`;
    rows.push(note(`invalid ${relay.url}`, 2, 'warn', text));
  }
  if (relay.ranges.length === 0) {
    rows.push(note(`empty ${relay.url}`, 2, 'quiet', 'Never asked. Its ranges will stand here after the first fetch.'));
  }
  const ordered = [...relay.ranges].sort(
    (left, right) =>
      (left.since ?? -Infinity) - (right.since ?? -Infinity) || left.until - right.until || left.id - right.id,
  );
  for (const range of ordered) {
    const key = `range ${range.id}`;
    const open = sources.isOpen(key);
    rows.push({ type: 'range', key, level: 2, open, relay, range });
    if (open) addRange(rows, range, sources);
  }
}

function addRange(rows: CoverageRow[], range: CoverageRange, sources: RowSources): void {
  const id = range.id;
  const saturated = range.saturatedSeconds.length > 0;
  if (range.status === 'partial' || range.status === 'failed') {
    const tone = range.status === 'failed' ? 'bad' : 'warn';
    const offer = range.resumable ? 'resume' : saturated ? 'larger-page' : null;
    rows.push(note(`reason ${id}`, 3, tone, unfinishedReason(range), range, offer));
  }
  if (saturated && (range.resumable || range.status === 'complete' || range.status === 'active')) {
    rows.push(note(`saturated ${id}`, 3, 'warn', saturationSentence(range), range, 'larger-page'));
  }
  if (range.notFetched > 0 && range.status === 'complete') {
    const text = `${countOf(range.notFetched, 'event')} named by the relay ${
      range.notFetched === 1 ? 'has' : 'have'
    } not arrived as a valid body yet.`;
    rows.push(note(`bodies ${id}`, 3, 'warn', text, range, range.resumable ? 'resume' : null));
  }
  const known = sources.attempts(id);
  rows.push({
    type: 'range-facts',
    key: `facts ${id}`,
    level: 3,
    open: null,
    range,
    latest: known?.attempts?.[0] ?? null,
  });

  const kinds = sortedKinds(range.kinds);
  if (kinds.length > 0) {
    const key = `kinds ${id}`;
    const open = sources.isOpen(key);
    rows.push({ type: 'kinds', key, level: 3, open, range });
    if (open) {
      for (const { kind, count } of kinds) {
        rows.push({ type: 'kind', key: `kind ${id} ${kind}`, level: 4, open: null, kind, count });
      }
    }
  }

  const key = `attempts ${id}`;
  const open = sources.isOpen(key);
  rows.push({ type: 'attempts', key, level: 3, open, range });
  if (!open) return;
  if (known?.error) {
    rows.push(note(`attempts-error ${id}`, 4, 'bad', `The attempts cannot be shown: ${known.error.message}`));
  } else if (!known?.attempts) {
    rows.push({ type: 'pending', key: `attempts-pending ${id}`, level: 4, open: null, text: 'Loading attempts…' });
  }
  const attempts = known?.attempts ?? [];
  attempts.forEach((attempt, position) => {
    addAttempt(rows, attempt, attempts.length - position, attempts, sources);
  });
}

function addAttempt(
  rows: CoverageRow[],
  attempt: CoverageAttempt,
  number: number,
  all: readonly CoverageAttempt[],
  sources: RowSources,
): void {
  const key = `attempt ${attempt.id}`;
  const open = sources.isOpen(key);
  rows.push({ type: 'attempt', key, level: 4, open, attempt, number });
  if (!open) return;
  const priorPosition = all.findIndex((candidate) => candidate.id === attempt.prior);
  const prior = priorPosition === -1 ? null : all.length - priorPosition;
  rows.push({ type: 'attempt-facts', key: `attempt-facts ${attempt.id}`, level: 5, open: null, attempt, prior });
  for (let index = 0; index < attempt.queryCount; index += 1) {
    const queryKey = `query ${attempt.id} ${index}`;
    const query = sources.query(attempt.id, index);
    const loaded = query !== undefined && !isLookupError(query);
    const queryOpen = sources.isOpen(queryKey);
    rows.push({ type: 'query', key: queryKey, level: 5, open: queryOpen, attempt, index, query });
    if (queryOpen && loaded) {
      rows.push({ type: 'query-facts', key: `query-facts ${attempt.id} ${index}`, level: 6, open: null, query });
    }
  }
}

/** Names the seconds that one page cannot carry, the first three of them, in local time. */
export function saturationSentence(range: Pick<CoverageRange, 'saturatedSeconds'>, timeZone?: string): string {
  const seconds = range.saturatedSeconds;
  const named = seconds
    .slice(0, 3)
    .map((second) => formatSecond(second, timeZone))
    .join(', ');
  const more = seconds.length > 3 ? ` and ${countOf(seconds.length - 3, 'more', 'more')}` : '';
  return seconds.length === 1
    ? `The second ${named} holds more events than a page can carry, so some of them may be missing here.`
    : `${countOf(seconds.length, 'second')} (${named}${more}) hold more events than a page can carry, so some of them may be missing here.`;
}

/** Where a row's parent stands among the rows, or -1 for a row of the first level. */
export function parentIndex(rows: readonly CoverageRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let candidate = index - 1; candidate >= 0; candidate -= 1) {
    if ((rows[candidate]?.level ?? 1) < level) return candidate;
  }
  return -1;
}
