import { sql, type Transaction } from 'kysely';
import { internEventIds } from '../archive/event-store.ts';
import { recordSightings } from '../coverage/record-sightings.ts';
import type { Tables } from '../database/tables.ts';
import { integerOf, shown, valueOf, type OldRow } from './old-row.ts';
import { judgeTime } from './old-time.ts';
import { internRelays, numberOf, oldRelay, type OldRelay } from './relay-numbers.ts';
import type { CarryRows } from './carry-context.ts';
import { aside, type Remark, type RowFate } from './row-fate.ts';

const EVENT_ID = /^[0-9a-f]{64}$/;
/** For how long the first version trusted what it had seen, in seconds. */
const TRUSTED_SECONDS = 3600;

interface Seen {
  eventId: string;
  relay: OldRelay;
  observedAt: number;
  remarks: Remark[];
}

/**
 * What was seen on relays: positive evidence with its own time, also for events whose body is not archived. It says what
 * was there then, and never that anything is missing. That the first version stopped trusting it after an hour changes
 * nothing about what it saw.
 */
export const carryPresence: CarryRows = (rows, { source, now }) => {
  const read = rows.map((row) => readSeen(row, now));
  return Promise.resolve(async (trx) => {
    const seen = read.filter((entry) => 'eventId' in entry);
    const relays = await internRelays(
      trx,
      seen.map(({ relay }) => relay),
    );
    const refs = await internEventIds(trx, [...new Set(seen.map(({ eventId }) => eventId))]);
    const known = await readKnown(trx, [...relays.values()], [...refs.values()]);
    const latest = new Map<string, { relayId: number; eventRef: number; observedAt: number }>();
    const fates = read.map((entry): RowFate => {
      if (!('eventId' in entry)) return entry;
      const { eventId, relay, observedAt, remarks } = entry;
      const relayId = numberOf(relays, relay);
      const eventRef = refs.get(eventId);
      if (eventRef === undefined) throw new Error('an event ID was interned and then not found');
      const pair = `${relayId} ${eventRef}`;
      const before = known.get(pair) ?? [];
      const own = before.find((row) => row.source_id === source.id);
      if (own === undefined) {
        if (before.some((row) => row.observed_at === observedAt)) return { outcome: 'merged', remarks };
        known.set(pair, [...before, { source_id: source.id, observed_at: observedAt }]);
        latest.set(pair, { relayId, eventRef, observedAt });
        return { outcome: 'carried', remarks };
      }
      if (observedAt > own.observed_at) {
        own.observed_at = observedAt;
        latest.set(pair, { relayId, eventRef, observedAt });
      }
      const detail = `${shown(relay.url)} is the same relay as one in another row on this event; the later time was kept.`;
      return { outcome: 'merged', remarks: [...remarks, { problem: 'duplicate', detail }] };
    });
    await replaceEarlier(trx, source.id, [...latest.values()]);
    await recordSightings(trx, source.id, [...latest.values()]);
    return fates;
  });
};

function readSeen(row: OldRow, now: number): Seen | RowFate {
  const eventId = valueOf(row, 'event_id');
  if (typeof eventId !== 'string') return aside('wrong-type', `The event's ID is ${shown(eventId)}, no text.`);
  if (!EVENT_ID.test(eventId)) {
    return aside('wrong-shape', `The event's ID is ${shown(eventId)}, not 64 lower-case hex characters.`);
  }
  const url = valueOf(row, 'relay_url');
  if (typeof url !== 'string') return aside('wrong-type', `The relay's address is ${shown(url)}, no text.`);
  const relay = oldRelay(url);
  if (relay === null) return aside('bad-url', `${shown(url)} is not the address of a relay.`);
  const observed = judgeTime('observed_at', valueOf(row, 'observed_at'), now);
  if (observed.at === null) return aside(observed.problem, observed.detail);
  const remarks: Remark[] = [];
  if (integerOf(row, 'expires_at') !== observed.at + TRUSTED_SECONDS) {
    const detail = `expires_at is ${shown(valueOf(row, 'expires_at'))}, not an hour after observed_at, which counts.`;
    remarks.push({ problem: 'contradiction', detail });
  }
  return { eventId, relay, observedAt: observed.at, remarks };
}

interface KnownSighting {
  source_id: number;
  observed_at: number;
}

async function readKnown(
  trx: Transaction<Tables>,
  relays: readonly number[],
  refs: readonly number[],
): Promise<Map<string, KnownSighting[]>> {
  const { rows } = await sql<KnownSighting & { pair: string }>`
    select relay_id || ' ' || event_ref as pair, source_id, observed_at
    from json_each(${JSON.stringify(relays)}) as relay
    cross join json_each(${JSON.stringify(refs)}) as event
    cross join legacy_sightings on relay_id = relay.value and event_ref = event.value`.execute(trx);
  const known = new Map<string, KnownSighting[]>();
  for (const { pair, source_id, observed_at } of rows)
    known.set(pair, [...(known.get(pair) ?? []), { source_id, observed_at }]);
  return known;
}

/** Of one source, one sighting of an event on a relay stands: the latest. */
async function replaceEarlier(
  trx: Transaction<Tables>,
  sourceId: number,
  latest: readonly { relayId: number; eventRef: number }[],
): Promise<void> {
  const pairs = JSON.stringify(latest.map(({ relayId, eventRef }) => [relayId, eventRef]));
  await sql`delete from legacy_sightings where source_id = ${sourceId}
    and (relay_id, event_ref) in (select value ->> 0, value ->> 1 from json_each(${pairs}))`.execute(trx);
}
