import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { DeliveryReason, DeliveryState, SyncWarning } from '../../preload/contract.ts';
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
  copies: readonly Pick<PreviewedCopy, 'ref' | 'createdAt'>[],
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

/** Events looked at in one go: a few milliseconds. */
const EVENTS_PER_SLICE = 500;

interface LatestDelivery {
  event_ref: number;
  state: DeliveryState;
  created_at: number;
  reason: DeliveryReason | null;
  message: string | null;
}

/** The latest deliveries of events to a relay that it refused, by its words. Lets the main loop go on meanwhile. */
async function readRefusals(db: ReadableDatabase, relayId: number): Promise<Refusal[]> {
  const refusals = new Map<string, Refusal>();
  for await (const rows of latestDeliveries(db, relayId)) {
    for (const { event_ref: ref, state, created_at: createdAt, reason, message } of rows) {
      if (state !== 'rejected') continue;
      const words = message ?? reason ?? 'other';
      const known = refusals.get(words);
      const refusal = known ?? {
        reason: reason ?? 'other',
        message: words,
        refs: new Set(),
        newest: createdAt,
        refused: 0,
      };
      if (known === undefined) refusals.set(words, refusal);
      refusal.refs.add(ref);
      refusal.refused += 1;
      refusal.newest = Math.max(refusal.newest, createdAt);
    }
  }
  return [...refusals.values()].sort((a, b) => b.refused - a.refused).slice(0, MOST_REFUSALS);
}

/** Of each event that was ever to go to a relay the latest delivery, in slices. */
async function* latestDeliveries(db: ReadableDatabase, relayId: number): AsyncGenerator<LatestDelivery[]> {
  for (let after = 0; ;) {
    // With one max() the other columns are those of its row.
    const { rows } = await sql<LatestDelivery>`select event_ref, max(id), state, created_at, reason, message
      from deliveries indexed by deliveries_by_copy where relay_id = ${relayId} and event_ref > ${after}
      group by event_ref order by event_ref limit ${EVENTS_PER_SLICE}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.event_ref;
    await setImmediate();
  }
}

/** Relays that put something of the event into their words would make a list without end. */
const MOST_REFUSALS = 5;
