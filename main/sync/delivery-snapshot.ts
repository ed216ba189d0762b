import { setImmediate } from 'node:timers/promises';
import type { Narrowing } from '../../preload/contract.ts';
import { RowInsertion } from '../archive/row-insertion.ts';
import { beginRun } from '../coverage/run-history.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { inOrderOfSending, type Sortable } from './delivery-order.ts';

/** What a sync is begun with: exactly these events to exactly these relays. */
export interface Selection {
  accountId: number;
  /** T, Unix seconds: the moment of the selection. */
  boundary: number;
  narrowing: Narrowing;
  shares: readonly { relayId: number; key: string; candidates: readonly Sortable[] }[];
}

const insertion = new RowInsertion('deliveries', [
  'run_id',
  'relay_id',
  'event_ref',
  'kind',
  'created_at',
  'position',
  'state',
]);
/** Rows written in one go: a few milliseconds. */
const ROWS_PER_SLICE = 512;
/** The page limit of a run that asks for events by ID: how many at a time at the most. */
export const IDS_PER_QUERY = 100;

/**
 * Records the run and every delivery of it in one transaction: after a crash there is the whole selection or none. The rows
 * are written in slices, between which the main loop goes on.
 *
 * @returns the run's number.
 */
export async function beginSync(db: WritableDatabase, selection: Selection): Promise<number> {
  const { accountId, boundary, narrowing, shares } = selection;
  return db.transaction().execute(async (trx) => {
    const runId = await beginRun(trx, {
      accountId,
      type: 'sync',
      strategy: 'auto',
      pageLimit: IDS_PER_QUERY,
      boundary,
      sources: shares.map(({ key }) => key),
      warnings: [],
      startedAt: boundary,
    });
    await trx
      .updateTable('runs')
      .set({ narrowing: JSON.stringify(narrowing) })
      .where('id', '=', runId)
      .execute();
    for (const { relayId, candidates } of shares) {
      const rows = inOrderOfSending(candidates).map(({ ref, kind, createdAt }, position) => [
        runId,
        relayId,
        ref,
        kind,
        createdAt,
        position,
        'pending',
      ]);
      for (let start = 0; start < rows.length; start += ROWS_PER_SLICE) {
        await insertion.insert(trx, rows.slice(start, start + ROWS_PER_SLICE));
        await setImmediate();
      }
    }
    return runId;
  });
}
