import { sql } from 'kysely';
import { isPassingRefusal } from '../coverage/passing-refusals.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { deliveryWindows, isWithin } from './delivery-windows.ts';

/**
 * What makes a run ready to be gone on with. All of it works in slices of a transaction each, between which the main loop goes
 * on: after a crash in between, whoever goes on with the run does the rest.
 */

/** Sendings that broke off are completed as interrupted, and refusals that may pass are pending again, unless a later run took the copy up. */
export async function reopenDeliveries(db: WritableDatabase, runId: number, atMs: number): Promise<void> {
  for await (const window of deliveryWindows(db, runId)) {
    await db.transaction().execute(async (trx) => {
      await sql`update delivery_steps set outcome = 'interrupted', completed_at_ms = ${atMs}
        where completed_at_ms is null and delivery_id in (select id from deliveries
          where ${isWithin(window, runId)} and +state = 'sent')`.execute(trx);
      await sql`update deliveries set state = 'pending', reason = null, message = null
        where ${isWithin(window, runId)} and ${isPassingRefusal()}`.execute(trx);
    });
  }
}

/**
 * Makes the refused deliveries of a run pending again, on demand.
 *
 * @param relayId only those of this relay.
 * @returns how many they are.
 */
export async function reopenRefused(db: WritableDatabase, runId: number, relayId: number | null): Promise<number> {
  let reopened = 0n;
  for await (const window of deliveryWindows(db, runId)) {
    const { numAffectedRows } = await sql`update deliveries
      set state = 'pending', reason = null, message = null, lasting = 0
      where ${isWithin(window, runId)} and +state = 'rejected'
        and ${relayId === null ? sql`true` : sql`+relay_id = ${relayId}`}`.execute(db);
    reopened += numAffectedRows ?? 0n;
  }
  return Number(reopened);
}

/** Looks at verified deliveries of a run count from now on. */
export async function beginReverifying(
  db: WritableDatabase,
  runId: number,
  deliveries: readonly number[],
): Promise<void> {
  const chosen = deliveries.toSorted((a, b) => a - b);
  let next = 0;
  for await (const window of deliveryWindows(db, runId)) {
    const begin = next;
    while (next < chosen.length && (chosen[next] ?? 0) <= window.until) next += 1;
    if (next === begin) continue;
    await sql`update deliveries set looks = 0 where ${isWithin(window, runId)} and +state = 'verified' and looks <> 0
      and id in (select value from json_each(${JSON.stringify(chosen.slice(begin, next))}))`.execute(db);
  }
}
