import { sql } from 'kysely';
import type { CopiesSummary, CoverageTimeline } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { FUTURE_TOLERANCE_SECONDS } from '../nostr/plausible-time.ts';
import { readKnownCopies, type KnownCopies } from './known-copies.ts';

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
  const relayIds = subject.relays.map(({ relayId }) => relayId);
  const groups = await readKnownCopies(db, subject.account, relayIds, { byDay: false });
  const where = (holds: (copies: number, group: KnownCopies) => boolean): number =>
    groups.reduce((sum, group) => sum + (holds(copiesOf(group), group) ? group.events : 0), 0);
  return {
    account: subject.account,
    events: where(() => true),
    none: where((copies) => copies === 0),
    one: where((copies) => copies === 1),
    two: where((copies) => copies === 2),
    more: where((copies) => copies >= 3),
    undetermined: where((_, { present }) => present.every((known) => known === null)),
    past: where((copies, { past, present }) => past && copies === 0 && present.some((known) => known !== null)),
    relays: subject.relays.map(({ url }, place) => ({
      url,
      present: where((_, { present }) => present[place] === true),
      absent: where((_, { present }) => present[place] === false),
      undetermined: where((_, { present }) => present[place] === null),
      past: {
        present: where((_, { past, present }) => past && present[place] === true),
        absent: where((_, { past, present }) => past && present[place] === false),
      },
    })),
    computedAt: subject.now,
  };
}

function copiesOf({ present }: KnownCopies): number {
  return present.filter((known) => known === true).length;
}

/** Archived, present and missing events by month of their `created_at` (UTC). Reads every event of the account. */
export async function computeTimeline(db: ReadableDatabase, subject: SummarySubject): Promise<CoverageTimeline> {
  const relayIds = subject.relays.map(({ relayId }) => relayId);
  const latest = subject.now + FUTURE_TOLERANCE_SECONDS;
  const days = await readKnownCopies(db, subject.account, relayIds, { byDay: true, latest });
  const months = monthsBetween(days[0], days.at(-1));
  const place = new Map(months.map((name, index) => [name, index]));
  const count = (holds: (group: KnownCopies) => boolean): number[] => {
    const counts = months.map(() => 0);
    for (const group of days) {
      const index = holds(group) ? place.get(monthOf(group)) : undefined;
      if (index !== undefined) counts[index] = (counts[index] ?? 0) + group.events;
    }
    return counts;
  };
  return {
    account: subject.account,
    months: months.map((name) => Date.parse(`${name}-01T00:00:00Z`) / 1000),
    archived: count(() => true),
    relays: subject.relays.map(({ url }, index) => ({
      url,
      present: count(({ present }) => present[index] === true),
      absent: count(({ present }) => present[index] === false),
    })),
    implausible: await countImplausible(db, subject.account, latest),
    computedAt: subject.now,
  };
}

async function countImplausible(db: ReadableDatabase, account: string, latest: number): Promise<number> {
  const { rows } = await sql<{ events: number }>`select count(*) as events
    from authors join events on events.author = authors.id and (events.created_at < 0 or events.created_at > ${latest})
    where authors.pubkey = ${Buffer.from(account, 'hex')}`.execute(db);
  return rows[0]?.events ?? 0;
}

/** The month of a group's day (UTC), `YYYY-MM`. */
function monthOf({ day }: KnownCopies): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 7);
}

/** All months from that of the first group to that of the last one, each named `YYYY-MM`. */
function monthsBetween(first: KnownCopies | undefined, last: KnownCopies | undefined): string[] {
  if (first === undefined || last === undefined) return [];
  const months: string[] = [];
  const end = monthOf(last);
  let [year, month] = monthOf(first).split('-').map(Number) as [number, number];
  for (;;) {
    const name = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`;
    months.push(name);
    if (name >= end) return months;
    month += 1;
    if (month > 12) {
      month = 1;
      year += 1;
    }
  }
}
