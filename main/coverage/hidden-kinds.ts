import { sql } from 'kysely';
import type { SignedEvent } from '../../preload/contract.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import { recordPage } from './record-page.ts';
import { takeBackAbsences } from './presence-rebuild.ts';
import { latestAttempt, type Range } from './range-history.ts';

/** Kinds of which events are missing on a range's relay and that were never asked for alone there. */
export async function unprobedMissingKinds(db: ReadableDatabase, range: Range): Promise<number[]> {
  const { rows } = await sql<{ kind: number }>`select distinct kind from presence
    where present = 0 and relay_id = ${range.relayId} and kind is not null and not exists (
      select 1 from kind_probes where kind_probes.relay_id = presence.relay_id and kind_probes.kind = presence.kind)
    order by kind`.execute(db);
  return rows.map((row) => row.kind);
}

/** One kind asked for alone. */
export interface KindProbe {
  range: Range;
  kind: number;
  request: RelayFilter;
  outcome: QueryOutcome;
  /** The relay said that it does not show this kind to us; a passing error is no refusal. */
  refused: boolean;
  /** Validly signed events of the kind that it returned. */
  events: readonly SignedEvent[];
}

/**
 * Commits what a relay answered when it was asked for one kind alone: what it returned is positive evidence like any
 * other. When it refused, or returned what its other answers had left out, it hides the kind, and what had been
 * concluded from the absence of that kind is taken back.
 */
export async function recordKindProbe(db: WritableDatabase, probe: KindProbe): Promise<void> {
  const { range, kind, request, outcome, events } = probe;
  const attempt = await latestAttempt(db, range.id);
  if (attempt === null) return;
  const hidden = probe.refused || (await wereCalledAbsent(db, range, events));
  const { queryId } = await recordPage(
    db,
    {
      range,
      attempt,
      request,
      sentAtMs: outcome.sentAtMs,
      completedAtMs: outcome.completedAtMs,
      setBackMs: outcome.setBackMs,
      ending: outcome.ending,
      message: outcome.message,
      received: outcome.received,
      invalid: 0,
      events,
    },
    () => ({ cursor: attempt.cursor, checkpoint: attempt.checkpoint ?? {}, covered: null, end: null }),
  );
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('kind_probes')
      .values({ relay_id: range.relayId, kind, refused: hidden ? 1 : 0, query_id: queryId })
      // One refusal is enough, whichever of two accounts was answered first.
      .onConflict((conflict) =>
        conflict
          .doUpdateSet({ refused: 1, query_id: queryId })
          .where('kind_probes.refused', '=', 0)
          .where((eb) => eb.ref('excluded.refused'), '=', 1),
      )
      .execute();
    if (hidden) await takeBackAbsences(trx, range.relayId, kind);
  });
}

async function wereCalledAbsent(db: ReadableDatabase, range: Range, events: readonly SignedEvent[]): Promise<boolean> {
  if (events.length === 0) return false;
  const { rows } = await sql`select 1 from presence join event_ids on event_ids.ref = presence.event_ref
    where presence.relay_id = ${range.relayId} and presence.present = 0
      and event_ids.id in (select unhex(value) from json_each(${JSON.stringify(events.map(({ id }) => id))}))
    limit 1`.execute(db);
  return rows.length > 0;
}
