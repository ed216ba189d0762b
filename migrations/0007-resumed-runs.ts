import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Runs that were gone on with after they had ended: from their start to their end is not the time they took. */
export const resumedRuns: Migration = {
  async up(db: Kysely<unknown>) {
    // Of runs that were resumed before this column came, the attempts tell it, as far as they can.
    await sql`alter table runs add column resumed integer not null default 0 check (resumed in (0, 1))`.execute(db);
  },
};
