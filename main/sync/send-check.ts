import { sql } from 'kysely';
import type { ExclusionReason } from '../../preload/contract.ts';
import type { ReadableDatabase } from '../database/database-file.ts';
import { isUnchecked, readAuthor, readVanishedUntil } from './candidate-conditions.ts';

/** What is about to be sent, to one relay. */
export interface SendCheck {
  /** The account's public key, 64 hex characters. */
  author: string;
  relayKey: string;
  /** Numbers of archived events. */
  refs: readonly number[];
  /** Unix seconds. */
  now: number;
}

/**
 * Which of some events may not be sent to a relay now, and why (design §6). The eligibility index has to have caught up
 * before, or a deletion request that has just arrived is overlooked. What somebody else signed, and what was not checked
 * yet, is `never-sent`.
 */
export async function reasonsNotToSend(db: ReadableDatabase, check: SendCheck): Promise<Map<number, ExclusionReason>> {
  const author = await readAuthor(db, check.author);
  const vanishedUntil = author === null ? null : await readVanishedUntil(db, author, check.relayKey);
  const { rows } = await sql<{ ref: number; reason: ExclusionReason | null }>`select asked.value as ref, case
      when events.author is null or events.author is not ${author} then 'never-sent'
      when exclusions.reason is not null then exclusions.reason
      when expirations.expires_at <= ${check.now} then 'expired'
      when events.created_at <= ${vanishedUntil} then 'vanished'
      when ${isUnchecked('events.ref')} then 'never-sent'
    end as reason
    from json_each(${JSON.stringify(check.refs)}) as asked
    left join events on events.ref = asked.value
    left join exclusions on exclusions.event_ref = events.ref
    left join expirations on expirations.event_ref = events.ref`.execute(db);
  return new Map(rows.flatMap(({ ref, reason }) => (reason === null ? [] : [[ref, reason]])));
}
