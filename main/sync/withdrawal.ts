import { sql } from 'kysely';
import type { DeliveryReason } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import type { PendingDelivery, Share } from './delivery-rows.ts';
import { reasonsNotToSend } from './send-check.ts';

/** Why a delivery is not sent after all, in one plain sentence. */
const SENTENCES = {
  deleted: 'The account has asked for this event to be deleted.',
  expired: 'This event has expired.',
  superseded: 'A newer version of this event is archived.',
  protected: 'This event is protected: only its author may send it, after authentication.',
  vanished: 'The account has asked this relay to erase everything up to that time.',
  ephemeral: 'Events of this kind are not stored by relays.',
  'never-sent': 'Events of this kind are never meant for relays.',
  'no-write-relay': 'This relay is not a write relay of the account any more.',
  present: 'The relay was seen to hold this event already.',
} as const satisfies Partial<Record<DeliveryReason, string>>;

export interface Withdrawal {
  reason: keyof typeof SENTENCES;
  message: string;
}

/** What a delivery is withdrawn with. */
export function withdrawalFor(reason: keyof typeof SENTENCES): Withdrawal {
  return { reason, message: SENTENCES[reason] };
}

/** Whether events may still be sent to a relay for an account. */
export async function isWriteRelay(db: ReadableDatabase, accountId: number, relayId: number): Promise<boolean> {
  const row = await db
    .selectFrom('account_relays')
    .select('write')
    .where('account_id', '=', accountId)
    .where('relay_id', '=', relayId)
    .executeTakeFirst();
  return row?.write === 1;
}

/**
 * Looks once more, right before sending, at what has changed since the selection was made: events that may not be sent any
 * more, and copies that have turned up by themselves.
 *
 * @param now Unix seconds.
 * @returns what is not to be sent, by delivery.
 */
export async function checkBeforeSending(
  db: ReadableDatabase,
  share: Share & { author: string; relayKey: string },
  deliveries: readonly PendingDelivery[],
  now: number,
): Promise<Map<number, Withdrawal>> {
  const reasons = await reasonsNotToSend(db, {
    author: share.author,
    relayKey: share.relayKey,
    refs: deliveries.map(({ ref }) => ref),
    now,
  });
  const present = await presentRefs(
    db,
    share.relayId,
    // Also of what was sent before: a look of this run that finds it would have verified it, so another one saw it there.
    deliveries.map(({ ref }) => ref),
  );
  const withdrawals = new Map<number, Withdrawal>();
  for (const { id, ref } of deliveries) {
    const reason = reasons.get(ref) ?? (present.has(ref) ? 'present' : undefined);
    if (reason !== undefined) withdrawals.set(id, withdrawalFor(reason));
  }
  return withdrawals;
}

async function presentRefs(db: ReadableDatabase, relayId: number, refs: readonly number[]): Promise<Set<number>> {
  const rows = await db
    .selectFrom('presence')
    .select('event_ref')
    .where('relay_id', '=', relayId)
    .where('present', '=', 1)
    .where(sql<boolean>`event_ref in (select value from json_each(${JSON.stringify(refs)}))`)
    .execute();
  return new Set(rows.map((row) => row.event_ref));
}
