/**
 * Loaded by `--import` before Holdfast: kills the process, as hard as an operating system can, right before a chosen
 * statement of a chosen transaction, of those that commit a page, a batch of bodies, what a NEG session named, or the
 * completion of a comparison. HOLDFAST_KILL_AT is `PAGE:STATEMENT`, both counted from 1; the statement after the last one
 * is the moment right after the commit. `keeping:ANSWER:STATEMENT` means, in the same way, the transactions that keep an
 * answer until it is checked, `delivering:TRANSACTION:STATEMENT` those that begin a run with its deliveries, or move
 * deliveries from state to state, and `carrying:SLICE:STATEMENT` those that carry rows of the first version over. Writes what it was about to do to the file HOLDFAST_KILL_NOTE.
 */
import BetterSqlite3 from 'better-sqlite3';
import { writeFileSync } from 'node:fs';

const point = process.env['HOLDFAST_KILL_AT'] ?? '';
const [page = 0, statement = 0] = point
  .replace(/^[a-z]+:/, '')
  .split(':')
  .map(Number);
const note = process.env['HOLDFAST_KILL_NOTE'] ?? '';

let pagesBegun = 0;
let sinceBegin = 0;
/** What the transactions that are meant begin with; every other one is passed over. */
const FIRST_STATEMENT = point.startsWith('keeping:')
  ? /insert into "arrived_pages"/i
  : point.startsWith('delivering:')
    ? /insert into "runs"|update deliver/i
    : point.startsWith('carrying:')
      ? /max\("id"\)|update "legacy_sources"/i
      : /insert into event_ids|select covered_from/i;
let isPage = false;

function about(sql: string): void {
  if (/^begin/i.test(sql)) {
    sinceBegin = 0;
    isPage = false;
    return;
  }
  sinceBegin += 1;
  if (sinceBegin === 1 && FIRST_STATEMENT.test(sql)) {
    isPage = true;
    pagesBegun += 1;
  }
  if (isPage && pagesBegun === page && sinceBegin === statement) die(sql);
}

function after(sql: string): void {
  if (!/^commit/i.test(sql) || !isPage) return;
  // Statement numbers beyond the end of a transaction stand for the moment after its commit.
  if (pagesBegun === page && sinceBegin < statement) die('after commit');
  isPage = false;
}

function die(sql: string): void {
  writeFileSync(note, sql.replace(/\s+/g, ' ').slice(0, 60));
  process.kill(process.pid, 'SIGKILL');
}

const prepare = BetterSqlite3.prototype.prepare;
BetterSqlite3.prototype.prepare = function (this: BetterSqlite3.Database, sql: string) {
  const statementObject = prepare.call(this, sql);
  for (const name of ['run', 'all'] as const) {
    const original = statementObject[name];
    Object.defineProperty(statementObject, name, {
      value: (...parameters: unknown[]) => {
        about(sql);
        const result: unknown = Reflect.apply(original, statementObject, parameters);
        after(sql);
        return result;
      },
    });
  }
  return statementObject;
} as typeof prepare;
