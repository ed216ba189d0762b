import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { LATER_WINS } from './presence-rule.ts';

/** The first version saw an event on a relay: it noted when, and neither a query nor any bounds. */
export interface Sighting {
  relayId: number;
  eventRef: number;
  /** Unix seconds. */
  observedAt: number;
}

/**
 * Records what the first version saw as positive evidence, and notes it in the projection where nothing later is known.
 * A sighting says that this event was there at that time; it never says that anything is missing (design §3.2).
 *
 * @param sourceId the database of the first version that it comes from.
 */
export async function recordSightings(
  trx: Transaction<Tables>,
  sourceId: number,
  sightings: readonly Sighting[],
): Promise<void> {
  if (sightings.length === 0) return;
  const list = JSON.stringify(
    sightings.map(({ relayId, eventRef, observedAt }) => [relayId, eventRef, observedAt] as const),
  );
  await sql`insert into legacy_sightings (relay_id, event_ref, observed_at, source_id)
    select value ->> 0, value ->> 1, value ->> 2, ${sourceId} from json_each(${list}) where true
    on conflict do nothing`.execute(trx);
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind)
    select value ->> 0, value ->> 1, 1, (value ->> 2) * 1000, null, (select kind from events where events.ref = value ->> 1)
    from json_each(${list}) where true ${LATER_WINS}`.execute(trx);
}
