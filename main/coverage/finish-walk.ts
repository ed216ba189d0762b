import { sql } from 'kysely';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import { completeWalk } from './complete-walk.ts';
import type { Attempt, Range } from './range-history.ts';

/**
 * Completes a walk whose every part was compared.
 *
 * @returns the status that the queries of the walk support.
 */
export async function finishWalk(
  db: WritableDatabase,
  range: Range,
  attempt: Attempt,
  reason: string,
  nowMs: number,
): Promise<'complete' | 'partial'> {
  return db.transaction().execute(async (trx) => {
    await completeWalk(trx, range, attempt, { status: 'complete', reason }, nowMs);
    const { status } = await trx
      .selectFrom('attempts')
      .select('status')
      .where('id', '=', attempt.id)
      .executeTakeFirstOrThrow();
    return status === 'complete' ? 'complete' : 'partial';
  });
}

/** IDs (64 hex characters) that a walk's relay named and whose bodies are not archived. */
export async function namedWithoutBody(db: ReadableDatabase, walkId: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select lower(hex(event_ids.id)) as id from evidence
    join event_ids on event_ids.ref = evidence.event_ref
    left join events on events.ref = evidence.event_ref
    where evidence.walk_id = ${walkId} and evidence.present = 1 and events.ref is null`.execute(db);
  return rows.map((row) => row.id);
}
