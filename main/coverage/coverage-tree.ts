import { sql } from 'kysely';
import type {
  AccountRelay,
  ArchiveSummary,
  CoverageRange,
  CoverageRelay,
  CoverageTree,
} from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { WAS_ANSWERED } from './answered-query.ts';
import { CLOSED_BY } from './closed-range.ts';
import { readFetchState } from './fetch-state.ts';
import { historyOnRelay } from './history-state.ts';
import { readLegacyCoverageLines } from './legacy-coverage-lines.ts';
import { isResumable } from './range-history.ts';
import { readStanding } from './walk-standing.ts';

/** What the tree needs to know of an account; its relays carry the roles of now. */
export interface CoverageSubject {
  id: number;
  pubkey: string;
  archive: ArchiveSummary;
  relays: readonly (AccountRelay & { relayId: number })[];
}

/**
 * What was established per relay and range, from recorded attempts alone. Source relays come first in their order,
 * relays without a role that have ranges, or of which the first version said something, follow as `former`. Counts of
 * overlapping ranges are never added up.
 */
export async function readCoverageTree(db: ReadableDatabase, subject: CoverageSubject): Promise<CoverageTree> {
  const ranges = await readRanges(db, subject.id);
  const kinds = await readKinds(db, subject.id);
  const invalid = await readInvalidObservations(db, subject.id);
  const legacy = await readLegacyCoverageLines(db, subject.id);
  const relays: CoverageRelay[] = [];
  for (const { relayId, url, role } of await listRelays(db, subject, [...ranges.keys(), ...legacy.keys()])) {
    const state = await readFetchState(db, subject.id, relayId);
    const own = ranges.get(relayId) ?? [];
    relays.push({
      url,
      role,
      historyComplete: state.historyComplete,
      history: historyOnRelay(
        state.historyComplete,
        own.map(({ range }) => range),
      ),
      forwardBoundary: state.forwardBoundary,
      invalidObservations: invalid.get(relayId) ?? 0,
      legacy: legacy.get(relayId) ?? null,
      ranges: own.map(({ walkId, range }) => ({ ...range, kinds: kinds.get(walkId) ?? {} })),
    });
  }
  return { account: subject.pubkey, archive: subject.archive, relays };
}

async function listRelays(
  db: ReadableDatabase,
  subject: CoverageSubject,
  known: readonly number[],
): Promise<{ relayId: number; url: string; role: CoverageRelay['role'] }[]> {
  const sources = subject.relays
    .filter((relay) => relay.write || relay.extra)
    .map(({ relayId, url, write, extra }) => ({
      relayId,
      url,
      role: write && extra ? ('write+extra' as const) : write ? ('write' as const) : ('extra' as const),
    }));
  const former = known.filter((id) => !sources.some((source) => source.relayId === id));
  if (former.length === 0) return sources;
  const rows = await db.selectFrom('relays').select(['id', 'url']).where('id', 'in', former).orderBy('id').execute();
  return [...sources, ...rows.map(({ id, url }) => ({ relayId: id, url, role: 'former' as const }))];
}

type RangeRow = Omit<CoverageRange, 'kinds'>;

