import type { LegacyCoverageLine } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';

/**
 * What the first version said of relays for an account, by the relay's number. It did not record how it knew: this is
 * information to show as such, and nothing may be concluded from it.
 */
export async function readLegacyCoverageLines(
  db: ReadableDatabase,
  accountId: number,
): Promise<Map<number, LegacyCoverageLine>> {
  const rows = await db
    .selectFrom('legacy_coverage_lines')
    .select(['relay_id', 'status', 'oldest', 'newest', 'event_count', 'updated_at'])
    .where('account_id', '=', accountId)
    .orderBy('relay_id')
    .execute();
  return new Map(
    rows.map((row) => [
      row.relay_id,
      {
        status: row.status,
        oldest: row.oldest,
        newest: row.newest,
        events: row.event_count,
        updatedAt: row.updated_at,
      },
    ]),
  );
}
