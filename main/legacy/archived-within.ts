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

/** How many archived events of an account lie within windows, each event counted once; one number for each entry. */
export async function countArchivedWithin(
  db: ReadableDatabase,
  entries: readonly WindowsOfAccount[],
): Promise<number[]> {
  const counts: number[] = [];
  for (const { account, windows } of entries) {
    const spans = JSON.stringify(joinWindows(windows).map(({ since, until }) => [since, until]));
    const { rows } = await sql<{ events: number }>`select count(*) as events
      from authors join json_each(${spans}) as span
      join events on events.author = authors.id and events.created_at between span.value ->> 0 and span.value ->> 1
      where authors.pubkey = ${Buffer.from(account, 'hex')}`.execute(db);
    counts.push(rows[0]?.events ?? 0);
  }
  return counts;
}
