import type {
  ContractError,
  CoverageAttempt,
  CoverageQuery,
  CoverageRange,
  CoverageRelay,
} from '../../preload/contract.ts';
import { sortedKinds } from '../text/event-kinds.ts';
import { legacyLine } from '../text/legacy.ts';
import { countOf, formatCount } from '../text/numbers.ts';
import { largerLimit, unfinishedReason } from '../text/sentences.ts';
import { formatBoundsAmong, formatSecond } from '../text/times.ts';
import type { MonthCount } from './month-columns.ts';
import { isOldWindows, oldWindows, walkedRanges } from './old-windows.ts';
import { anyOverlap } from './timeline.ts';

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
    | { type: 'windows'; relay: CoverageRelay; ranges: readonly CoverageRange[] }
    | { type: 'months'; months: readonly MonthCount[] }
    | { type: 'month'; month: MonthCount }
    | {
        type: 'note';
        tone: 'warn' | 'bad' | 'quiet';
        text: string;
        relay: CoverageRelay;
        range: CoverageRange | null;
        offers: readonly Offer[];
      }
    | { type: 'range-facts'; range: CoverageRange }
    | { type: 'kinds'; range: CoverageRange }
    | { type: 'kind'; kind: number; count: number }
    | { type: 'attempts'; range: CoverageRange }
    | { type: 'attempt'; attempt: CoverageAttempt; relation: AttemptRelation }
    | { type: 'attempt-facts'; attempt: CoverageAttempt; relation: AttemptRelation }
    | {
        type: 'query';
        attempt: CoverageAttempt;
        relation: AttemptRelation;
        index: number;
        query: CoverageQuery | ContractError | undefined;
      }
    | { type: 'query-facts'; query: CoverageQuery }
    | { type: 'pending'; text: string }
  );

/** What helps with a note: going on, asking for larger pages, or comparing by NIP-77. */
export type Offer = 'resume' | 'larger-page' | 'compare';

/** How an attempt stands to the others of its range, by their recorded numbers. */
export interface AttemptRelation {
  /** The attempt that this one goes on from, repeats, or was made instead of. */
  prior: { number: number; how: 'continues' | 'repeats' | 'instead-of' } | null;
  /** The attempt of the same run that paged because this comparison could not be made. */
  replacedBy: number | null;
}

/** What the flattening needs to know beside the tree. */
export interface RowSources {
  isOpen(key: string): boolean;
  attempts(range: number): { attempts: readonly CoverageAttempt[] | null; error: ContractError | null } | undefined;
  query(attempt: number, index: number): CoverageQuery | ContractError | undefined;
  /** Events of a relay by month; null while they are not known. */
  months(url: string): readonly MonthCount[] | null;
  /** What of a relay's time is not covered, in one sentence; null when everything is. */
  gaps(relay: CoverageRelay): string | null;
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
  relay: CoverageRelay,
  range: CoverageRange | null = null,
  offers: readonly Offer[] = [],
): CoverageRow {
  return { type: 'note', key, level, open: null, tone, text, relay, range, offers };
}

function addRelay(rows: CoverageRow[], relay: CoverageRelay, sources: RowSources): void {
  const { url } = relay;
  if (relay.invalidObservations > 0) {
    const text = `${countOf(relay.invalidObservations, 'invalid observation')}: deliveries from this relay that were malformed, wrongly signed or not what was asked for. None was stored, and none counts as found.`;
    rows.push(note(`invalid ${url}`, 2, 'warn', text, relay));
  }
  if (relay.legacy !== null) rows.push(note(`legacy ${url}`, 2, 'quiet', legacyLine(relay.legacy), relay));
  if (walkedRanges(relay.ranges).length === 0) {
    const text =
      relay.role === 'former'
        ? 'It is no source of this account, so its history was not asked for.'
        : 'Its history was never asked for. Its ranges will stand here after the first fetch.';
    rows.push(note(`empty ${url}`, 2, 'quiet', text, relay));
  } else {
    const gaps = sources.gaps(relay);
    if (gaps !== null) rows.push(note(`gaps ${url}`, 2, 'quiet', gaps, relay));
  }
  addRanges(rows, relay, walkedRanges(relay.ranges), sources);
  addOldWindows(rows, relay, sources);
  if (anyOverlap(relay.ranges)) {
    const text = 'Ranges overlap. An event counts in each that covers it, so their numbers are not added up.';
    rows.push(note(`overlap ${url}`, 2, 'quiet', text, relay));
  }
  const months = sources.months(url);
  if (months === null || months.length === 0) return;
  const key = `months ${url}`;
  const open = sources.isOpen(key);
  rows.push({ type: 'months', key, level: 2, open, months });
  if (!open) return;
  for (const month of [...months].reverse()) {
    rows.push({ type: 'month', key: `month ${url} ${month.start}`, level: 3, open: null, month });
  }
}