async function readRanges(
  db: ReadableDatabase,
  accountId: number,
): Promise<Map<number, { walkId: number; range: RangeRow }[]>> {
  const rows = await db
    .selectFrom('ranges')
    .innerJoin('attempts', (join) =>
      join.on('attempts.id', '=', (eb) =>
        eb
          .selectFrom('attempts as latest')
          .select('latest.id')
          .whereRef('latest.range_id', '=', 'ranges.id')
          .orderBy('latest.id', 'desc')
          .limit(1),
      ),
    )
    .select((eb) => [
      'ranges.id as id',
      'ranges.relay_id',
      'ranges.since',
      'ranges.until',
      'attempts.walk_id',
      'attempts.status',
      'attempts.found',
      'attempts.fetched',
      'attempts.strategy',
      'attempts.reason',
      'attempts.checkpoint',
      'attempts.cursor',
      'attempts.page_limit',
      CLOSED_BY.as('closed_by'),
      eb
        .selectFrom('attempts as counted')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .whereRef('counted.range_id', '=', 'ranges.id')
        .as('attempt_count'),
      eb
        .selectFrom('attempts as asking')
        .select(
          sql<number>`coalesce(sum(asking.pages - coalesce((select pages from attempts as before
          where before.id = asking.prior_id and asking.continued = 1), 0)), 0)`.as('n'),
        )
        .whereRef('asking.range_id', '=', 'ranges.id')
        .as('query_count'),
      // The last answer in the walk: a try that never reached the relay, failed or was cancelled checked nothing.
      eb
        .selectFrom('attempts as asked')
        .innerJoin('queries', 'queries.attempt_id', 'asked.id')
        .select('queries.completed_at_ms')
        .whereRef('asked.range_id', '=', 'ranges.id')
        .whereRef('asked.walk_id', '=', 'attempts.walk_id')
        .where(WAS_ANSWERED)
        .orderBy('asked.id', 'desc')
        .orderBy('queries.id', 'desc')
        .limit(1)
        .as('checked_at_ms'),
    ])
    .where('ranges.account_id', '=', accountId)
    .where('ranges.purpose', '=', 'history')
    .orderBy('ranges.until')
    .orderBy('ranges.id')
    .execute();
  const byRelay = new Map<number, { walkId: number; range: RangeRow }[]>();
  for (const row of rows) {
    const checkpoint = readStanding(row.checkpoint);
    const list = byRelay.get(row.relay_id) ?? [];
    list.push({
      walkId: row.walk_id,
      range: {
        id: row.id,
        since: row.since,
        until: row.until,
        status: row.status,
        found: row.found,
        fetched: row.fetched,
        notFetched: row.found - row.fetched,
        checkedAt: row.checked_at_ms === null ? null : Math.floor(row.checked_at_ms / 1000),
        strategy: row.strategy,
        reason: row.reason,
        cursor: checkpoint?.reachedEnd === true ? null : row.cursor,
        limit: row.page_limit,
        saturatedSeconds: checkpoint?.saturatedSeconds ?? [],
        reachedEnd: row.status === 'complete' || checkpoint?.reachedEnd === true,
        resumable: isResumable({ ...row, checkpoint }),
        closedBy: row.closed_by,
        attemptCount: row.attempt_count ?? 0,
        queryCount: row.query_count ?? 0,
      },
    });
    byRelay.set(row.relay_id, list);
  }
  return byRelay;
}

/** Found events by kind, for every walk of the account's ranges. */
async function readKinds(db: ReadableDatabase, accountId: number): Promise<Map<number, Record<string, number>>> {
  const rows = await db
    .selectFrom('walk_kinds')
    .innerJoin('attempts', 'attempts.id', 'walk_kinds.walk_id')
    .innerJoin('ranges', 'ranges.id', 'attempts.range_id')
    .select(['walk_kinds.walk_id', 'walk_kinds.kind', 'walk_kinds.found'])
    .where('ranges.account_id', '=', accountId)
    .where('ranges.purpose', '=', 'history')
    .execute();
  const kinds = new Map<number, Record<string, number>>();
  for (const { walk_id: walkId, kind, found } of rows)
    kinds.set(walkId, { ...kinds.get(walkId), [String(kind)]: found });
  return kinds;
}

async function readInvalidObservations(db: ReadableDatabase, accountId: number): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('ranges', 'ranges.id', 'attempts.range_id')
    .select(({ fn }) => ['ranges.relay_id', fn.sum<number>('attempts.invalid').as('invalid')])
    .where('ranges.account_id', '=', accountId)
    .groupBy('ranges.relay_id')
    .execute();
  return new Map(rows.map((row) => [row.relay_id, row.invalid]));
}
