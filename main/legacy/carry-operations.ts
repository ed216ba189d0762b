import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { unknownAccount } from './old-accounts.ts';
import { readOldCheckpoint, type OldCheckpoint } from './old-checkpoint.ts';
import { shown, textOf, valueOf, type OldRow } from './old-row.ts';
import { judgeTime, judgeTimeOrNull, remarkOnTime } from './old-time.ts';
import type { CarryContext, CarryRows } from './carry-context.ts';
import { aside, type Remark, type RowFate } from './row-fate.ts';

const TYPES = ['fetch', 'publish'];
const UNFINISHED = ['running', 'partial', 'failed', 'cancelled'];

/**
 * What the first version did. It is kept as its history; a fetch that stopped with windows left becomes a checkpoint to
 * be decided about besides. No run is made of either: the old data has no boundary and no ranges.
 */
export const carryOperations: CarryRows = (rows, context) =>
  Promise.resolve(async (trx) => {
    const fates: RowFate[] = [];
    for (const row of rows) fates.push(await carryOperation(trx, row, context));
    return fates;
  });

async function carryOperation(trx: Transaction<Tables>, row: OldRow, context: CarryContext): Promise<RowFate> {
  const { accounts, source } = context;
  const account = await accounts.find(trx, valueOf(row, 'account_id'));
  if (account === null) return unknownAccount(valueOf(row, 'account_id'));
  for (const column of ['id', 'type', 'status', 'settings']) {
    if (textOf(row, column) === null)
      return aside('wrong-type', `${column} is ${shown(valueOf(row, column))}, no text.`);
  }
  const [id, type, status] = [textOf(row, 'id') ?? '', textOf(row, 'type') ?? '', textOf(row, 'status') ?? ''];
  if (!TYPES.includes(type)) return aside('wrong-shape', `The type ${shown(type)} is none of that version.`);
  if (status !== 'completed' && !UNFINISHED.includes(status)) {
    return aside('wrong-shape', `The status ${shown(status)} is none of that version.`);
  }
  const { startedAt, finishedAt, remarks } = readTimes(row, status, context.now);
  const { checkpoint, problem } = readRest(row, { type, status }, context.now, remarks);
  if (problem !== null) return aside(problem.problem, problem.detail, remarks);
  const before = await readEarlier(trx, id, account);
  if (before !== null) return { outcome: 'merged', remarks };
  await trx
    .insertInto('legacy_operations_kept')
    .values({
      source_id: source.id,
      operation_id: id,
      account_id: account,
      type,
      status,
      settings: textOf(row, 'settings') ?? '',
      started_at: startedAt,
      finished_at: finishedAt,
      error: textOf(row, 'error'),
    })
    .execute();
  if (checkpoint === null) return { outcome: 'information', remarks };
  await trx
    .insertInto('legacy_checkpoints')
    .values({
      source_id: source.id,
      operation_id: id,
      account_id: account,
      status: 'waiting',
      window_limit: checkpoint.windowLimit,
      completed_windows: checkpoint.completedWindows,
      events_seen: checkpoint.eventsSeen,
      windows: JSON.stringify(checkpoint.windows),
      started_at: startedAt,
      stopped_at: finishedAt,
      run_id: null,
      decided_at: null,
    })
    .execute();
  return { outcome: 'carried', remarks };
}

/** When it began and ended; what cannot be right is left out, with a remark. */
function readTimes(
  row: OldRow,
  status: string,
  now: number,
): { startedAt: number | null; finishedAt: number | null; remarks: Remark[] } {
  const started = judgeTime('started_at', valueOf(row, 'started_at'), now);
  const finished = judgeTimeOrNull('finished_at', valueOf(row, 'finished_at'), now);
  const remarks: Remark[] = [...remarkOnTime(started), ...remarkOnTime(finished)];
  let finishedAt = finished.at;
  if (finishedAt !== null && status === 'running') {
    const detail = `It was at work when the first version ended, and yet finished_at is ${finishedAt}. That was left out.`;
    remarks.push({ problem: 'contradiction', detail });
    finishedAt = null;
  }
  if (finishedAt !== null && started.at !== null && finishedAt < started.at) {
    const detail = `finished_at, ${finishedAt}, is earlier than started_at, ${started.at}. It was left out.`;
    remarks.push({ problem: 'contradiction', detail });
    finishedAt = null;
  }
  return { startedAt: started.at, finishedAt, remarks };
}

/**
 * The checkpoint to decide about, when there is one: of a fetch that did not end well and has windows left. An unfinished
 * fetch whose checkpoint cannot be used is a problem; a checkpoint of anything else is only remarked upon.
 */
function readRest(
  row: OldRow,
  { type, status }: { type: string; status: string },
  now: number,
  remarks: Remark[],
): { checkpoint: OldCheckpoint | null; problem: Remark | null } {
  const value = valueOf(row, 'checkpoint');
  if (value === null) return { checkpoint: null, problem: null };
  const read = readOldCheckpoint(value, now);
  const isOpen = type === 'fetch' && UNFINISHED.includes(status);
  if (read.checkpoint === null) {
    const [problem, ...more] = read.remarks;
    if (isOpen) return { checkpoint: null, problem: problem ?? null };
    remarks.push(...(problem === undefined ? [] : [problem]), ...more);
    return { checkpoint: null, problem: null };
  }
  const { windows } = read.checkpoint;
  const [first, ...others] = read.remarks;
  if (isOpen && windows.length === 0 && first !== undefined) {
    remarks.push(...others);
    return { checkpoint: null, problem: first };
  }
  remarks.push(...read.remarks);
  if (isOpen) return { checkpoint: windows.length > 0 ? read.checkpoint : null, problem: null };
  if (windows.length > 0) {
    const detail = `It is ${status} by its status, and yet has ${windows.length} windows left. The status counts.`;
    remarks.push({ problem: 'contradiction', detail });
  }
  return { checkpoint: null, problem: null };
}

/** The same operation of the same account from a database that was carried over before. */
async function readEarlier(trx: Transaction<Tables>, id: string, account: number): Promise<number | null> {
  const row = await trx
    .selectFrom('legacy_operations_kept')
    .select('source_id')
    .where('operation_id', '=', id)
    .where('account_id', '=', account)
    .executeTakeFirst();
  return row?.source_id ?? null;
}
