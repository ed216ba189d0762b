import { sql } from 'kysely';
import type { DeliveryReason, SyncWarning } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { formatSecond } from '../platform/format-second.ts';
import type { PreviewedCopy } from './advertised-limits.ts';

interface Refusal {
  reason: DeliveryReason;
  message: string;
  refs: Set<number>;
  /** The newest event that was refused so. */
  newest: number;
  refused: number;
}

/** Words in which relays refuse events for their age. */
const AGE_WORDS = /created_at|too (old|early)|\bage\b|in the past/i;

/** What earlier deliveries to a relay say against some of the copies: those refused before, and those like them. */
export async function warningsFromRefusals(
  db: ReadableDatabase,
  relayId: number,
  copies: readonly PreviewedCopy[],
): Promise<SyncWarning[]> {
  return (await readRefusals(db, relayId)).flatMap((refusal) => {
    const isForAge = AGE_WORDS.test(refusal.message) && refusal.reason !== 'too-large';
    const concerned = copies.filter(
      ({ ref, createdAt }) => refusal.refs.has(ref) || (isForAge && createdAt <= refusal.newest),
    ).length;
    if (concerned === 0) return [];
    const events = refusal.refused === 1 ? 'an event' : `${refusal.refused.toLocaleString('en-US')} events`;
    const message = isForAge
      ? `It refused ${events} for their age, the newest of ${formatSecond(refusal.newest)}: “${refusal.message}”`
      : `It refused ${events}: “${refusal.message}”`;
    return [{ type: isForAge ? ('too-old' as const) : ('refused-before' as const), copies: concerned, message }];
  });
}

/** The latest deliveries of events to a relay that it refused, by its words. */
async function readRefusals(db: ReadableDatabase, relayId: number): Promise<Refusal[]> {
  const { rows } = await sql<{
    event_ref: number;
    created_at: number;
    reason: DeliveryReason;
    message: string | null;
  }>`select event_ref, created_at, coalesce(reason, 'other') as reason, message from deliveries
    where relay_id = ${relayId} and state = 'rejected' and id = (select max(latest.id) from deliveries as latest
      where latest.relay_id = deliveries.relay_id and latest.event_ref = deliveries.event_ref)`.execute(db);
  const refusals = new Map<string, Refusal>();
  for (const { event_ref: ref, created_at: createdAt, reason, message } of rows) {
    const words = message ?? reason;
    const refusal = refusals.get(words) ?? { reason, message: words, refs: new Set(), newest: createdAt, refused: 0 };
    refusal.refs.add(ref);
    refusal.refused += 1;
    refusal.newest = Math.max(refusal.newest, createdAt);
    refusals.set(words, refusal);
  }
  return [...refusals.values()].sort((a, b) => b.refused - a.refused).slice(0, MOST_REFUSALS);
}

/** Relays that put something of the event into their words would make a list without end. */
const MOST_REFUSALS = 5;
