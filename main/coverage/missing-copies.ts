import { sql } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';

/** Confirmed-missing copies of an account's archived events on one relay. One event missing on two relays counts on both. */
export interface MissingCopies {
  relayId: number;
  total: number;
  /** By kind. */
  kinds: Map<number, number>;
  /** Unix milliseconds of the oldest evidence among them: the tree is no newer than this. */
  observedAtMs: number | null;
}

/**
 * What is missing where, from the projection alone: each row rests on a completed inventory that covered the event. Whether
 * a copy may be sent is another question, answered when copies are sent.
 *
 * @param pubkey 64 hex characters.
 */
export async function readMissingCopies(
  db: ReadableDatabase,
  pubkey: string,
  relayIds: readonly number[],
): Promise<MissingCopies[]> {
  const tree: MissingCopies[] = [];
  for (const relayId of relayIds) {
    const { rows } = await sql<{ kind: number; missing: number; observed_at_ms: number }>`
      select kind, count(*) as missing, min(observed_at_ms) as observed_at_ms
      from presence indexed by presence_absent
      where relay_id = ${relayId} and present = 0
        and author = (select id from authors where pubkey = ${Buffer.from(pubkey, 'hex')})
      group by kind`.execute(db);
    tree.push({
      relayId,
      total: rows.reduce((sum, row) => sum + row.missing, 0),
      kinds: new Map(rows.map((row) => [row.kind, row.missing])),
      observedAtMs: rows.length === 0 ? null : Math.min(...rows.map((row) => row.observed_at_ms)),
    });
  }
  return tree;
}
