import type { Transaction } from 'kysely';
import * as v from 'valibot';
import type { SignedEvent } from '../../preload/contract.ts';
import type { ReadableDatabase, WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';
import type { RelayFilter } from '../relays/relay-query.ts';

/** A request for a page. */
export type PageRequest = RelayFilter & { limit: number };

/** An answer that arrived whole and without fault, before anything of it was checked. */
export interface ArrivedPage {
  request: PageRequest;
  sentAtMs: number;
  completedAtMs: number;
  ending: 'eose' | 'eose-more';
  /** EVENT frames, repeats included. */
  received: number;
  /** What has to be checked, in order of arrival. */
  events: readonly SignedEvent[];
}

const limited = v.object({ limit: v.pipe(v.number(), v.integer(), v.minValue(1)) });

/**
 * Keeps a walk's answer until its page is committed, so that the next one may be asked. Only one can be kept at a time: a
 * second one is refused by the table.
 */
export async function keepArrivedPage(db: WritableDatabase, walkId: number, page: ArrivedPage): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('arrived_pages')
      .values({
        walk_id: walkId,
        request: JSON.stringify(page.request),
        sent_at_ms: page.sentAtMs,
        completed_at_ms: page.completedAtMs,
        ending: page.ending,
        received: page.received,
        events: JSON.stringify(page.events),
      })
      .execute();
  });
}

/**
 * The kept answer to what a walk would ask next, whatever limit it was asked with. Null when nothing is kept, when it
 * answers something else, or when it cannot be read; its signatures are as unknown as those of any other answer.
 *
 * @param next what the walk would ask, with any limit.
 */
export async function readArrivedPage(
  db: ReadableDatabase,
  walkId: number,
  next: PageRequest,
): Promise<ArrivedPage | null> {
  const row = await db.selectFrom('arrived_pages').selectAll().where('walk_id', '=', walkId).executeTakeFirst();
  if (row === undefined) return null;
  const asked = v.safeParse(limited, parsed(row.request));
  if (!asked.success) return null;
  const request = { ...next, limit: asked.output.limit };
  const events = readEvents(row.events);
  if (JSON.stringify(request) !== row.request || events === null || row.received < events.length) return null;
  return {
    request,
    sentAtMs: row.sent_at_ms,
    completedAtMs: row.completed_at_ms,
    ending: row.ending,
    received: row.received,
    events,
  };
}

/** Removes what is kept of a walk. */
export async function dropArrivedPage(db: WritableDatabase | Transaction<Tables>, walkId: number): Promise<void> {
  await db.deleteFrom('arrived_pages').where('walk_id', '=', walkId).execute();
}

/** Removes what is kept of all walks over a range. */
export async function dropArrivedPagesOf(trx: Transaction<Tables>, rangeId: number): Promise<void> {
  await trx
    .deleteFrom('arrived_pages')
    .where('walk_id', 'in', (eb) => eb.selectFrom('attempts').select('walk_id').where('range_id', '=', rangeId))
    .execute();
}

function readEvents(text: string): SignedEvent[] | null {
  const list = parsed(text);
  if (!Array.isArray(list)) return null;
  const events: SignedEvent[] = [];
  for (const value of list) {
    const event = readSignedEvent(value);
    if (typeof event === 'string') return null;
    events.push(event);
  }
  return events;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
