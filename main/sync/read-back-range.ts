import type { Range } from '../coverage/range-history.ts';
import type { WritableDatabase } from '../database/database-file.ts';

/** It asks for certain IDs, which stand in its queries. */
const FILTER = { ids: [] };

/** The range that holds what one sync run asked one relay for, found or created. It is no part of the account's history. */
export async function openReadBackRange(
  db: WritableDatabase,
  scope: { accountId: number; relayId: number; runId: number; boundary: number },
): Promise<Range> {
  const range = {
    accountId: scope.accountId,
    relayId: scope.relayId,
    filter: FILTER,
    since: null,
    until: scope.boundary,
  };
  return db.transaction().execute(async (trx) => {
    const known = await trx
      .selectFrom('ranges')
      .innerJoin('attempts', 'attempts.range_id', 'ranges.id')
      .select('ranges.id')
      .where('attempts.run_id', '=', scope.runId)
      .where('ranges.relay_id', '=', scope.relayId)
      .where('purpose', '=', 'read-back')
      .executeTakeFirst();
    if (known !== undefined) return { ...range, id: known.id };
    const { id } = await trx
      .insertInto('ranges')
      .values({
        account_id: scope.accountId,
        relay_id: scope.relayId,
        filter: JSON.stringify(FILTER),
        since: null,
        until: scope.boundary,
        purpose: 'read-back',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return { ...range, id };
  });
}
