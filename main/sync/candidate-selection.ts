import { setImmediate } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { ReadableDatabase } from '../database/database-file.ts';
import {
  isExcluded,
  isExpired,
  isOfKinds,
  isRefused,
  isUnchecked,
  isWithin,
  readAuthor,
  readVanishedUntil,
} from './candidate-conditions.ts';
import type { CopyNarrowing } from './candidate-subject.ts';

/** Which candidates are taken. */
export interface CandidateChoice extends CopyNarrowing {
  account: { id: number; pubkey: string };
  relayId: number;
  relayKey: string;
  /** Also what the relay refused for a lasting reason before. */
  includeRefused: boolean;
  /** Unix seconds. */
  now: number;
}

/** One confirmed-missing copy that may be sent. */
export interface ChosenCandidate {
  ref: number;
  kind: number;
  createdAt: number;
}

/** Missing copies looked at in one go: a few milliseconds. */
const COPIES_PER_SLICE = 1000;

interface Row {
  ref: number;
  kind: number;
  observed_at_ms: number;
  created_at: number;
  is_chosen: number;
}

/**
 * All candidates of an account on one relay, in no order that means anything. They are read in slices, between which the
 * event loop goes on; within a transaction they are all as of one moment. The eligibility index has to have caught up
 * before: what is not checked yet is left out.
 */
export async function selectCandidates(db: ReadableDatabase, choice: CandidateChoice): Promise<ChosenCandidate[]> {
  const { relayId, relayKey, account, includeRefused, now } = choice;
  const author = await readAuthor(db, account.pubkey);
  if (author === null) return [];
  const vanishedUntil = await readVanishedUntil(db, author, relayKey);
  const ref = 'presence.event_ref';
  const isChosen = sql<number>`(${isOfKinds('presence.kind', choice.kinds)} and ${isWithin('events.created_at', choice)}
    and ${vanishedUntil === null ? sql`true` : sql`events.created_at > ${vanishedUntil}`}
    and not ${isExcluded(ref)} and not ${isExpired(ref, now)} and not ${isUnchecked(ref)}
    and ${includeRefused ? sql`true` : sql`not ${isRefused(sql`${relayId}`, ref)}`})`;
  const chosen: ChosenCandidate[] = [];
  let after: RawBuilder<boolean> = sql<boolean>`true`;
  for (;;) {
    const { rows } = await sql<Row>`select presence.event_ref as ref, presence.kind, presence.observed_at_ms,
        events.created_at, ${isChosen} as is_chosen
      from presence indexed by presence_absent cross join events on events.ref = presence.event_ref
      where presence.relay_id = ${relayId} and presence.present = 0 and presence.author = ${author} and ${after}
      order by presence.kind, presence.observed_at_ms, presence.event_ref limit ${COPIES_PER_SLICE}`.execute(db);
    for (const row of rows) {
      if (row.is_chosen === 1) chosen.push({ ref: row.ref, kind: row.kind, createdAt: row.created_at });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < COPIES_PER_SLICE) return chosen;
    after = sql<boolean>`(presence.kind, presence.observed_at_ms, presence.event_ref)
      > (${last.kind}, ${last.observed_at_ms}, ${last.ref})`;
    await setImmediate();
  }
}
