import { sql } from 'kysely';
import type { WritableDatabase } from '../../main/database/database-file.ts';

/** Tables that rest on events; those that refer to others first. */
const TABLES = [
  'delivery_steps',
  'deliveries',
  'exclusions',
  'expirations',
  'deleted_events',
  'deleted_addresses',
  'versions',
  'vanish_requests',
  'presence',
  'event_tags',
  'events',
  'event_ids',
  'authors',
];

/** Forgets every event and whatever rests on events. The order of archiving goes on where it was. */
export async function wipeArchive(db: WritableDatabase): Promise<void> {
  for (const table of TABLES) await sql`delete from ${sql.table(table)}`.execute(db);
}
