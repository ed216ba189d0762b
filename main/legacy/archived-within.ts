import { sql } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';
import { joinWindows } from './window-spans.ts';
import type { Window } from './window-walk.ts';

/** Windows whose archived events are to be counted. */
export interface WindowsOfAccount {
  /** 64 hex characters. */
  account: string;
  /** Of all relays together; they may overlap. */
  windows: readonly Window[];
}

/**
 * How many archived events of an account lie within windows, each event counted once; one number for each entry. Unfinished
 * fetches of one account mostly speak of the same time, so no event is looked at twice, however many of them there are.
 */
export async function countArchivedWithin(
  db: ReadableDatabase,
  entries: readonly WindowsOfAccount[],
): Promise<number[]> {
  const spans = entries.map(({ windows }) => joinWindows(windows));
  const counts = entries.map(() => 0);
  for (const account of new Set(entries.map((entry) => entry.account))) {
    const own = entries.flatMap((entry, place) =>
      entry.account === account ? [{ place, spans: spans[place] ?? [] }] : [],
    );
    const before = await countBefore(
      db,
      account,
      own.flatMap((entry) => entry.spans),
    );
    for (const { place, spans: list } of own) {
      counts[place] = list.reduce(
        (sum, { since, until }) => sum + (before.get(until + 1) ?? 0) - (before.get(since) ?? 0),
        0,
      );
    }
  }
  return counts;
}

/**
 * The number of archived events earlier than each bound of the spans, the first bound excepted; from the counts of the
 * stretches between one bound and the next, so only differences of two of them mean anything.
 */
async function countBefore(
  db: ReadableDatabase,
  account: string,
  spans: readonly Window[],
): Promise<Map<number, number>> {
  const bounds = [...new Set(spans.flatMap(({ since, until }) => [since, until + 1]))].sort((a, b) => a - b);
  const stretches = bounds.slice(1).map((bound, index) => [bounds[index] ?? 0, bound - 1]);
  const { rows } = await sql<{ events: number }>`select (select count(*) from events
      where events.author = (select id from authors where pubkey = ${Buffer.from(account, 'hex')})
        and events.created_at between stretch.value ->> 0 and stretch.value ->> 1) as events
    from json_each(${JSON.stringify(stretches)}) as stretch order by stretch.id`.execute(db);
  const before = new Map<number, number>();
  let sum = 0;
  bounds.forEach((bound, index) => {
    sum += index === 0 ? 0 : (rows[index - 1]?.events ?? 0);
    before.set(bound, sum);
  });
  return before;
}
