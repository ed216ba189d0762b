import { sql } from 'kysely';
import type { CopiesSummary, CoverageTimeline } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { FUTURE_TOLERANCE_SECONDS } from '../nostr/plausible-time.ts';

/** Whom a summary is about, as it is handed to the thread that computes it. */
export interface SummarySubject {
  /** 64 hex characters. */
  account: string;
  /** The account's source relays, in order. */
  relays: readonly { relayId: number; url: string }[];
  /** Unix seconds. */
  now: number;
}

/** How many source relays hold each archived event, from the projection. Reads every event of the account. */
export async function computeCopies(db: ReadableDatabase, subject: SummarySubject): Promise<CopiesSummary> {
  const sources = JSON.stringify(subject.relays.map(({ relayId }) => relayId));
  const author = Buffer.from(subject.account, 'hex');
  const { rows } = await sql<{ copies: number; decided: number; events: number }>`
    select copies, decided, count(*) as events from (
      select (select count(*) from presence where presence.event_ref = events.ref and presence.present = 1
          and presence.relay_id in (select value from json_each(${sources}))) as copies,
        exists (select 1 from presence where presence.event_ref = events.ref
          and presence.relay_id in (select value from json_each(${sources}))) as decided
      from authors join events on events.author = authors.id where authors.pubkey = ${author})
    group by copies, decided`.execute(db);
  const where = (holds: (row: { copies: number; decided: number }) => boolean): number =>
    rows.reduce((sum, row) => sum + (holds(row) ? row.events : 0), 0);
  const events = where(() => true);
  const relays = await countByRelay(db, subject, author);
  return {
    account: subject.account,
    events,
    none: where(({ copies }) => copies === 0),
    one: where(({ copies }) => copies === 1),
    two: where(({ copies }) => copies === 2),
    more: where(({ copies }) => copies >= 3),
    undetermined: where(({ copies, decided }) => copies === 0 && decided === 0),
    relays: subject.relays.map(({ relayId, url }) => {
      const { present, absent } = relays.get(relayId) ?? { present: 0, absent: 0 };
      return { url, present, absent, undetermined: events - present - absent };
    }),
    computedAt: subject.now,
  };
}

async function countByRelay(
  db: ReadableDatabase,
  subject: SummarySubject,
  author: Buffer,
): Promise<Map<number, { present: number; absent: number }>> {
  const counts = new Map<number, { present: number; absent: number }>();
  for (const { relayId } of subject.relays) {
    const { rows } = await sql<{ present: number; events: number }>`
      select presence.present, count(*) as events from presence
      join events on events.ref = presence.event_ref
      join authors on authors.id = events.author
      where presence.relay_id = ${relayId} and authors.pubkey = ${author}
      group by presence.present`.execute(db);
    const of = (state: number): number => rows.find((row) => row.present === state)?.events ?? 0;
    counts.set(relayId, { present: of(1), absent: of(0) });
  }
  return counts;
}

/** Archived, present and missing events by month of their `created_at` (UTC). Reads every event of the account. */
export async function computeTimeline(db: ReadableDatabase, subject: SummarySubject): Promise<CoverageTimeline> {
  const author = Buffer.from(subject.account, 'hex');
  const latest = subject.now + FUTURE_TOLERANCE_SECONDS;
  const month = sql<string>`strftime('%Y-%m', events.created_at, 'unixepoch')`;
  const plausible = sql`events.created_at between 0 and ${latest}`;
  const archived = await sql<{ month: string; events: number }>`select ${month} as month, count(*) as events
    from authors join events on events.author = authors.id
    where authors.pubkey = ${author} and ${plausible} group by 1 order by 1`.execute(db);
  const implausible = await sql<{ events: number }>`select count(*) as events
    from authors join events on events.author = authors.id
    where authors.pubkey = ${author} and not (${plausible})`.execute(db);
  const months = monthsBetween(archived.rows[0]?.month, archived.rows.at(-1)?.month);
  const place = new Map(months.map((name, index) => [name, index]));
  const fill = (rows: readonly { month: string; events: number }[]): number[] => {
    const counts = months.map(() => 0);
    for (const row of rows) {
      const index = place.get(row.month);
      if (index !== undefined) counts[index] = row.events;
    }
    return counts;
  };
  const relays: CoverageTimeline['relays'] = [];
  for (const { relayId, url } of subject.relays) {
    const { rows } = await sql<{ month: string; present: number; events: number }>`
      select ${month} as month, presence.present, count(*) as events from presence
      join events on events.ref = presence.event_ref
      join authors on authors.id = events.author
      where presence.relay_id = ${relayId} and authors.pubkey = ${author} and ${plausible}
      group by 1, 2`.execute(db);
    relays.push({
      url,
      present: fill(rows.filter((row) => row.present === 1)),
      absent: fill(rows.filter((row) => row.present === 0)),
    });
  }
  return {
    account: subject.account,
    months: months.map((name) => Date.parse(`${name}-01T00:00:00Z`) / 1000),
    archived: fill(archived.rows),
    relays,
    implausible: implausible.rows[0]?.events ?? 0,
    computedAt: subject.now,
  };
}

/** All months from the first to the last, both named `YYYY-MM`. */
function monthsBetween(first: string | undefined, last: string | undefined): string[] {
  if (first === undefined || last === undefined) return [];
  const months: string[] = [];
  let [year, month] = first.split('-').map(Number) as [number, number];
  for (;;) {
    const name = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`;
    months.push(name);
    if (name >= last) return months;
    month += 1;
    if (month > 12) {
      month = 1;
      year += 1;
    }
  }
}
