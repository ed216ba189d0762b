import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The tag index follows the archive at a short distance, so that archiving a page does not wait for it. `indexed_up_to`
 * is the sequence number up to which bodies are indexed; whatever reads the index has it caught up first.
 */
export const tagsIndexedLater: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create index events_by_sequence on events (sequence)`.execute(db);
    await sql`create table tag_index_state (
      only_row integer primary key check (only_row = 1),
      indexed_up_to integer not null
    ) strict`.execute(db);
    // Until now tags were indexed together with their bodies.
    await sql`insert into tag_index_state select 1, last from archive_sequence`.execute(db);
  },
};
