import { isReplaceableKind } from 'nostr-tools/kinds';

/** Deletion requests (NIP-09). */
export const DELETION_KIND = 5;

/** What decides when an event is sent. */
export interface Sortable {
  ref: number;
  kind: number;
  createdAt: number;
}

/**
 * The order in which events go to a relay: profile and lists first, because others are read with them; then what was written;
 * deletion requests last, when whatever they are about has arrived. Within such a class the oldest goes first.
 */
export function inOrderOfSending<E extends Sortable>(events: readonly E[]): E[] {
  return events.toSorted((a, b) => classOf(a.kind) - classOf(b.kind) || a.createdAt - b.createdAt || a.ref - b.ref);
}

function classOf(kind: number): number {
  if (kind === DELETION_KIND) return 2;
  return isReplaceableKind(kind) ? 0 : 1;
}
