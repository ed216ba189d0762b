import type { SignedEvent } from '../../preload/contract.ts';
import { keyOf, type TestKey } from '../relays/event-builder.ts';

/** Rows of one table, by column. */
export type GivenRow = Record<string, unknown>;
export type GivenRows = Record<string, GivenRow[]>;

/** When the first version was last used in generated databases, Unix seconds. */
export const LAST_USED = 1_690_000_000;
/** The oldest event of generated histories. */
export const OLDEST = 1_600_000_000;

/** The key of a generated account, from 0. */
export function accountKey(number: number): TestKey {
  return keyOf(`first version ${number}`);
}

/** A relay of generated accounts. */
export function relayUrl(number: number): string {
  return `wss://relay${number}.example`;
}

/** The row of an event as the first version wrote it. */
export function eventRow(event: SignedEvent): GivenRow {
  return {
    id: event.id,
    pubkey: event.pubkey,
    kind: event.kind,
    created_at: event.created_at,
    json: JSON.stringify(event),
    first_seen_at: LAST_USED - 3000,
  };
}

/** A sighting as the first version wrote it. */
export function presenceRow(eventId: string, url: string, observedAt: number): GivenRow {
  return { event_id: eventId, relay_url: url, observed_at: observedAt, expires_at: observedAt + 3600 };
}

/** An operation as the first version wrote it; a fetch unless told otherwise. */
export function operationRow(id: string, accountId: number, more: GivenRow): GivenRow {
  return {
    id,
    account_id: accountId,
    type: 'fetch',
    status: 'completed',
    settings: '{"relays":[],"windowLimit":500}',
    checkpoint: null,
    started_at: LAST_USED - 2000,
    finished_at: LAST_USED - 1000,
    error: null,
    ...more,
  };
}

/** Where a fetch stood, with so many windows left, taking turns between relays. */
export function checkpointOf(urls: readonly string[], windows: number): Record<string, unknown> {
  const length = Math.floor((LAST_USED - OLDEST) / Math.max(1, windows));
  return {
    version: 1,
    windowLimit: 500,
    completedWindows: 17,
    eventsSeen: 8123,
    pendingWindows: Array.from({ length: windows }, (_, index) => ({
      relay: urls[index % urls.length],
      since: OLDEST + index * length,
      until: OLDEST + (index + 1) * length - 1,
      depth: 3,
    })),
  };
}