function addRanges(
  rows: CoverageRow[],
  relay: CoverageRelay,
  ranges: readonly CoverageRange[],
  sources: RowSources,
): void {
  const ordered = [...ranges].sort(
    (left, right) =>
      (left.since ?? -Infinity) - (right.since ?? -Infinity) || left.until - right.until || left.id - right.id,
  );
  for (const range of ordered) {
    const key = `range ${range.id}`;
    const open = sources.isOpen(key);
    rows.push({ type: 'range', key, level: 2, open, relay, range });
    if (open) addRange(rows, relay, range, sources);
  }
}

/** What the first version left to be asked, under one row: there may be dozens of them, and none covers anything. */
function addOldWindows(rows: CoverageRow[], relay: CoverageRelay, sources: RowSources): void {
  const ranges = oldWindows(relay.ranges);
  if (ranges.length === 0) return;
  const key = `windows ${relay.url}`;
  const open = sources.isOpen(key);
  rows.push({ type: 'windows', key, level: 2, open, relay, ranges });
  if (!open) return;
  const text =
    'Asked for as the first version did, going on with its unfinished fetches. What was found counts; none of these stretches is covered by it, and nothing follows from what was not found.';
  rows.push(note(`windows-note ${relay.url}`, 3, 'quiet', text, relay));
  const inner: CoverageRow[] = [];
  addRanges(inner, relay, ranges, sources);
  for (const row of inner) rows.push({ ...row, level: row.level + 1 });
}

function addRange(rows: CoverageRow[], relay: CoverageRelay, range: CoverageRange, sources: RowSources): void {
  const id = range.id;
  const saturated = range.saturatedSeconds.length > 0;
  const closed = range.closedBy !== null;
  // What a later complete range covers is told as it was, and offers nothing: its menu still does.
  const add = (key: string, tone: 'warn' | 'bad', text: string, offers: readonly Offer[]): void => {
    rows.push(note(`${key} ${id}`, 3, closed ? 'quiet' : tone, text, relay, range, closed ? [] : offers));
  };
  if (closed) rows.push(note(`closed ${id}`, 3, 'quiet', closedSentence(relay, range), relay));
  if (range.status === 'partial' || range.status === 'failed') {
    const tone = range.status === 'failed' ? 'bad' : 'warn';
    const offers = range.resumable ? ['resume' as const] : saturated ? saturationOffers(range) : [];
    add('reason', tone, unfinishedReason(range), offers);
  }
  if (saturated && (range.resumable || range.status === 'complete' || range.status === 'active')) {
    add('saturated', 'warn', saturationSentence(range), saturationOffers(range));
  }
  if (range.notFetched > 0 && range.status !== 'active') {
    const offers = range.resumable && range.status === 'complete' ? ['resume' as const] : [];
    add('bodies', 'warn', notFetchedSentence(range), offers);
  }
  rows.push({ type: 'range-facts', key: `facts ${id}`, level: 3, open: null, range });

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
  const known = sources.attempts(id);
  if (known?.error) {
    rows.push(note(`attempts-error ${id}`, 4, 'bad', `The attempts cannot be shown: ${known.error.message}`, relay));
  } else if (!known?.attempts) {
    rows.push({ type: 'pending', key: `attempts-pending ${id}`, level: 4, open: null, text: 'Loading attempts…' });
  }
  const attempts = known?.attempts ?? [];
  const relations = relationsOf(attempts);
  for (const attempt of attempts) addAttempt(rows, attempt, relations.get(attempt.id) ?? UNRELATED, sources);
}

