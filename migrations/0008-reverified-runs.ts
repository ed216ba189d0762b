import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Of a sync whose verified copies were looked for again: when that began and ended the last time, Unix milliseconds, and how
 * many copies it was about. What came of it stands in the deliveries and their steps.
 */
export const reverifiedRuns: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table runs add column reverified_from_ms integer`.execute(db);
    await sql`alter table runs add column reverified_until_ms integer`.execute(db);
    await sql`alter table runs add column reverified_copies integer`.execute(db);
  },
};
