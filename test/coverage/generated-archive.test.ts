import BetterSqlite3 from 'better-sqlite3';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readArchive } from '../../main/archive/event-reader.ts';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import { DATABASE_FILE, openDatabase } from '../../main/database/database-file.ts';
import { generateArchive } from '../bench/large-archive.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';

const EVENTS = 2000;

test('the archive that benchmarks generate is what the application would make of its evidence', async () => {
  const directory = scratchDirectory();
  await generateArchive(directory, EVENTS);
  const { db, close } = await openDatabase({ directory, nowMs: 0 });
  const rows = async (): Promise<unknown[]> =>
    (await sql`select * from presence order by relay_id, event_ref`.execute(db)).rows;
  const generated = await rows();
  const inventories = await sql`select * from inventories order by walk_id`.execute(db);

  await db.transaction().execute((trx) => rebuildPresence(trx));

  expect(await rows()).toEqual(generated);
  expect((await sql`select * from inventories order by walk_id`.execute(db)).rows).toEqual(inventories.rows);
  let exported = 0;
  for await (const event of readArchive(db, {})) if (event.sig.length === 128) exported += 1;
  expect(exported).toBe(EVENTS);
  await close();
});

test('the archive that benchmarks generate has the size and the gaps that they are about', async () => {
  const directory = scratchDirectory();
  await generateArchive(directory, EVENTS);
  const db = new BetterSqlite3(join(directory, DATABASE_FILE));
  const value = (query: string): unknown => db.prepare(query).pluck().get();

  expect(db.pragma('foreign_key_check')).toEqual([]);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(value('select events from authors')).toBe(EVENTS);
  expect(value('select count(*) from events')).toBe(EVENTS);
  expect(value('select count(*) from inventories')).toBe(210);
  expect(value('select count(distinct kind) from events')).toBe(12);
  expect(value('select checked_up_to from eligibility_state')).toBe(EVENTS);
  expect(value('select count(*) from exclusions')).toBeGreaterThan(EVENTS / 100);
  expect(value('select count(distinct reason) from exclusions')).toBe(3);
  expect(value('select count(*) from expirations')).toBeGreaterThan(0);
  // The confirming page and those of kinds asked for alone come on top.
  expect(value('select max(pages) from attempts')).toBeGreaterThan(300);
  expect(value('select count(*) from attempts where fetched <> found')).toBe(0);
  expect(
    value(`select count(*) from attempts where status = 'complete' and found <> coalesce(
      (select sum(found) from walk_kinds where walk_kinds.walk_id = attempts.walk_id), 0)`),
  ).toBe(0);
  const lacking = db
    .prepare<[], { share: number }>('select avg(1.0 - present) as share from presence group by relay_id')
    .all();
  expect(lacking).toHaveLength(10);
  for (const { share } of lacking) {
    expect(share).toBeGreaterThan(0.005);
    expect(share).toBeLessThan(0.07);
  }
  db.close();
});
