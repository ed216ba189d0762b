import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';

/** What was learned about how a relay answers. Hints guide how it is asked; they are no evidence of what it holds. */
export interface RelayHints {
  /** The largest page it carried while it held more. */
  observedCap: number | null;
  /** The limit it took after refusing a larger one. */
  acceptedLimit: number | null;
}

export async function readRelayHints(db: ReadableDatabase, relayId: number): Promise<RelayHints> {
  const row = await db
    .selectFrom('relays')
    .select(['observed_cap', 'accepted_limit'])
    .where('id', '=', relayId)
    .executeTakeFirst();
  return { observedCap: row?.observed_cap ?? null, acceptedLimit: row?.accepted_limit ?? null };
}

export async function writeRelayHints(db: WritableDatabase, relayId: number, hints: RelayHints): Promise<void> {
  await db
    .updateTable('relays')
    .set({ observed_cap: hints.observedCap, accepted_limit: hints.acceptedLimit })
    .where('id', '=', relayId)
    .execute();
}
