import { setImmediate } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';

/** Deliveries looked at in one go: a few milliseconds. */
const ROWS_PER_WINDOW = 500;

/** Deliveries by their numbers, both inclusive. */
export interface DeliveryWindow {
  from: number;
  until: number;
}

/**
 * Cuts the deliveries of a run into windows, and lets the main loop go on between them. All of a run were written in one
 * transaction, so that their numbers are one span. Within a transaction what is made of the windows is seen whole or not
 * at all.
 */
export async function* deliveryWindows(
  db: ReadableDatabase | Transaction<Tables>,
  runId: number,
): AsyncGenerator<DeliveryWindow> {
  const { rows } = await sql<{ first: number | null; last: number | null }>`select min(id) as first, max(id) as last
    from deliveries indexed by deliveries_by_state where run_id = ${runId}`.execute(db);
  await setImmediate();
  const [span] = rows;
  if (span?.first === undefined || span.first === null || span.last === null) return;
  for (let from = span.first; from <= span.last; from += ROWS_PER_WINDOW) {
    yield { from, until: Math.min(span.last, from + ROWS_PER_WINDOW - 1) };
    await setImmediate();
  }
}

/** An SQL condition for the deliveries of a run within a window; reads those rows and no index. */
export function isWithin(window: DeliveryWindow, runId: number) {
  return sql<boolean>`(deliveries.id between ${window.from} and ${window.until} and +deliveries.run_id = ${runId})`;
}
