import BetterSqlite3 from 'better-sqlite3';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateRows, insertRows, writeFirstVersion } from '../legacy/generated-first-version.ts';
import {
  accountKey,
  eventRow,
  LAST_USED,
  OLDEST,
  presenceRow,
  relayUrl,
  type GivenRows,
} from '../legacy/first-version-rows.ts';
import { buildEvent } from '../relays/event-builder.ts';

const ROWS_PER_TRANSACTION = 5000;
/** On how many relays the first version had seen each event. */
const SIGHTINGS = 2;
const CONTENT =
  'a note of the length that notes have, with some words in it that say nothing at all, and then a few more of them ';

/**
 * The path of a first-version database with so many validly signed events of one account, and twice as many sightings;
 * made once per machine, about three events a millisecond.
 */
export function largeFirstVersion(count: number): string {
  const directory = join(tmpdir(), 'holdfast-test-histories');
  const path = join(directory, `first-version-${count}.db`);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  const name = `first-version-${count}.db.${process.pid}`;
  // Written aside and renamed, so that a process that was killed half-way leaves nothing that looks whole.
  rmSync(join(directory, name), { force: true });
  const unfinished = writeFirstVersion(
    directory,
    generateRows({ accounts: 1, events: 0, checkpoints: 50, windows: 36 }),
    name,
  );
  const connection = new BetterSqlite3(unfinished);
  connection.pragma('synchronous = OFF');
  connection.pragma('journal_mode = MEMORY');
  for (let start = 0; start < count; start += ROWS_PER_TRANSACTION) {
    const rows: GivenRows = { events: [], presence: [] };
    for (let index = start; index < Math.min(count, start + ROWS_PER_TRANSACTION); index += 1)
      addEvent(rows, index, count);
    connection.transaction(() => insertRows(connection, rows))();
  }
  connection.close();
  renameSync(unfinished, path);
  return path;
}

function addEvent(rows: GivenRows, index: number, count: number): void {
  const createdAt = OLDEST + Math.floor((index * (LAST_USED - OLDEST)) / count);
  const tags =
    index % 3 === 0
      ? [
          ['e', (index * 7919).toString(16).padStart(64, '0')],
          ['t', `topic${index % 50}`],
        ]
      : [];
  const kind = index % 4 === 0 ? 7 : 1;
  const event = buildEvent({ author: accountKey(0), createdAt, content: `${CONTENT}${index}`, kind, tags });
  rows['events']?.push(eventRow(event));
  for (let place = 0; place < SIGHTINGS; place += 1) {
    rows['presence']?.push(presenceRow(event.id, relayUrl((index + place) % 3), LAST_USED - 10_000 + (index % 9000)));
  }
}
