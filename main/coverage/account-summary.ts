import type { AccountSummary } from '../../preload/contract.ts';
import { isSource, readAccountRelays, type Account } from '../accounts/account-store.ts';
import { toNpub } from '../accounts/account-key.ts';
import { summarizeArchive } from '../archive/event-reader.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { readFetchState } from './fetch-state.ts';
import { rangesWithLatestAttempt } from './range-history.ts';
import { unfinishedRanges } from './unfinished-ranges.ts';

/** The facts of an account in one line: what is archived, from how many relays, how complete, when checked. */
export async function readAccountSummary(
  db: ReadableDatabase,
  account: Account,
  activeRun: number | null,
): Promise<AccountSummary> {
  const relays = await readAccountRelays(db, account.id);
  const sources = relays.filter(isSource);
  let completeRelays = 0;
  let unfinished = 0;
  for (const { relayId } of sources) {
    if ((await readFetchState(db, account.id, relayId)).historyComplete) completeRelays += 1;
    unfinished += unfinishedRanges(await rangesWithLatestAttempt(db, account.id, relayId)).length;
  }
  return {
    pubkey: account.pubkey,
    npub: toNpub(account.pubkey),
    label: account.label,
    relays: relays.map(({ url, read, write, extra }) => ({ url, read, write, extra })),
    archive: await summarizeArchive(db, account.pubkey),
    completeRelays,
    sourceRelays: sources.length,
    unfinishedRanges: unfinished,
    checkedAt: await lastChecked(db, account.id),
    activeRun,
  };
}

async function lastChecked(db: ReadableDatabase, accountId: number): Promise<number | null> {
  const row = await db
    .selectFrom('attempts')
    .innerJoin('ranges', 'ranges.id', 'attempts.range_id')
    .select(({ fn }) => fn.max<number | null>('attempts.completed_at').as('at'))
    .where('ranges.account_id', '=', accountId)
    .where('attempts.pages', '>', 0)
    .executeTakeFirst();
  return row?.at ?? null;
}
