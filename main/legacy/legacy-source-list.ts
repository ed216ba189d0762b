import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sql } from 'kysely';
import type { LegacySource } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { FIRST_VERSION_ORDER } from './first-version-tables.ts';

/** Every database of the first version that is, or was, carried over, with what became of each of its tables. */
export async function readLegacySources(db: ReadableDatabase): Promise<LegacySource[]> {
  const sources = await db
    .selectFrom('legacy_sources')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('legacy_remarks')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .whereRef('legacy_remarks.source_id', '=', 'legacy_sources.id')
        .as('remarks'),
    )
    .orderBy('id')
    .execute();
  const { rows } = await sql<{ file: string }>`select file from pragma_database_list where name = 'main'`.execute(db);
  const counts = await db.selectFrom('legacy_counts').selectAll().execute();
  return sources.map((source) => ({
    id: source.id,
    file: source.file,
    state: source.state,
    done: source.done,
    total: source.total,
    startedAt: source.started_at,
    finishedAt: source.finished_at,
    tables: FIRST_VERSION_ORDER.flatMap((table) =>
      counts
        .filter((count) => count.source_id === source.id && count.table_name === table)
        .map(({ before, carried, merged, aside, information }) => ({
          table,
          before,
          carried,
          merged,
          aside,
          information,
        })),
    ),
    remarks: source.remarks ?? 0,
    copy: source.copy === null ? null : whereItLies(source.copy, rows[0]?.file ?? ''),
    stoppedBecause: source.stopped_because,
  }));
}

/** Where a copy is by now: beside the archive, wherever that was moved; null when it is not there any more. */
function whereItLies(copy: string, archive: string): string | null {
  const path = join(dirname(archive), basename(copy));
  return existsSync(path) ? path : null;
}
