import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { RelayHints } from '../relays/relay-hints.ts';

/** What fetching keeps of what was learned about a relay's limits; never evidence of what it holds. */
export type PagingHints = Pick<RelayHints, 'observedCap' | 'acceptedLimit'>;

export async function readRelayHints(db: ReadableDatabase, relayId: number): Promise<PagingHints> {
  const row = await db
    .selectFrom('relays')
    .select(['observed_cap', 'accepted_limit'])
    .where('id', '=', relayId)
    .executeTakeFirst();
  return { observedCap: row?.observed_cap ?? null, acceptedLimit: row?.accepted_limit ?? null };
}

export async function writeRelayHints(db: WritableDatabase, relayId: number, hints: PagingHints): Promise<void> {
  await db
    .updateTable('relays')
    .set({ observed_cap: hints.observedCap, accepted_limit: hints.acceptedLimit })
    .where('id', '=', relayId)
    .execute();
}
