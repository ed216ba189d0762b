import { sql } from 'kysely';
import type { Reverification } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';

interface Row {
  id: number;
  from_ms: number;
  until_ms: number | null;
  copies: number;
  returned: number;
  missing: number;
}

/**
 * What came of looking again for the verified copies of some syncs, the last time; runs of which nobody asked for that have
 * no entry. An account has one run at a time, so that whatever was found between its beginning and its end was looked for by it.
 */
export async function readReverifications(
  db: ReadableDatabase,
  runs: readonly number[],
): Promise<Map<number, Reverification>> {
  if (runs.length === 0) return new Map();
  const { rows } = await sql<Row>`select runs.id, reverified_from_ms as from_ms, ${ENDED} as until_ms,
      reverified_copies as copies,
      (select count(*) from deliveries where run_id = runs.id
        and verified_at_ms between reverified_from_ms and ${UNTIL}) as returned,
      (select count(*) from deliveries where run_id = runs.id and verified_at_ms < reverified_from_ms
        and exists (select 1 from delivery_steps where delivery_id = deliveries.id and type = 'read-back'
          and outcome = 'not-found' and completed_at_ms between reverified_from_ms and ${UNTIL})
        and state = 'unverified') as missing
    from runs where reverified_from_ms is not null
      and runs.id in (select value from json_each(${JSON.stringify(runs)}))`.execute(db);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        begunAt: Math.floor(row.from_ms / 1000),
        endedAt: row.until_ms === null ? null : Math.floor(row.until_ms / 1000),
        copies: row.copies,
        returned: row.returned,
        missing: row.missing,
      },
    ]),
  );
}

/** What a crash broke off has ended with its run, whenever that was. */
const ENDED = sql`coalesce(reverified_until_ms,
  case when status <> 'active' then coalesce(1000 * finished_at, reverified_from_ms) end)`;
/** Later than anything: what goes on has no end. */
const UNTIL = sql`coalesce(reverified_until_ms, 9e15)`;
