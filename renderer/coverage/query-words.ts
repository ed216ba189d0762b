import type { CoverageAttempt, CoverageQuery } from '../../preload/contract.ts';
import { countOf, formatCount } from '../text/numbers.ts';
import { formatBounds } from '../text/times.ts';

/** The filter part that a request carries, when it is what the name says; requests come from a record, as any JSON. */
function idsOf(request: CoverageQuery['request']): unknown[] | null {
  const ids = request['ids'];
  return Array.isArray(ids) ? ids : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** What a query was for, in a few words: a comparison, bodies by ID, one kind asked for alone, or a page. */
export function queryPurpose(query: CoverageQuery, attempt: Pick<CoverageAttempt, 'strategy'>): string {
  if (query.type === 'NEG') return 'Comparison';
  const ids = idsOf(query.request);
  if (ids !== null) return `Bodies of ${countOf(ids.length, 'ID')}`;
  const kinds = query.request['kinds'];
  if (Array.isArray(kinds) && kinds.length === 1 && query.request['limit'] === 1) {
    return `Kind ${String(kinds[0])} alone`;
  }
  return attempt.strategy === 'legacy-windows' ? 'Window' : 'Page';
}

/** The counts of a query in a line. A comparison moves IDs and no events, so it is told differently. */
export function queryCounts(query: CoverageQuery): string {
  if (query.type === 'NEG') {
    return query.ending === 'neg-complete'
      ? `${countOf(query.valid, 'event')} on the relay`
      : `${countOf(query.valid, 'event')} named so far`;
  }
  const invalid = query.received - query.valid;
  return [
    `${formatCount(query.received)} received`,
    ...(invalid > 0 ? [`${formatCount(invalid)} not valid`] : []),
    `${formatCount(query.new)} new`,
  ].join(' · ');
}

/** What a query found; a dash for one that asks for bodies, which a comparison found before. */
export function queryFound(query: CoverageQuery): string {
  return query.type === 'REQ' && idsOf(query.request) !== null ? '–' : formatCount(query.unique);
}

/** The counts of a query in full, for its details. */
export function queryCountsInFull(query: CoverageQuery): string {
  if (query.type === 'NEG') {
    return [
      `${countOf(query.received, 'message')} received`,
      `${formatCount(query.valid)} valid: events established on the relay`,
      `${formatCount(query.unique)} unique in this attempt`,
      `${formatCount(query.new)} newly archived (bodies follow by REQ)`,
    ].join(' · ');
  }
  return [
    `${formatCount(query.received)} received`,
    `${formatCount(query.valid)} valid`,
    `${formatCount(query.unique)} unique`,
    `${formatCount(query.new)} newly archived`,
  ].join(' · ');
}

/** The stretch of time that a query asked about; null when it asked by ID or without an upper bound. */
export function queryScope(query: CoverageQuery, timeZone?: string): string | null {
  const until = numberOf(query.request['until']);
  if (until === null || idsOf(query.request) !== null) return null;
  return formatBounds(numberOf(query.request['since']), until, timeZone);
}
