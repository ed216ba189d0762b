import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Random } from '../platform/random.ts';

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

/** The verified deliveries of a run, or a random sample of so many of them; by ID. */
export async function chooseVerified(
  db: ReadableDatabase,
  runId: number,
  sample: number | null,
  random: Random,
): Promise<VerifiedDelivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select(['id', 'relay_id as relayId'])
    .where('run_id', '=', runId)
    .where('state', '=', 'verified')
    .execute();
  const chosen = sample === null || sample >= rows.length ? rows : takeAtRandom(rows, sample, random);
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

/** So many of the rows, each set of them equally likely. */
function takeAtRandom<Row>(rows: readonly Row[], count: number, random: Random): Row[] {
  const left = [...rows];
  const taken: Row[] = [];
  while (taken.length < count) {
    const index = Math.floor(random() * left.length);
    const [row] = left.slice(index, index + 1);
    const last = left.pop();
    if (row === undefined || last === undefined) break;
    taken.push(row);
    if (index < left.length) left[index] = last;
  }
  return taken;
}
