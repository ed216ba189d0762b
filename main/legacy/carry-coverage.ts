import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { unknownAccount } from './old-accounts.ts';
import { integerOf, shown, valueOf, type OldRow } from './old-row.ts';
import { judgeTime, judgeTimeOrNull, remarkOnTime } from './old-time.ts';
import { internRelays, numberOf, oldRelay } from './relay-numbers.ts';
import type { CarryContext, CarryRows } from './carry-context.ts';
import { aside, type Remark, type RowFate } from './row-fate.ts';

const STATUSES = ['complete', 'partial', 'failed'];

/**
 * The first version's one line for each account and relay. It did not record how it knew, so a line becomes neither a range
 * nor an inventory: it is kept as information.
 */
export const carryCoverage: CarryRows = (rows, context) =>
  Promise.resolve(async (trx) => {
    const fates: RowFate[] = [];
    for (const row of rows) fates.push(await keepLine(trx, row, context));
    return fates;
  });

async function keepLine(trx: Transaction<Tables>, row: OldRow, context: CarryContext): Promise<RowFate> {
  const { source, accounts, now } = context;
  const account = await accounts.find(trx, valueOf(row, 'account_id'));
  if (account === null) return unknownAccount(valueOf(row, 'account_id'));
  const url = valueOf(row, 'relay_url');
  if (typeof url !== 'string') return aside('wrong-type', `The relay's address is ${shown(url)}, no text.`);
  const relay = oldRelay(url);
  if (relay === null) return aside('bad-url', `${shown(url)} is not the address of a relay.`);
  const status = valueOf(row, 'status');
  if (typeof status !== 'string') return aside('wrong-type', `The status is ${shown(status)}, no text.`);
  if (!STATUSES.includes(status)) return aside('wrong-shape', `The status ${shown(status)} is none of that version.`);
  const events = integerOf(row, 'event_count');
  if (events === null || events < 0) {
    return aside('wrong-type', `event_count is ${shown(valueOf(row, 'event_count'))}, no number of events.`);
  }
  const { oldest, newest, updatedAt, remarks } = readTimes(row, now);
  const relayId = numberOf(await internRelays(trx, [relay]), relay);
  const line = {
    account_id: account,
    relay_id: relayId,
    status,
    oldest,
    newest,
    event_count: events,
    updated_at: updatedAt,
    source_id: source.id,
  };
  const known = await trx
    .selectFrom('legacy_coverage_lines')
    .select(['updated_at', 'source_id'])
    .where('account_id', '=', account)
    .where('relay_id', '=', relayId)
    .executeTakeFirst();
  if (known === undefined) {
    await trx.insertInto('legacy_coverage_lines').values(line).execute();
    return { outcome: 'information', remarks };
  }
  if ((updatedAt ?? -1) > (known.updated_at ?? -1)) {
    await trx
      .updateTable('legacy_coverage_lines')
      .set(line)
      .where('account_id', '=', account)
      .where('relay_id', '=', relayId)
      .execute();
  }
  if (known.source_id !== source.id) return { outcome: 'merged', remarks };
  const detail = `${shown(url)} is the same relay as one in another row of this account; the later line was kept.`;
  return { outcome: 'merged', remarks: [...remarks, { problem: 'duplicate', detail }] };
}

/** Times of a line; what cannot be right is left out, with a remark. */
function readTimes(
  row: OldRow,
  now: number,
): { oldest: number | null; newest: number | null; updatedAt: number | null; remarks: Remark[] } {
  const remarks: Remark[] = [];
  const read = (column: string, mayLack: boolean): number | null => {
    const judged = (mayLack ? judgeTimeOrNull : judgeTime)(column, valueOf(row, column), now);
    remarks.push(...remarkOnTime(judged));
    return judged.at;
  };
  let [oldest, newest] = [read('oldest', true), read('newest', true)];
  if (oldest !== null && newest !== null && oldest > newest) {
    const detail = `oldest, ${oldest}, is later than newest, ${newest}. Both were left out.`;
    remarks.push({ problem: 'contradiction', detail });
    [oldest, newest] = [null, null];
  }
  return { oldest, newest, updatedAt: read('updated_at', false), remarks };
}
