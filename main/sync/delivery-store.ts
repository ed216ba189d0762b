import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { DeliveryReason, DeliveryState, DeliveryStep } from '../../preload/contract.ts';
import { RowInsertion } from '../archive/row-insertion.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import type { Tables } from '../database/tables.ts';
import type { Share } from './delivery-rows.ts';
import { deliveryWindows, isWithin } from './delivery-windows.ts';
import type { LookVerdict } from './look-verdict.ts';
import type { PublicationVerdict } from './publication-verdict.ts';

/**
 * The transitions of deliveries: each function is one of them, for as many deliveries as are concerned, in one transaction,
 * with the steps that tell of it. None of them starts from `verified` except a look that no longer finds the event.
 */

const stepInsertion = new RowInsertion('delivery_steps', [
  'delivery_id',
  'type',
  'at_ms',
  'completed_at_ms',
  'outcome',
  'message',
  'query_id',
]);

/** What came of sending one delivery. */
export interface Sending {
  delivery: number;
  verdict: PublicationVerdict;
  completedAtMs: number;
}

/** What a look at a relay showed about one delivery. Without a verdict the look decides nothing. */
export type Look = { delivery: number } & (
  | { outcome: 'found' }
  | { outcome: 'not-found'; verdict: LookVerdict }
  | { outcome: 'inconclusive'; message: string | null }
);

/**
 * Deliveries are about to be sent: written down before anything leaves, so that no crash can hide a sending.
 *
 * @returns those that were pending; nothing else is to be sent.
 */
export async function beginSending(
  db: WritableDatabase,
  deliveries: readonly number[],
  atMs: number,
): Promise<Set<number>> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`update deliveries set state = 'sent', attempts = attempts + 1,
        sent_at_ms = ${atMs}, answered = 0, looks = 0, duplicate = 0, lasting = 0, reason = null, message = null
      where id in ${listed(deliveries)} and state = 'pending' returning id`.execute(trx);
    await stepInsertion.insert(
      trx,
      rows.map(({ id }) => [id, 'send', atMs, null, null, null, null]),
    );
    return new Set(rows.map(({ id }) => id));
  });
}

/** Records what came of sendings that were begun. What was never sent is pending again, as if it had not been begun. */
export async function recordSendings(db: WritableDatabase, sendings: readonly Sending[]): Promise<void> {
  if (sendings.length === 0) return;
  const takenBack = sendings.filter(({ verdict }) => verdict.type === 'not-sent');
  const sent = sendings.filter(({ verdict }) => verdict.type !== 'not-sent');
  await db.transaction().execute(async (trx) => {
    await setStates(
      trx,
      WAS_SENT,
      sent.map(({ delivery, verdict }) => [delivery, ...afterSending(verdict)]),
    );
    const answered = sent.filter(({ verdict }) => verdict.type === 'accepted');
    const duplicates = answered.filter(({ verdict }) => verdict.type === 'accepted' && verdict.duplicate);
    await sql`update deliveries set answered = 1 where id in ${listed(idsOf(answered))}`.execute(trx);
    await sql`update deliveries set duplicate = 1 where id in ${listed(idsOf(duplicates))}`.execute(trx);
    await completeSendSteps(
      trx,
      sent.map(({ delivery, verdict, completedAtMs }) => [
        delivery,
        completedAtMs,
        stepOutcome(verdict),
        'message' in verdict ? verdict.message : null,
      ]),
    );
    await takeBack(trx, takenBack);
  });
}

/** Records what one answered or unanswered query for certain IDs showed. */
export async function recordLooks(
  db: WritableDatabase,
  query: { id: number | null; sentAtMs: number; completedAtMs: number },
  looks: readonly Look[],
): Promise<void> {
  if (looks.length === 0) return;
  await db.transaction().execute(async (trx) => {
    const found = looks.filter(({ outcome }) => outcome === 'found');
    await sql`update deliveries set state = 'verified', reason = null, message = case when duplicate = 1 then message end,
        lasting = 0, looks = 0, verified_at_ms = ${query.completedAtMs}
      where id in ${listed(idsOf(found))} and state in ('sent', 'accepted', 'unverified', 'verified')`.execute(trx);
    const unseen = looks.filter((look) => look.outcome === 'not-found');
    await sql`update deliveries set looks = looks + 1, reason = case reason when 'not-read-back' then null else reason end
      where id in ${listed(idsOf(unseen))}`.execute(trx);
    await setStates(
      trx,
      WAS_NOT_VERIFIED_MEANWHILE,
      unseen.flatMap(({ delivery, verdict }) => {
        const next = afterLook(verdict);
        return next === null ? [] : [[delivery, ...next]];
      }),
    );
    await stepInsertion.insert(
      trx,
      looks.map((look) => [
        look.delivery,
        'read-back',
        query.sentAtMs,
        query.completedAtMs,
        look.outcome,
        look.outcome === 'inconclusive' ? look.message : null,
        query.id,
      ]),
    );
  });
}

