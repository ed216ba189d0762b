import { sql } from 'kysely';
import type { Comparison } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { WAS_ANSWERED } from './answered-query.ts';

/** How far a relay was compared with the archive for an account. */
export interface RelayComparison {
  comparison: Comparison;
  /** When its whole history was compared last, Unix seconds; null when it never was. */
  comparedAt: number | null;
}

export const NEVER_ASKED: RelayComparison = { comparison: 'never-asked', comparedAt: null };

interface Row {
  relay_id: number;
  compared_at_ms: number | null;
  is_asked: number;
  is_answered: number;
}

/**
 * By relay, how far it was compared for an account: only an inventory from Beginning on is a comparison of the whole history
 * (design §3.3).
 *
 * @param pubkey 64 hex characters.
 */
export async function readComparisons(
  db: ReadableDatabase,
  pubkey: string,
  relays: readonly { relayId: number }[],
): Promise<Map<number, RelayComparison>> {
  const account = await db.selectFrom('accounts').select('id').where('pubkey', '=', pubkey).executeTakeFirst();
  if (account === undefined) return new Map();
  const asked = (which: 'any' | 'answered') => sql`exists (select 1 from ranges
    join attempts on attempts.range_id = ranges.id join queries on queries.attempt_id = attempts.id
    where ranges.account_id = ${account.id} and ranges.relay_id = wanted.value and ranges.purpose = 'history'
      and ${which === 'any' ? sql`true` : WAS_ANSWERED})`;
  const { rows } = await sql<Row>`select wanted.value as relay_id,
      (select max(last_observed_at_ms) from inventories where inventories.account_id = ${account.id}
        and inventories.relay_id = wanted.value and inventories.covered_from is null) as compared_at_ms,
      ${asked('any')} as is_asked, ${asked('answered')} as is_answered
    from json_each(${JSON.stringify(relays.map(({ relayId }) => relayId))}) as wanted`.execute(db);
  return new Map(rows.map((row) => [row.relay_id, toComparison(row)]));
}

function toComparison({ compared_at_ms: atMs, is_asked: isAsked, is_answered: isAnswered }: Row): RelayComparison {
  if (atMs !== null) return { comparison: 'compared', comparedAt: Math.floor(atMs / 1000) };
  if (isAnswered === 1) return { comparison: 'unfinished', comparedAt: null };
  return { comparison: isAsked === 1 ? 'unanswered' : 'never-asked', comparedAt: null };
}
