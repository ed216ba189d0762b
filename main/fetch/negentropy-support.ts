import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';

/** What came of asking a relay for NIP-77. A relay's advertisement is only a hint; this is what it did. */
export type NegentropyExperience = 'works' | 'refused' | 'silent';

/** For how long a refusal or silence is believed before NIP-77 is tried again. */
const BELIEVED_MS = 24 * 3600 * 1000;

/** Whether NIP-77 is worth trying on a relay now: unless it lately refused it or kept silent. */
export async function isWorthReconciling(db: ReadableDatabase, relayId: number, nowMs: number): Promise<boolean> {
  const row = await db
    .selectFrom('relays')
    .select(['negentropy', 'negentropy_until_ms'])
    .where('id', '=', relayId)
    .executeTakeFirst();
  if (row === undefined || row.negentropy === null || row.negentropy === 'works') return true;
  if (row.negentropy_until_ms === null) return true;
  const leftMs = row.negentropy_until_ms - nowMs;
  // More than was ever to pass is left of it when the clock was set back.
  return leftMs <= 0 || leftMs > BELIEVED_MS;
}

export async function rememberNegentropy(
  db: WritableDatabase,
  relayId: number,
  experience: NegentropyExperience,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('relays')
    .set({ negentropy: experience, negentropy_until_ms: experience === 'works' ? null : nowMs + BELIEVED_MS })
    .where('id', '=', relayId)
    .execute();
}
