import type { WritableDatabase } from '../../main/database/database-file.ts';
import { readArchive, type ArchiveSelection } from '../../main/archive/event-reader.ts';
import { storeEvents, type StoredBatch } from '../../main/archive/event-store.ts';
import type { SignedEvent } from '../../preload/contract.ts';

/** Archives events in a transaction of their own. */
export function archive(
  db: WritableDatabase,
  events: readonly SignedEvent[],
  at = 1_700_000_000,
): Promise<StoredBatch> {
  return db.transaction().execute((trx) => storeEvents(trx, events, at));
}

export async function readAll(db: WritableDatabase, selection: ArchiveSelection = {}): Promise<SignedEvent[]> {
  const events: SignedEvent[] = [];
  for await (const event of readArchive(db, selection)) events.push(event);
  return events;
}

/** Time first, then ID: the order of every export. */
export function inOrder(events: readonly SignedEvent[]): SignedEvent[] {
  return events.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}
