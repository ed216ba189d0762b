import { sql, type RawBuilder } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';

/** Events of one author of which the same is known on each relay. */
export interface KnownCopies {
  /** Days (UTC) since 1970 of their `created_at`; always 0 unless asked for by day. */
  day: number;
  events: number;
  /** Whether relays are not meant to keep them: replaced by a newer version, or deleted. Always false by day. */
  past: boolean;
  /** For each relay that was asked about, in the same order; null: undetermined. */
  present: (boolean | null)[];
}

/** Two bits each, decided and present: a JavaScript number holds 53. */
const RELAYS_PER_CODE = 25;
const PRESENT = 2 ** RELAYS_PER_CODE;

interface Row {
  day: number;
  events: number;
  past: 0 | 1;
  [code: `code${number}`]: number;
}

/**
 * Reads every archived event of an author once, with what the projection knows about it on some relays, and counts those
 * of which the same is known. What is known of an event is put in a number in SQLite, because asking relay by relay reads
 * all events as often as there are relays. Takes a second or two for a million events: for a thread of its own.
 *
 * @param author 64 hex characters.
 * @param options.byDay also tells apart by day; `latest` leaves out what is later, or earlier than 1970 (Unix seconds).
 */
export async function readKnownCopies(
  db: ReadableDatabase,
  author: string,
  relayIds: readonly number[],
  options: { byDay: true; latest: number } | { byDay: false },
): Promise<KnownCopies[]> {
  const codes = [];
  for (let start = 0; start < relayIds.length; start += RELAYS_PER_CODE) {
    codes.push(sql`, ${codeOf(relayIds.slice(start, start + RELAYS_PER_CODE))} as ${sql.ref(`code${codes.length}`)}`);
  }
  const columns = codes.map((_, place) => sql`, ${sql.ref(`code${place}`)}`);
  const { rows } = await sql<Row>`select day, past, count(*) as events ${sql.join(columns, sql``)} from (
      select ${options.byDay ? sql`events.created_at / 86400` : sql`0`} as day,
        ${options.byDay ? sql`0` : IS_PAST} as past ${sql.join(codes, sql``)}
      from authors join events on events.author = authors.id
      where authors.pubkey = ${Buffer.from(author, 'hex')}
        and ${options.byDay ? sql`events.created_at between 0 and ${options.latest}` : sql`true`})
    group by day, past ${sql.join(columns, sql``)} order by day`.execute(db);
  return rows.map((row) => ({
    day: row.day,
    events: row.events,
    past: row.past === 1,
    present: relayIds.map((_, place) => knownOf(row, place)),
  }));
}

/** Whether relays drop the current row of `events` by rule, as far as it was checked. */
const IS_PAST = sql<0 | 1>`exists (select 1 from exclusions where exclusions.event_ref = events.ref
  and exclusions.reason in ('superseded', 'deleted'))`;

/** What is known about the current row of `events`, as a number: the lower half says decided, the upper half present. */
function codeOf(relayIds: readonly number[]): RawBuilder<number> {
  const bits = relayIds.map((relayId, place) => sql`when ${relayId} then ${2 ** place}`);
  return sql<number>`coalesce((select sum((case presence.relay_id ${sql.join(bits, sql` `)} else 0 end)
      * (1 + presence.present * ${PRESENT}))
    from presence indexed by presence_by_event where presence.event_ref = events.ref), 0)`;
}

function knownOf(row: Row, place: number): boolean | null {
  const code = row[`code${Math.floor(place / RELAYS_PER_CODE)}`] ?? 0;
  const bit = 2 ** (place % RELAYS_PER_CODE);
  const isSet = (half: number): boolean => Math.floor(half / bit) % 2 === 1;
  return isSet(code % PRESENT) ? isSet(Math.floor(code / PRESENT)) : null;
}
