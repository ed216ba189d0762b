import { sql } from 'kysely';
import type { AccountSummary, HistoryState } from '../../preload/contract.ts';
import { isSource, readAccountRelays, type Account } from '../accounts/account-store.ts';
import { toNpub } from '../accounts/account-key.ts';
import { summarizeArchive } from '../archive/event-reader.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { WAS_ANSWERED } from './answered-query.ts';
import { readFetchState } from './fetch-state.ts';
import { historyOfAccount, historyOnRelay } from './history-state.ts';
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
  const histories: HistoryState[] = [];
  for (const { relayId } of sources) {
    const { historyComplete } = await readFetchState(db, account.id, relayId);
    if (historyComplete) completeRelays += 1;
    const ranges = await rangesWithLatestAttempt(db, account.id, relayId);
    unfinished += unfinishedRanges(ranges).length;
    histories.push(
      historyOnRelay(
        historyComplete,
        ranges.map(({ attempt, closedBy }) => ({ status: attempt.status, strategy: attempt.strategy, closedBy })),
      ),
    );
  }
  return {
    pubkey: account.pubkey,
    npub: toNpub(account.pubkey),
    label: account.label,
    relays: relays.map(({ url, read, write, extra }) => ({ url, read, write, extra })),
    archive: await summarizeArchive(db, account.pubkey),
    completeRelays,
    sourceRelays: sources.length,
    history: historyOfAccount(histories),
    unfinishedRanges: unfinished,
    checkedAt: await lastChecked(db, account.id),
    activeRun,
  };
}

/** When a relay last answered for a range of the account; Unix seconds. */
async function lastChecked(db: ReadableDatabase, accountId: number): Promise<number | null> {
  const row = await db
    .selectFrom('attempts')
    .innerJoin('ranges', 'ranges.id', 'attempts.range_id')
    .select(
      sql<
        number | null
      >`max((select completed_at_ms from queries where queries.attempt_id = attempts.id and ${WAS_ANSWERED}
        order by queries.id desc limit 1))`.as('at_ms'),
    )
    .where('ranges.account_id', '=', accountId)
    .where('ranges.purpose', '=', 'history')
    .executeTakeFirst();
  const atMs = row?.at_ms ?? null;
  return atMs === null ? null : Math.floor(atMs / 1000);
}
