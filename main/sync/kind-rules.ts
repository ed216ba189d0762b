import { isEphemeralKind } from 'nostr-tools/kinds';

/**
 * Kinds that are signed, and yet are nothing to be sent to write relays: seals and the messages within them (NIP-59,
 * NIP-17), invitations to encrypted groups, which travel in gift wraps alone (NIP-EE), requests to vanish, which would have
 * a relay erase what is kept there (NIP-62), zap requests, which go to a payment service (NIP-57), answers that prove who is
 * asking (NIP-42, NIP-98, and the one of media servers), and drafts, which belong on relays that the author names in secret
 * (NIP-37).
 */
const NEVER_SENT: ReadonlySet<number> = new Set([13, 14, 15, 62, 444, 9734, 22_242, 24_242, 27_235, 31_234]);

/** Kinds that a deletion request has no effect on (NIP-09, NIP-62). */
export const UNDELETABLE_KINDS: readonly number[] = [5, 62];

/** Why events of a kind are never sent, whatever else they are; null when they are. */
export function kindReason(kind: number): 'never-sent' | 'ephemeral' | null {
  if (NEVER_SENT.has(kind)) return 'never-sent';
  return isEphemeralKind(kind) ? 'ephemeral' : null;
}
