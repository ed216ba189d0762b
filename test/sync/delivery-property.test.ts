import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addAccount } from '../../main/accounts/account-store.ts';
import { archiveEvents } from '../../main/coverage/archive-events.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { readSent, readShareTotals, type Share } from '../../main/sync/delivery-rows.ts';
import { beginSync } from '../../main/sync/delivery-snapshot.ts';
import { beginReverifying, reopenDeliveries, reopenRefused } from '../../main/sync/delivery-reopening.ts';
import {
  beginSending,
  leaveUnread,
  notePending,
  recordLooks,
  recordSendings,
  withdraw,
} from '../../main/sync/delivery-store.ts';
import { recordLateAnswers } from '../../main/sync/late-answers.ts';
import { judgeUnseen, NOTHING_KNOWN } from '../../main/sync/look-verdict.ts';
import { judgePublication } from '../../main/sync/publication-verdict.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { alice } from '../relays/event-builder.ts';
import { notes, START } from './delivery-rig.ts';

const DELIVERIES = 6;
const some = fc.uniqueArray(fc.nat(DELIVERIES - 1), { minLength: 1 });
const DOUBT = { reason: 'other' as const, lasting: true, message: 'no' };
const reason = (prefix: string | null, text: string) => ({ prefix, text }) as never;

/** Ways in which one sending can come out, as the connection reports it. */
const results = fc.constantFrom(
  { state: 'accepted', duplicate: false, reason: reason(null, '') },
  { state: 'accepted', duplicate: true, reason: reason('duplicate', 'duplicate: have it') },
  { state: 'rejected', lasting: true, by: 'ok', reason: reason('invalid', 'invalid: too early') },
  { state: 'rejected', lasting: true, by: 'ok', reason: reason(null, 'event already exists') },
  { state: 'rejected', lasting: true, by: 'notice', reason: reason(null, 'event too large') },
  { state: 'rejected', lasting: false, by: 'ok', reason: reason('error', 'error: busy') },
  { state: 'rejected', lasting: false, by: 'ok', reason: reason('rate-limited', 'rate-limited: slow down') },
  { state: 'rejected', lasting: false, by: 'ok', reason: reason('auth-required', 'auth-required: log in') },
  { state: 'unknown', cause: 'timeout', message: 'No OK', closeCode: null },
  { state: 'unknown', cause: 'disconnect', message: 'closed', closeCode: 1000 },
  { state: 'unknown', cause: 'unclear', message: 'hm', closeCode: null },
  'not-sent',
  'called-back',
);

