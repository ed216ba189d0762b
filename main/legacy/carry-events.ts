import type { SignedEvent } from '../../preload/contract.ts';
import type { Transaction } from 'kysely';
import { archiveEvents } from '../coverage/archive-events.ts';
import type { Tables } from '../database/tables.ts';
import { compareColumns, isEvent, readOldEvent, remarkOnCreatedAt, verifyOldEvents } from './old-event.ts';
import { valueOf, type OldRow } from './old-row.ts';
import { judgeTime } from './old-time.ts';
import type { CarryRows } from './carry-context.ts';
import type { Remark, RowFate } from './row-fate.ts';

/**
 * Signed events: each is checked as if a relay had sent it, and enters the archive the same way. When it was first seen
 * comes over where that time can be right; elsewhere it is the time of carrying over, which is true of this archive.
 */
export const carryEvents: CarryRows = async (rows, { verifier, now }) => {
  const read = rows.map((row) => readOldEvent('json', valueOf(row, 'json')));
  const checked = await verifyOldEvents(read, verifier);
  const seenAt = new Map<string, number>();
  const remarks = checked.map((entry, index): Remark[] => {
    const row = rows[index];
    if (!isEvent(entry) || row === undefined) return [];
    const firstSeen = judgeTime('first_seen_at', valueOf(row, 'first_seen_at'), now);
    if (firstSeen.at !== null) seenAt.set(entry.id, Math.min(firstSeen.at, seenAt.get(entry.id) ?? firstSeen.at));
    return [
      ...compareRow(row, entry),
      ...remarkOnCreatedAt(entry, now),
      ...(firstSeen.at === null ? [{ problem: firstSeen.problem, detail: firstSeen.detail }] : []),
    ];
  });
  return async (trx) => {
    const carried = await archiveOnce(trx, checked.filter(isEvent), ({ id }) => seenAt.get(id) ?? now);
    return checked.map((entry, index): RowFate => {
      if (!isEvent(entry)) return entry;
      return { outcome: carried.delete(entry.id) ? 'carried' : 'merged', remarks: remarks[index] ?? [] };
    });
  };
};

function compareRow(row: OldRow, event: SignedEvent): Remark[] {
  return compareColumns({
    id: [valueOf(row, 'id'), event.id],
    pubkey: [valueOf(row, 'pubkey'), event.pubkey],
    kind: [valueOf(row, 'kind'), event.kind],
    created_at: [valueOf(row, 'created_at'), event.created_at],
  });
}

/** Archives checked events; resolves to the IDs of those that were not in the archive before. */
export async function archiveOnce(
  trx: Transaction<Tables>,
  events: readonly SignedEvent[],
  seenAt: (event: SignedEvent) => number,
): Promise<Set<string>> {
  if (events.length === 0) return new Set();
  const { refs, newlyArchived } = await archiveEvents(trx, events, seenAt);
  return new Set([...refs].filter(([, ref]) => newlyArchived.has(ref)).map(([id]) => id));
}
