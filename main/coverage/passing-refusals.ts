import { sql, type RawBuilder } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';

/** Whether a later run had to do with the same copy as a delivery, given by its alias. */
export function hasLaterDelivery(delivery: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from deliveries as later
    where later.relay_id = ${sql.ref(`${delivery}.relay_id`)} and later.event_ref = ${sql.ref(`${delivery}.event_ref`)}
      and later.id > ${sql.ref(`${delivery}.id`)})`;
}

/**
 * Whether a delivery, a row of `deliveries`, was refused for a reason that passes, and is still this run's to bring: a
 * later run that took the copy up knows more about it.
 */
export function isPassingRefusal(): RawBuilder<boolean> {
  return sql<boolean>`deliveries.state = 'rejected' and deliveries.lasting = 0 and not ${hasLaterDelivery('deliveries')}`;
}

/** How many refusals Resume would try again, for those of some runs that have any. */
export async function readPassingRefusals(db: ReadableDatabase, runs: readonly number[]): Promise<Map<number, number>> {
  if (runs.length === 0) return new Map();
  const rows = await db
    .selectFrom('deliveries')
    .select(({ fn }) => ['run_id', fn.countAll<number>().as('count')])
    .where('run_id', 'in', runs)
    .where(isPassingRefusal())
    .groupBy('run_id')
    .execute();
  return new Map(rows.map(({ run_id: run, count }) => [run, count]));
}
