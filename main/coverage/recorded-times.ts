import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';

/** When a query was sent and ended by the wall clock, Unix milliseconds, and how far that clock had been set back. */
export interface QueryTimes {
  sentAtMs: number;
  completedAtMs: number;
  /** See `MomentOrder`. */
  setBackMs: number;
}

/**
 * The times that a query is recorded with. Later evidence wins by the time of its completion (design §3.6), so that an answer
 * is recorded as later than every one that came before it, and never as older than its question, whatever the clock said.
 */
export function recordedTimes({ sentAtMs, completedAtMs, setBackMs }: QueryTimes): {
  sentAtMs: number;
  completedAtMs: number;
} {
  if (setBackMs === 0) return { sentAtMs, completedAtMs: Math.max(sentAtMs, completedAtMs) };
  const completed = completedAtMs + setBackMs;
  return { sentAtMs: Math.min(sentAtMs + setBackMs, completed), completedAtMs: completed };
}

/** Queries looked at in one go: a few milliseconds. */
const QUERIES_PER_SLICE = 5000;

/** The latest completion that is recorded of any query, Unix milliseconds; 0 without any. Lets the main loop go on. */
export async function latestCompletion(db: ReadableDatabase): Promise<number> {
  let latestMs = await latestKept(db);
  for (let after = 0; ;) {
    const { rows } = await sql<{ last: number | null; at_ms: number | null }>`select max(id) as last,
        max(completed_at_ms) as at_ms
      from (select id, completed_at_ms from queries where id > ${after} order by id limit ${QUERIES_PER_SLICE})`.execute(
      db,
    );
    const [slice] = rows;
    if (slice === undefined || slice.last === null) return latestMs;
    latestMs = Math.max(latestMs, slice.at_ms ?? 0);
    after = slice.last;
    await setImmediate();
  }
}

async function latestKept(db: ReadableDatabase): Promise<number> {
  const row = await db
    .selectFrom('arrived_pages')
    .select(({ fn }) => fn.max('completed_at_ms').as('at_ms'))
    .executeTakeFirst();
  return Number(row?.at_ms ?? 0);
}