/** Everything that can be done with deliveries, in any order and with any of them, also where the service would not. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), which: some, results: fc.array(results, { minLength: DELIVERIES, maxLength: DELIVERIES }), crash: fc.nat(6).map((n) => n === 0) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('look' as const), which: some, found: fc.array(fc.constantFrom('found', 'not-found', 'inconclusive'), { minLength: DELIVERIES, maxLength: DELIVERIES }), fromBefore: fc.boolean(), closings: fc.option(fc.nat(2)), isDoubted: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('late-answer' as const), which: some, isRefusal: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('resume', 'retry-refused', 'note-pending', 'withdraw', 'reverify', 'leave-unread'), which: some }) },
  ),
  { maxLength: 30 },
); // prettier-ignore

test('whatever comes of sending and looking, in any order: nothing verified is sent again, nothing is lost, all adds up', async () => {
  const { db } = await openScratchDatabase();
  const { accountId, candidates, relayId } = await prepare(db);
  await fc.assert(
    fc.asyncProperty(steps, async (played) => {
      await sql`delete from delivery_steps`.execute(db);
      await sql`delete from deliveries`.execute(db);
      const runId = await beginSync(db, {
        accountId,
        boundary: START,
        narrowing: {},
        shares: [{ relayId, key: 'wss://relay.example', candidates }],
      });
      const player = new Player(db, { runId, relayId });
      await player.begin();
      for (const step of played) {
        await player.play(step);
        await player.check();
      }
    }),
    { numRuns: 200 },
  );
}, 120_000);

type Step =
  | { do: 'send'; which: number[]; results: unknown[]; crash: boolean }
  | { do: 'look'; which: number[]; found: string[]; fromBefore: boolean; closings: number | null; isDoubted: boolean }
  | { do: 'late-answer'; which: number[]; isRefusal: boolean }
  | { do: 'resume' | 'retry-refused' | 'note-pending' | 'withdraw' | 'reverify' | 'leave-unread'; which: number[] };

interface Row {
  id: number;
  state: string;
  attempts: number;
  verified_at_ms: number | null;
}

class Player {
  readonly #db: WritableDatabase;
  readonly #share: Share;
  #ids: number[] = [];
  #nowMs = START * 1000;
  readonly #refusals = new Map<number, number>();
  /** Sendings that left, by delivery; and deliveries that were verified at some time. */
  readonly #left = new Map<number, number>();
  readonly #everVerified = new Set<number>();

  constructor(db: WritableDatabase, share: Share) {
    this.#db = db;
    this.#share = share;
  }

  async begin(): Promise<void> {
    this.#ids = (await this.#rows()).map(({ id }) => id);
    expect(this.#ids).toHaveLength(DELIVERIES);
  }

  async play(step: Step): Promise<void> {
    const db = this.#db;
    const ids = step.which.map((index) => this.#ids[index] ?? 0);
    this.#nowMs += 1000;
    switch (step.do) {
      case 'send':
        return this.#send(ids, step.results, step.crash);
      case 'look':
        return this.#look(ids, step);
      case 'late-answer':
        return recordLateAnswers(
          db,
          ids.map((delivery) => {
            const refusal = step.isRefusal ? DOUBT : null;
            return { delivery, completedAtMs: this.#nowMs, refusal, duplicate: false, message: null };
          }),
        );
      case 'resume':
        return reopenDeliveries(db, this.#share.runId, this.#nowMs);
      case 'retry-refused':
        await reopenRefused(db, this.#share.runId, null);
        return;
      case 'note-pending':
        return notePending(db, this.#share, 'nobody answers');
      case 'withdraw':
        return withdraw(db, await this.#pending(ids));
      case 'reverify':
        return beginReverifying(db, this.#share.runId, ids);
      case 'leave-unread':
        return leaveUnread(db, ids, 'nobody answers');
    }
  }

  async check(): Promise<void> {
    const rows = await this.#rows();
    expect(rows.map(({ id }) => id)).toEqual(this.#ids);
    const totals = await readShareTotals(this.#db, this.#share);
    expect(Object.values(totals).reduce((sum, count) => sum + count, 0)).toBe(DELIVERIES);
    for (const { id, state, attempts, verified_at_ms: verifiedAtMs } of rows) {
      expect(attempts).toBe(this.#left.get(id) ?? 0);
      if (state === 'verified') this.#everVerified.add(id);
      expect(verifiedAtMs !== null).toBe(this.#everVerified.has(id));
      // Verified once, it is verified or unverified, and on its way no more.
      if (this.#everVerified.has(id)) expect(['verified', 'unverified']).toContain(state);
    }
    const { rows: open } = await sql<{ state: string; open: number }>`select state, count(*) as open from delivery_steps
      join deliveries on deliveries.id = delivery_id where completed_at_ms is null group by delivery_id`.execute(
      this.#db,
    );
    for (const { state, open: count } of open) expect({ state, count }).toEqual({ state: 'sent', count: 1 });
  }

  async #send(ids: number[], results: unknown[], crash: boolean): Promise<void> {
    const begun = await beginSending(this.#db, ids, this.#nowMs);
    for (const id of begun) {
      expect(this.#everVerified.has(id)).toBe(false);
      this.#left.set(id, (this.#left.get(id) ?? 0) + 1);
    }
    // After a crash the sendings are what Resume makes of them.
    if (crash) return reopenDeliveries(this.#db, this.#share.runId, this.#nowMs + 1);
    await recordSendings(
      this.#db,
      [...begun].map((id, index) => {
        const result = results[index];
        const unsent = result === 'not-sent' || result === 'called-back';
        if (unsent) this.#left.set(id, (this.#left.get(id) ?? 0) - 1);
        const refusals = this.#refusals.get(id) ?? 0;
        this.#refusals.set(id, refusals + 1);
        const failure = { code: result === 'called-back' ? 'cancelled' : 'refused', message: 'nobody answers' };
        const verdict = judgePublication(
          (unsent ? { sent: false, failure } : { sent: true, outcome: result }) as never,
          refusals,
        );
        return { delivery: id, verdict, completedAtMs: this.#nowMs + 10 };
      }),
    );
  }

  async #look(ids: number[], step: Extract<Step, { do: 'look' }>): Promise<void> {
    const query = { id: null, sentAtMs: this.#nowMs, completedAtMs: this.#nowMs + 5 };
    const { fromBefore, closings } = step;
    const cutOff = closings === null ? null : { times: closings + 1, closings, message: 'closed' };
    const known = { ...NOTHING_KNOWN, fromBefore, cutOff, doubt: step.isDoubted ? DOUBT : null };
    const sent = (await readSent(this.#db, ids)).filter(({ state }) =>
      ['sent', 'accepted', 'unverified', 'verified'].includes(state),
    );
    await recordLooks(
      this.#db,
      query,
      sent.map((delivery, index) => {
        const outcome = step.found[index];
        if (outcome === 'found') return { delivery: delivery.id, outcome };
        if (outcome !== 'not-found') return { delivery: delivery.id, outcome: 'inconclusive', message: null };
        const looks = delivery.looks + 1;
        const verdict = judgeUnseen({ ...delivery, ...known, looks });
        return { delivery: delivery.id, outcome, verdict };
      }),
    );
  }

  async #pending(ids: number[]) {
    const rows = await this.#rows();
    return rows
      .filter(({ id, state }) => ids.includes(id) && state === 'pending')
      .map(({ id }) => ({ delivery: id, reason: 'deleted' as const, message: 'gone', atMs: this.#nowMs }));
  }

  #rows(): Promise<Row[]> {
    return this.#db
      .selectFrom('deliveries')
      .select(['id', 'state', 'attempts', 'verified_at_ms'])
      .where('run_id', '=', this.#share.runId)
      .orderBy('id')
      .execute();
  }
}

async function prepare(db: WritableDatabase) {
  const relays = [{ url: 'wss://relay.example', read: false, write: true, extra: false }];
  const { id: accountId } = await addAccount(db, { pubkey: alice.pubkey, label: null, relays, createdAt: START });
  const events = notes(DELIVERIES);
  const { refs } = await db.transaction().execute((trx) => archiveEvents(trx, events, START));
  const { id: relayId } = await db.selectFrom('relays').select('id').executeTakeFirstOrThrow();
  const candidates = events.map((event) => ({
    ref: refs.get(event.id) ?? 0,
    kind: event.kind,
    createdAt: event.created_at,
  }));
  return { accountId, relayId, candidates };
}
