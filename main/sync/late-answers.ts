import { sql } from 'kysely';
import type { WritableDatabase } from '../database/database-file.ts';
import { TAKEN_AND_NOT_RETURNED } from './look-verdict.ts';
import type { Refusal } from './publication-verdict.ts';

/** An OK that came when a delivery had been given up as unanswered. */
export interface LateVerdict {
  delivery: number;
  /** When it came, Unix milliseconds. */
  completedAtMs: number;
  /** Null when the relay took the event. */
  refusal: Refusal | null;
  duplicate: boolean;
  message: string | null;
}

/**
 * Records OKs that came late: the sending counts as answered after all. What was read back meanwhile stands; what is still to be
 * read back is, because a refusal that comes late says nothing against what is found; and what nobody had spoken for, and
 * was not returned either, gets the relay's own words as its reason.
 */
export async function recordLateAnswers(db: WritableDatabase, answers: readonly LateVerdict[]): Promise<void> {
  if (answers.length === 0) return;
  await db.transaction().execute(async (trx) => {
    for (const { delivery, completedAtMs, refusal, duplicate, message } of answers) {
      const outcome = refusal !== null ? 'rejected' : duplicate ? 'duplicate' : 'accepted';
      await sql`update delivery_steps set completed_at_ms = ${completedAtMs}, outcome = ${outcome}, message = ${message}
        where outcome = 'unanswered' and id = (select max(latest.id) from delivery_steps as latest
          where latest.delivery_id = ${delivery} and latest.type = 'send')`.execute(trx);
      if (refusal === null) {
        await sql`update deliveries set answered = 1, duplicate = ${duplicate ? 1 : 0},
            state = case state when 'sent' then 'accepted' else state end,
            reason = case state when 'unverified' then 'not-returned' else reason end,
            message = case when state = 'unverified' then ${TAKEN_AND_NOT_RETURNED}
              when reason is null then ${message} else message end
          where id = ${delivery} and state in ('sent', 'unverified') and verified_at_ms is null`.execute(trx);
      } else {
        await sql`update deliveries set state = 'rejected', reason = ${refusal.reason}, message = ${refusal.message},
            lasting = ${refusal.lasting ? 1 : 0}
          where id = ${delivery} and state = 'unverified' and reason = 'no-answer'`.execute(trx);
      }
    }
  });
}