/** Asking for deliveries was given up: they stay as they are, and a person is told why. */
export async function leaveUnread(db: WritableDatabase, deliveries: readonly number[], message: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`update deliveries set reason = 'not-read-back', message = ${message}
      where id in ${listed(deliveries)} and state in ('sent', 'accepted')`.execute(trx);
  });
}

/**
 * A relay is not asked any more: all that was sent there and is not known to have arrived stays as it is, and a person is told
 * why. In slices, between which the main loop goes on.
 */
export async function leaveShareUnread(db: WritableDatabase, share: Share, message: string): Promise<void> {
  for await (const window of deliveryWindows(db, share.runId)) {
    await sql`update deliveries set reason = 'not-read-back', message = ${message}
      where ${isWithin(window, share.runId)} and +relay_id = ${share.relayId} and +state in ('sent', 'accepted')`.execute(
      db,
    );
  }
}

/** A relay cannot be sent anything now: what waits for it says why. Works in slices, so that the main loop goes on. */
export async function notePending(db: WritableDatabase, share: Share, message: string): Promise<void> {
  await changePending(db, share, async (trx, ids) => {
    await sql`update deliveries set reason = 'not-sent', message = ${message} where id in ${listed(ids)}`.execute(trx);
  });
}

/** Everything that waits for a relay is not to be sent there any more. */
export async function withdrawPending(
  db: WritableDatabase,
  share: Share,
  withdrawal: { reason: DeliveryReason; message: string; atMs: number },
): Promise<void> {
  await changePending(db, share, (trx, ids) =>
    withdrawWithin(
      trx,
      ids.map((id) => ({ ...withdrawal, delivery: id })),
    ),
  );
}

/** Deliveries that may not, or need not, be sent any more. */
export async function withdraw(
  db: WritableDatabase,
  withdrawals: readonly { delivery: number; reason: DeliveryReason; message: string; atMs: number }[],
): Promise<void> {
  if (withdrawals.length === 0) return;
  await db.transaction().execute((trx) => withdrawWithin(trx, withdrawals));
}

type StateRow = readonly [DeliveryState, DeliveryReason | null, string | null, number];

function afterSending(verdict: PublicationVerdict): StateRow {
  switch (verdict.type) {
    case 'accepted':
      return ['accepted', null, verdict.message, 0];
    case 'rejected':
      return ['rejected', verdict.reason, verdict.message, verdict.lasting ? 1 : 0];
    case 'later':
      return ['pending', verdict.reason, verdict.message, 0];
    case 'doubtful':
    case 'unanswered':
    case 'not-sent':
      return ['sent', null, verdict.message, 0];
  }
}

function afterLook(verdict: LookVerdict): StateRow | null {
  switch (verdict.type) {
    case 'keep':
    case 'look-again':
      return null;
    case 'send-again':
      return ['pending', null, null, 0];
    case 'unverified':
      return ['unverified', verdict.reason, verdict.message, 0];
    case 'rejected':
      return ['rejected', verdict.reason, verdict.message, verdict.lasting ? 1 : 0];
  }
}

function stepOutcome(verdict: PublicationVerdict): DeliveryStep['outcome'] {
  switch (verdict.type) {
    case 'accepted':
      return verdict.duplicate ? 'duplicate' : 'accepted';
    case 'rejected':
    case 'later':
      return 'rejected';
    case 'doubtful':
      return verdict.answered ? 'rejected' : 'unanswered';
    case 'unanswered':
      return 'unanswered';
    case 'not-sent':
      return 'interrupted';
  }
}

