import { sql } from 'kysely';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Random } from '../platform/random.ts';
import { deliveryWindows, isWithin } from './delivery-windows.ts';

/** A verified delivery and where it went. */
export interface VerifiedDelivery {
  id: number;
  relayId: number;
}

/** Records that so many verified copies of a run are looked for again from now on, in place of the time before. */
export async function beginReverification(
  db: WritableDatabase,
  runId: number,
  { copies, atMs }: { copies: number; atMs: number },
): Promise<void> {
  await db
    .updateTable('runs')
    .set({ reverified_from_ms: atMs, reverified_until_ms: null, reverified_copies: copies })
    .where('id', '=', runId)
    .execute();
}

/** Records that looking again has ended, where it was going on. */
export async function endReverification(db: WritableDatabase, runId: number, atMs: number): Promise<void> {
  await db
    .updateTable('runs')
    .set({ reverified_until_ms: atMs })
    .where('id', '=', runId)
    .where('reverified_from_ms', 'is not', null)
    .where('reverified_until_ms', 'is', null)
    .execute();
}

/**
 * The verified deliveries of a run, or a random sample of so many of them, each set of them equally likely; by ID. Lets the main
 * loop go on meanwhile.
 */
export async function chooseVerified(
  db: ReadableDatabase,
  runId: number,
  sample: number | null,
  random: Random,
): Promise<VerifiedDelivery[]> {
  const most = sample ?? Number.POSITIVE_INFINITY;
  const chosen: VerifiedDelivery[] = [];
  let seen = 0;
  for await (const window of deliveryWindows(db, runId)) {
    const { rows } = await sql<VerifiedDelivery>`select id, relay_id as relayId from deliveries
      where ${isWithin(window, runId)} and +state = 'verified' order by id`.execute(db);
    for (const row of rows) {
      seen += 1;
      // Each one takes the place of a chosen one as often as makes all of them equally likely so far.
      const place = chosen.length < most ? chosen.length : Math.floor(random() * seen);
      if (place < most) chosen[place] = row;
    }
  }
  return chosen.sort((a, b) => a.id - b.id);
}

/** The IDs by relay. */
export function groupByRelay(deliveries: readonly VerifiedDelivery[]): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const { id, relayId } of deliveries) {
    const group = groups.get(relayId);
    if (group === undefined) groups.set(relayId, [id]);
    else group.push(id);
  }
  return groups;
}
