import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Answers that arrived and are not checked yet, so that a walk can ask its relay for the next page meanwhile and a crash
 * still costs no more than that one.
 */
export const arrivedPages: Migration = {
  async up(db: Kysely<unknown>) {
    // The one answer of a walk that arrived whole and without fault and whose signatures are being checked. It is no
    // evidence, and `events` (JSON, as the relay sent them) is no part of the archive: nothing is concluded from it until
    // its page is committed, and that deletes it. A walk that goes on begins with it instead of asking again.
    await sql`create table arrived_pages (
      walk_id integer primary key references attempts(id),
      request text not null,
      sent_at_ms integer not null,
      completed_at_ms integer not null,
      ending text not null check (ending in ('eose', 'eose-more')),
      received integer not null,
      events text not null
    ) strict`.execute(db);
  },
};