const UNRELATED: AttemptRelation = { prior: null, replacedBy: null };

/** How the attempts of a range, newest first, stand to each other, by attempt. */
export function relationsOf(attempts: readonly CoverageAttempt[]): ReadonlyMap<number, AttemptRelation> {
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  const relations = new Map<number, AttemptRelation>();
  for (const attempt of [...attempts].reverse()) {
    const prior = attempt.prior === null ? undefined : byId.get(attempt.prior);
    if (prior === undefined) {
      relations.set(attempt.id, UNRELATED);
      continue;
    }
    const fellBack =
      attempt.strategy === 'paging' &&
      prior.strategy === 'negentropy' &&
      prior.status !== 'complete' &&
      prior.run === attempt.run &&
      !attempt.continued;
    const how = fellBack ? 'instead-of' : attempt.continued ? 'continues' : 'repeats';
    relations.set(attempt.id, { prior: { number: prior.id, how }, replacedBy: null });
    if (fellBack) {
      relations.set(prior.id, { prior: relations.get(prior.id)?.prior ?? null, replacedBy: attempt.id });
    }
  }
  return relations;
}

function addAttempt(
  rows: CoverageRow[],
  attempt: CoverageAttempt,
  relation: AttemptRelation,
  sources: RowSources,
): void {
  const key = `attempt ${attempt.id}`;
  const open = sources.isOpen(key);
  rows.push({ type: 'attempt', key, level: 4, open, attempt, relation });
  if (!open) return;
  rows.push({ type: 'attempt-facts', key: `attempt-facts ${attempt.id}`, level: 5, open: null, attempt, relation });
  for (let index = 0; index < attempt.queryCount; index += 1) {
    const queryKey = `query ${attempt.id} ${index}`;
    const query = sources.query(attempt.id, index);
    const loaded = query !== undefined && !isLookupError(query);
    const queryOpen = sources.isOpen(queryKey);
    rows.push({ type: 'query', key: queryKey, level: 5, open: queryOpen, attempt, relation, index, query });
    if (queryOpen && loaded) {
      rows.push({ type: 'query-facts', key: `query-facts ${attempt.id} ${index}`, level: 6, open: null, query });
    }
  }
}

/** What can close a saturated second: a larger page than the range was asked with, or a comparison (design §3.5). */
export function saturationOffers(range: Pick<CoverageRange, 'limit' | 'strategy'>): Offer[] {
  if (isOldWindows(range)) return [];
  const offers: Offer[] = [];
  if (largerLimit(range.limit) > range.limit) offers.push('larger-page');
  if (range.strategy !== 'negentropy') offers.push('compare');
  return offers;
}

/** "Not fetched 12: …", for bodies that a relay named and did not send. */
export function notFetchedSentence(range: Pick<CoverageRange, 'notFetched'>): string {
  return range.notFetched === 1
    ? 'Not fetched 1: the relay named this event, and no valid body of it has arrived yet.'
    : `Not fetched ${formatCount(range.notFetched)}: the relay named these events, and no valid bodies of them have arrived yet.`;
}

/** Says which later range made an unfinished one nothing to be done any more. */
export function closedSentence(relay: CoverageRelay, range: CoverageRange, timeZone?: string): string {
  const by = relay.ranges.find(({ id }) => id === range.closedBy);
  const named = by === undefined ? 'A later range' : `The later range ${formatBoundsAmong(by, relay.ranges, timeZone)}`;
  return `${named} covers all of this one and is complete, so nothing is left to do here.`;
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

/** All seconds that one page cannot carry, oldest first, in local time. */
export function saturatedList(range: Pick<CoverageRange, 'saturatedSeconds'>, timeZone?: string): string {
  return [...range.saturatedSeconds]
    .sort((left, right) => left - right)
    .map((second) => formatSecond(second, timeZone))
    .join(', ');
}

/** Where a row's parent stands among the rows, or -1 for a row of the first level. */
export function parentIndex(rows: readonly CoverageRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let candidate = index - 1; candidate >= 0; candidate -= 1) {
    if ((rows[candidate]?.level ?? 1) < level) return candidate;
  }
  return -1;
}
