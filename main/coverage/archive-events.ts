import type { Transaction } from 'kysely';
import type { SignedEvent } from '../../preload/contract.ts';
import { storeEvents, type StoredBatch } from '../archive/event-store.ts';
import type { Tables } from '../database/tables.ts';
import { compareNewlyArchived } from './observe-presence.ts';

/**
 * Archives verified events and compares the new ones with what is known about relays. Every body enters the archive this
 * way, wherever it came from, so that the projection never lags behind the archive.
 *
 * @param seenAt Unix seconds.
 */
export async function archiveEvents(
  trx: Transaction<Tables>,
  events: readonly SignedEvent[],
  seenAt: number,
): Promise<StoredBatch> {
  const stored = await storeEvents(trx, events, seenAt);
  await compareNewlyArchived(trx, [...stored.newlyArchived]);
  return stored;
}