const WAS_SENT = sql`deliveries.state = 'sent'`;
const WAS_PENDING = sql`deliveries.state = 'pending'`;
/** Nothing but a look that no longer finds it moves what is verified. */
const WAS_NOT_VERIFIED_MEANWHILE = sql`(deliveries.state in ('sent', 'accepted', 'unverified')
  or deliveries.state = 'verified' and row.value ->> 1 = 'unverified')`;

/** Rows of delivery, state, reason, message, lasting; those that are not in a state to begin with stay as they are. */
async function setStates(
  trx: Transaction<Tables>,
  isToBegin: RawBuilder<unknown>,
  rows: readonly (readonly [number, ...StateRow])[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`update deliveries set state = row.value ->> 1, reason = row.value ->> 2, message = row.value ->> 3,
      lasting = row.value ->> 4
    from json_each(${JSON.stringify(rows)}) as row
    where deliveries.id = row.value ->> 0 and ${isToBegin}`.execute(trx);
}

async function completeSendSteps(
  trx: Transaction<Tables>,
  rows: readonly (readonly [number, number, DeliveryStep['outcome'], string | null])[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`update delivery_steps set completed_at_ms = row.value ->> 1, outcome = row.value ->> 2, message = row.value ->> 3
    from json_each(${JSON.stringify(rows)}) as row
    where delivery_steps.delivery_id = row.value ->> 0 and delivery_steps.completed_at_ms is null`.execute(trx);
}

/** A step that reached nobody tells nothing, unless it says that the relay could not be reached. */
async function takeBack(trx: Transaction<Tables>, sendings: readonly Sending[]): Promise<void> {
  if (sendings.length === 0) return;
  const ids = listed(idsOf(sendings));
  const refused = sendings.filter(({ verdict }) => verdict.type === 'not-sent' && !verdict.cancelled);
  await completeSendSteps(
    trx,
    refused.map(({ delivery, verdict, completedAtMs }) => [
      delivery,
      completedAtMs,
      'interrupted',
      'message' in verdict ? verdict.message : null,
    ]),
  );
  await sql`delete from delivery_steps where delivery_id in ${ids} and completed_at_ms is null`.execute(trx);
  await sql`update deliveries set state = 'pending', attempts = attempts - 1, sent_at_ms = (
      select max(at_ms) from delivery_steps where delivery_id = deliveries.id and type = 'send' and outcome <> 'interrupted')
    where id in ${ids} and state = 'sent'`.execute(trx);
  await setStates(
    trx,
    WAS_PENDING,
    refused.map(({ delivery, verdict }) => [
      delivery,
      'pending',
      'not-sent',
      'message' in verdict ? verdict.message : null,
      0,
    ]),
  );
}

async function withdrawWithin(
  trx: Transaction<Tables>,
  withdrawals: readonly { delivery: number; reason: DeliveryReason; message: string; atMs: number }[],
): Promise<void> {
  await setStates(
    trx,
    WAS_PENDING,
    withdrawals.map(({ delivery, reason, message }) => [delivery, 'withdrawn', reason, message, 0]),
  );
  await stepInsertion.insert(
    trx,
    withdrawals.map(({ delivery, message, atMs }) => [delivery, 'withdraw', atMs, atMs, 'withdrawn', message, null]),
  );
}

/** Does something to all pending deliveries of a share, in slices of a transaction each, between which the main loop goes on. */
async function changePending(
  db: WritableDatabase,
  share: Share,
  change: (trx: Transaction<Tables>, ids: number[]) => Promise<void>,
): Promise<void> {
  for await (const window of deliveryWindows(db, share.runId)) {
    await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: number }>`select id from deliveries where ${isWithin(window, share.runId)}
        and +relay_id = ${share.relayId} and +state = 'pending' order by id`.execute(trx);
      if (rows.length > 0) {
        await change(
          trx,
          rows.map(({ id }) => id),
        );
      }
    });
  }
}

function idsOf(rows: readonly { delivery: number }[]): number[] {
  return rows.map(({ delivery }) => delivery);
}

function listed(ids: readonly number[]) {
  return sql`(select value from json_each(${JSON.stringify(ids)}))`;
}
