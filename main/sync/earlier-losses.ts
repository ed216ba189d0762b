import { sql } from 'kysely';
import type { SyncWarning } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { PreviewedCopy } from './advertised-limits.ts';

interface Row {
  accepted: number;
  lost: number;
  silent: number;
  answered: number;
}

/**
 * What the latest sync to a relay says against sending to it: that it accepted events and did not return them, or that it
 * answered to none. Only the latest one counts, whosever it was: relays mend.
 */
export async function warningsFromLosses(
  db: ReadableDatabase,
  relayId: number,
  copies: readonly PreviewedCopy[],
): Promise<SyncWarning[]> {
  const run = await latestSyncTo(db, relayId);
  if (run === null) return [];
  const { rows } = await sql<Row>`select
      count(*) filter (where answered = 1) as accepted,
      count(*) filter (where state = 'unverified' and answered = 1) as lost,
      count(*) filter (where attempts > 0 and answered = 0 and state in ('sent', 'unverified', 'verified')) as silent,
      count(*) filter (where answered = 1 or state = 'rejected') as answered
    from deliveries where run_id = ${run} and relay_id = ${relayId}`.execute(db);
  const [row] = rows;
  if (row === undefined) return [];
  const warnings: SyncWarning[] = [];
  if (row.lost > 0) {
    const lost = row.lost === row.accepted ? 'none of them' : `${formatted(row.lost)} of them not`;
    const concerned = await countLost(db, { run, relayId, copies });
    warnings.push({
      type: 'not-returned',
      copies: concerned,
      message: `In the last sync it said that it took ${events(row.accepted)}, and returned ${lost} when asked.`,
    });
  }
  if (row.silent > 0 && row.answered === 0) {
    warnings.push({
      type: 'no-answer',
      copies: copies.length,
      message:
        `In the last sync it said of none of ${events(row.silent)} whether it took it. ` +
        'Each is waited for, and only reading it back tells.',
    });
  }
  return warnings;
}

/** Syncs looked through, the latest first; a relay that none of them went to has done nothing lately. */
const SYNCS_LOOKED_AT = 100;

/** The latest sync that sent anything to a relay, or null. */
async function latestSyncTo(db: ReadableDatabase, relayId: number): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`select id from (
      select id from runs where type = 'sync' order by id desc limit ${SYNCS_LOOKED_AT})
    where exists (select 1 from deliveries where run_id = id and relay_id = ${relayId} and attempts > 0)
    order by id desc limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

/** How many of the copies are among those that it lost. */
async function countLost(
  db: ReadableDatabase,
  { run, relayId, copies }: { run: number; relayId: number; copies: readonly PreviewedCopy[] },
): Promise<number | null> {
  const { rows } = await sql<{ event_ref: number }>`select event_ref from deliveries
    where run_id = ${run} and relay_id = ${relayId} and state = 'unverified' and answered = 1`.execute(db);
  const lost = new Set(rows.map((row) => row.event_ref));
  const concerned = copies.filter(({ ref }) => lost.has(ref)).length;
  // What it lost once it may lose again, whichever event it is.
  return concerned === 0 ? null : concerned;
}

function events(count: number): string {
  return count === 1 ? '1 event' : `${formatted(count)} events`;
}

function formatted(count: number): string {
  return count.toLocaleString('en-US');
}
