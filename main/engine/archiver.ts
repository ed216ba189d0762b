import type { SignedEvent } from '../../preload/contract.ts';
import type { StoredBatch } from '../archive/event-store.ts';
import { archiveEvents } from '../coverage/archive-events.ts';
import { nowSeconds } from '../platform/clock.ts';
import type { EngineParts } from './engine-parts.ts';

/** Archives checked events that came from elsewhere than a fetch: a file, or the look-up of a relay list. */
export function archiver({ db, clock }: EngineParts): (events: readonly SignedEvent[]) => Promise<StoredBatch> {
  return (events) => db.transaction().execute((trx) => archiveEvents(trx, events, nowSeconds(clock)));
}
