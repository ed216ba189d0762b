import type { Transaction } from 'kysely';
import type { SignedEvent } from '../../preload/contract.ts';
import type { Tables } from '../database/tables.ts';
import { archiveOnce } from './carry-events.ts';
import { unknownAccount } from './old-accounts.ts';
import { compareColumns, isEvent, readOldEvent, remarkOnCreatedAt, verifyOldEvents } from './old-event.ts';
import { integerOf, shown, textOf, valueOf, type OldRow } from './old-row.ts';
import { judgeTime } from './old-time.ts';
import { oldRelay } from './relay-numbers.ts';
import type { CarryContext, CarryRows } from './carry-context.ts';
import { aside, type Remark, type RowFate } from './row-fate.ts';

/**
 * What was published from the first version. The signed event enters the archive, whatever its kind and whatever else is
 * wrong with the row; the note of the publication comes over where its time and its list can be right. That a relay
 * accepted it then is no sighting there.
 */
export const carryPublications: CarryRows = async (rows, context) => {
  const read = rows.map((row) => readOldEvent('event_json', valueOf(row, 'event_json')));
  const checked = await verifyOldEvents(read, context.verifier);
  return async (trx) => {
    const publishedAt = new Map<string, number>();
    checked.forEach((entry, index) => {
      const row = rows[index];
      if (!isEvent(entry) || row === undefined) return;
      const { at } = judgeTime('published_at', valueOf(row, 'published_at'), context.now);
      if (at !== null) publishedAt.set(entry.id, Math.min(at, publishedAt.get(entry.id) ?? at));
    });
    await archiveOnce(trx, checked.filter(isEvent), ({ id }) => publishedAt.get(id) ?? context.now);
    const fates: RowFate[] = [];
    for (const [index, row] of rows.entries()) {
      const entry = checked[index];
      if (entry === undefined) throw new Error('a publication was read and then lost');
      const fate = isEvent(entry) ? await keepPublication(trx, row, entry, context) : entry;
      // The migration copied whatever had its types; what turns out not to hold is kept in the first version's table only.
      if (fate.outcome === 'aside') await withdraw(trx, row, context);
      fates.push(fate);
    }
    return fates;
  };
};

async function keepPublication(
  trx: Transaction<Tables>,
  row: OldRow,
  event: SignedEvent,
  context: CarryContext,
): Promise<RowFate> {
  const account = await context.accounts.find(trx, valueOf(row, 'account_id'));
  if (account === null) return unknownAccount(valueOf(row, 'account_id'));
  const published = judgeTime('published_at', valueOf(row, 'published_at'), context.now);
  if (published.at === null) {
    return aside(published.problem, `${published.detail} The event itself was archived.`);
  }
  const accepted = readAcceptedBy(textOf(row, 'accepted_by'));
  if (accepted === null) {
    const detail = `accepted_by is ${shown(valueOf(row, 'accepted_by'))}, no list of relays. The event itself was archived.`;
    return aside('wrong-shape', detail);
  }
  const remarks: Remark[] = [
    ...compareColumns({
      event_id: [valueOf(row, 'event_id'), event.id],
      kind: [valueOf(row, 'kind'), event.kind],
    }),
    ...remarkOnCreatedAt(event, context.now),
    ...accepted
      .filter((url) => oldRelay(url) === null)
      .map((url) => ({
        problem: 'bad-url' as const,
        detail: `${shown(url)} in accepted_by is not the address of a relay.`,
      })),
  ];
  const values = {
    account_id: account,
    kind: event.kind,
    event_id: event.id,
    event_json: JSON.stringify(event),
    published_at: published.at,
    accepted_by: JSON.stringify(accepted),
  };
  const own = context.source.isOwn ? integerOf(row, 'id') : null;
  if (own !== null) {
    await trx
      .insertInto('publication_versions')
      .values({ id: own, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
    return { outcome: 'carried', remarks };
  }
  const known = await trx
    .selectFrom('publication_versions')
    .select('id')
    .where('account_id', '=', account)
    .where('event_id', '=', event.id)
    .where('published_at', '=', published.at)
    .executeTakeFirst();
  if (known !== undefined) return { outcome: 'merged', remarks };
  await trx.insertInto('publication_versions').values(values).execute();
  return { outcome: 'carried', remarks };
}

async function withdraw(trx: Transaction<Tables>, row: OldRow, { source }: CarryContext): Promise<void> {
  const id = integerOf(row, 'id');
  if (source.isOwn && id !== null) await trx.deleteFrom('publication_versions').where('id', '=', id).execute();
}

function readAcceptedBy(text: string | null): string[] | null {
  if (text === null) return null;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((url: unknown) => typeof url === 'string') ? list : null;
  } catch {
    return null;
  }
}
