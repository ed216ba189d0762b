import BetterSqlite3 from 'better-sqlite3';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { indexNextTags } from '../../main/archive/tag-index.ts';
import { openDatabase } from '../../main/database/database-file.ts';
import { createEngine } from '../../main/engine.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import { benchHistoryFile } from './bench-history.ts';
import type { BenchRow } from './bench-row.ts';

/**
 * Size of an archive that holds events and no evidence, as it lies on disk after its log was written back, against the
 * raw JSON of its events (one a line, line ends not counted).
 */
export async function benchDatabaseSize(count: number): Promise<BenchRow[]> {
  const lines = readFileSync(benchHistoryFile(count), 'utf8').trimEnd().split('\n');
  const rawBytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
  const dataDirectory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const engine = await createEngine({ dataDirectory, host: 'browser', version: '0.0.0', mode: 'owner' });
    const report = await engine.importLines(lines);
    await engine.close();
    if (report.newlyArchived !== count)
      throw new Error(`only ${report.newlyArchived} of ${count} events were imported`);
    // The tag index, and what is known about what may be sent, follow later and belong to the size.
    const archive = await openDatabase({ directory: dataDirectory, nowMs: Date.now() });
    while (await indexNextTags(archive.db));
    while ((await checkNextEvents(archive.db)) !== null);
    await archive.close();
    const path = join(dataDirectory, 'holdfast.db');
    const database = new BetterSqlite3(path);
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
    const bytes = statSync(path).size;
    return [
      {
        name: `database size against the raw JSON of its ${count} events`,
        measured: bytes / rawBytes,
        unit: 'times',
        bar: { atMost: 1.25 },
        spread: null,
        note: `${(bytes / count).toFixed(0)} bytes an event on disk, ${(rawBytes / count).toFixed(0)} as JSON; by import, no VACUUM`,
      },
    ];
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}
