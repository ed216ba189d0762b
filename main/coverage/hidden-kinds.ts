import { sql } from 'kysely';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import { rebuildPresenceOfKind } from './presence-rebuild.ts';
import { latestAttempt, type Range } from './range-history.ts';

/** Kinds of which events are missing on a range's relay and that were never asked for alone there. */
export async function unprobedMissingKinds(db: ReadableDatabase, range: Range): Promise<number[]> {
  const { rows } = await sql<{ kind: number }>`select distinct kind from presence
    where present = 0 and relay_id = ${range.relayId} and kind is not null and not exists (
      select 1 from kind_probes where kind_probes.relay_id = presence.relay_id and kind_probes.kind = presence.kind)
    order by kind`.execute(db);
  return rows.map((row) => row.kind);
}

/**
 * Commits what a relay answered when it was asked for one kind alone. A refusal takes back, in the same transaction,
 * what had been concluded from the absence of that kind.
 */
export async function recordKindProbe(
  db: WritableDatabase,
  probe: { range: Range; kind: number; request: RelayFilter; outcome: QueryOutcome; refused: boolean },
): Promise<void> {
  const attempt = await latestAttempt(db, probe.range.id);
  if (attempt === null) return;
  await db.transaction().execute(async (trx) => {
    const { id } = await trx
      .insertInto('queries')
      .values({
        attempt_id: attempt.id,
        walk_id: attempt.walkId,
        type: 'REQ',
        request: JSON.stringify(probe.request),
        sent_at_ms: probe.outcome.sentAtMs,
        completed_at_ms: Math.max(probe.outcome.sentAtMs, probe.outcome.completedAtMs),
        ending: probe.outcome.ending,
        message: probe.outcome.message,
        received: probe.outcome.received,
        valid: 0,
        unique_count: 0,
        new_count: 0,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await trx
      .updateTable('attempts')
      .set((eb) => ({ pages: eb('pages', '+', 1), received: eb('received', '+', probe.outcome.received) }))
      .where('id', '=', attempt.id)
      .execute();
    await trx
      .insertInto('kind_probes')
      .values({ relay_id: probe.range.relayId, kind: probe.kind, refused: probe.refused ? 1 : 0, query_id: id })
      // One refusal is enough, whichever of two accounts was answered first.
      .onConflict((conflict) =>
        conflict
          .doUpdateSet({ refused: 1, query_id: id })
          .where('kind_probes.refused', '=', 0)
          .where((eb) => eb.ref('excluded.refused'), '=', 1),
      )
      .execute();
    if (probe.refused) await rebuildPresenceOfKind(trx, probe.range.relayId, probe.kind);
  });
}
