import type { Transaction } from 'kysely';
import type { SignedEvent } from '../../preload/contract.ts';
import { storeEvents, type SeenAt, type StoredBatch } from '../archive/event-store.ts';
import type { Tables } from '../database/tables.ts';
import { compareNewlyArchived } from './observe-presence.ts';
import { countAsFetched } from './walk-evidence.ts';

/**
 * Archives verified events, compares the new ones with what is known about relays, and counts them as fetched where a
 * relay had named them. Every body enters the archive this way, wherever it came from, so that neither the projection nor
 * a count ever lags behind the archive.
 *
 * @param seenAt Unix seconds, of all of them or of each.
 */
export async function archiveEvents(
  trx: Transaction<Tables>,
  events: readonly SignedEvent[],
  seenAt: SeenAt,
): Promise<StoredBatch> {
  const stored = await storeEvents(trx, events, seenAt);
  const fresh = [...stored.newlyArchived];
  await compareNewlyArchived(trx, fresh);
  await countAsFetched(trx, fresh);
  return stored;
}
