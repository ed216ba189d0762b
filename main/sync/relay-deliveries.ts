import type { RangeStatus } from '../../preload/contract.ts';
import { readEventsByRef } from '../archive/event-reader.ts';
import type { EventVerifier } from '../archive/event-verifier.ts';
import { unfinishedDeliveries } from '../coverage/delivery-totals.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { nowSeconds, pause, type Clock } from '../platform/clock.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { Waiting } from '../relays/relay-query.ts';
import {
  nextPending,
  readSent,
  readUnconfirmed,
  type PendingDelivery,
  type SentDelivery,
  type Share,
} from './delivery-rows.ts';
import {
  beginSending,
  leaveShareUnread,
  notePending,
  recordSendings,
  withdraw,
  withdrawPending,
  type Sending,
} from './delivery-store.ts';
import { deliveryWindows } from './delivery-windows.ts';
import { recordLateAnswers } from './late-answers.ts';
import { NOTHING_KNOWN } from './look-verdict.ts';
import { isRateLimited } from './publication-verdict.ts';
import { PublishingWindow } from './publishing-window.ts';
import { ReadBack, type Unseen } from './read-back.ts';
import { RelaySilence } from './relay-silence.ts';
import { RelayWillingness } from './relay-willingness.ts';
import { SendingMemory } from './sending-memory.ts';
import { ShareTotals } from './share-totals.ts';
import type { RelaySyncProgress } from './sync-progress.ts';
import { checkBeforeSending, isWriteRelay, withdrawalFor, type Withdrawal } from './withdrawal.ts';

export interface DeliveryContext {
  db: WritableDatabase;
  verifier: EventVerifier;
  clock: Clock;
  connection: RelayConnection;
  signal: AbortSignal;
  idleTimeoutMs: number;
  progress: RelaySyncProgress;
  /** Called when deliveries have changed. */
  onRecorded: () => void;
  /** Waits until what may be sent is known for everything archived so far. */
  eligibilityCaughtUp: () => Promise<void>;
  share: Share & {
    accountId: number;
    /** 64 hex characters. */
    author: string;
    relayKey: string;
    /** T of the run, Unix seconds. */
    boundary: number;
  };
}

/** How a relay's share of a sync ended, and when unfinished, why. */
export interface ShareEnd {
  status: Exclude<RangeStatus, 'active'>;
  reason: string | null;
  /** Verified copies that were to be looked for again and were not, or not conclusively. */
  unlooked: number;
}

const CHUNK = 100;
/** Before a relay is looked at a second time, or asked again to take what it refused for a passing reason. */
const PAUSE_MS = 10_000;
/** What is read of bodies at a time at the most. */
const CHUNK_BYTES = 8 * 1024 * 1024;

/**
 * Brings one relay's share of a sync to its end: sends what is pending and reads back what was sent, side by side; looks a
 * second time; sends again what got lost. Other relays do not notice. Never throws because of a relay.
 */
export class RelayDeliveries {
  readonly #context: DeliveryContext;
  readonly #readBack: ReadBack;
  readonly #totals: ShareTotals;
  readonly #memory = new SendingMemory();
  readonly #willingness = new RelayWillingness();
  readonly #silence = new RelaySilence();
  /** Deliveries that wait for their second look. */
  #again: SentDelivery[] = [];
  /** Why nothing more is sent, or null. */
  #lost: string | null = null;
  #isOver = false;
  #isRestLeft = false;

  constructor(context: DeliveryContext) {
    this.#context = context;
    this.#totals = new ShareTotals(context);
    const { accountId, relayId, runId, boundary } = context.share;
    this.#readBack = new ReadBack({
      ...context,
      onRecorded: async () => {
        await this.#showTotals();
      },
      scope: { accountId, relayId, runId, boundary },
    });
  }

  /** Sends and reads back everything that is unfinished. */
  async deliver(): Promise<ShareEnd> {
    await this.#showTotals();
    await this.#lookAtEarlier();
    for (;;) {
      const leftForLater = await this.#sendPending();
      await this.#lookAgain();
      if (!this.#mayGoOn() || (await this.#nextChunk(-1)).length === 0) break;
      if (leftForLater) await this.#rest('sending', 'waiting before trying again what the relay refused');
      if (!this.#mayGoOn()) break;
    }
    return this.#end();
  }

  /** Reads back deliveries that were verified before; sends nothing. Unfinished unless each of them was looked at conclusively. */
  async reverify(ids: readonly number[]): Promise<ShareEnd> {
    await this.#showTotals();
    for (let start = 0; start < ids.length && this.#mayLook(); start += CHUNK) {
      const sent = await readSent(this.#context.db, ids.slice(start, start + CHUNK));
      this.#note(await this.#readBack.look(sent, () => NOTHING_KNOWN));
    }
    await this.#lookAgain();
    const end = await this.#end();
    const unlooked = ids.length - this.#readBack.concluded;
    if (unlooked <= 0) return end;
    return { status: unlooked === ids.length ? 'failed' : 'partial', reason: this.#readBack.stopped, unlooked };
  }

  /** What was sent before the run was interrupted, and is not known to have arrived, is looked for before anything is sent. */
  async #lookAtEarlier(): Promise<void> {
    const { db, share } = this.#context;
    const queue: SentDelivery[] = [];
    const look = async (): Promise<void> => {
      const earlier = queue.splice(0, CHUNK);
      this.#note(await this.#readBack.look(earlier, () => ({ ...NOTHING_KNOWN, fromBefore: true })));
    };
    for await (const window of deliveryWindows(db, share.runId)) {
      queue.push(...(await readUnconfirmed(db, share, window)));
      while (queue.length >= CHUNK && this.#mayLook()) await look();
      if (!this.#mayLook()) break;
    }
    if (queue.length > 0 && this.#mayLook()) await look();
    await this.#leaveRestUnread();
  }

  /** Once the relay is not asked any more, whatever it was not asked about says so. */
  async #leaveRestUnread(): Promise<void> {
    const { db, share, signal } = this.#context;
    const { stopped } = this.#readBack;
    if (stopped === null || this.#isRestLeft || signal.aborted) return;
    this.#isRestLeft = true;
    this.#again = [];
    await leaveShareUnread(db, share, stopped);
    await this.#showTotals();
  }

  /**
   * Sends what is pending, chunk by chunk, while the chunk before is read back.
   *
   * @returns whether the relay refused something that is to be tried again later.
   */
  async #sendPending(): Promise<boolean> {
    const { signal } = this.#context;
    let after = -1;
    let leftForLater = false;
    let reading: Promise<void> = Promise.resolve();
    try {
      while (this.#mayGoOn()) {
        const chunk = await this.#nextChunk(after);
        const last = chunk.at(-1);
        if (last === undefined || !(await this.#isReady())) break;
        const checked = await this.#checked(chunk);
        const { outgoing, sendings } = await this.#send(checked);
        const stopped = outgoing.length > sendings.length;
        const later = sendings.filter(({ verdict }) => verdict.type === 'later');
        leftForLater ||= later.length > 0;
        after = this.#positionAfter(outgoing, sendings, last.position, stopped);
        await reading;
        if (signal.aborted) break;
        reading = this.#readBackSent(sendings);
        // Its failure is met where it is waited for.
        reading.catch(() => undefined);
        // Whether a relay that keeps silent stores what it is sent decides how it is sent more.
        if (this.#silence.isSuspected) await reading;
      }
    } finally {
      await reading;
    }
    return leftForLater;
  }

  /** Where sending goes on: behind the chunk, or where the relay made it stop. */
  #positionAfter(
    outgoing: readonly PendingDelivery[],
    sendings: readonly Sending[],
    last: number,
    stopped: boolean,
  ): number {
    const settled = new Set(
      sendings
        .filter(({ verdict }) => !isRateLimited(verdict) && verdict.type !== 'not-sent')
        .map(({ delivery }) => delivery),
    );
    if (!stopped && settled.size === outgoing.length) return last;
    const first = outgoing.find(({ id }) => !settled.has(id));
    return first === undefined ? last : first.position - 1;
  }

  /** Waits until the relay may be sent something. False when that does not come about. */
  async #isReady(): Promise<boolean> {
    const { connection, signal, progress } = this.#context;
    if (await this.#withdrawAllUnlessWriteRelay()) return false;
    if (this.#readBack.stopped !== null) {
      await this.#giveUpSending(`Nothing more is sent that could not be read back. ${this.#readBack.stopped}`);
      return false;
    }
    const activity = progress.begin('sending');
    const failure = await connection.readyToPublish({ signal, onWaiting: (waiting) => activity.wait(waiting) });
    activity.end();
    // That may have taken a while.
    if (failure === null) return !(await this.#withdrawAllUnlessWriteRelay());
    if (!signal.aborted) await this.#giveUpSending(failure.message);
    return false;
  }

  /** @returns whether nothing may be sent to the relay for this account any more. */
  async #withdrawAllUnlessWriteRelay(): Promise<boolean> {
    const { db, share, clock } = this.#context;
    if (await isWriteRelay(db, share.accountId, share.relayId)) return false;
    await withdrawPending(db, share, { ...withdrawalFor('no-write-relay'), atMs: clock.nowMs() });
    await this.#showTotals();
    return true;
  }

  async #giveUpSending(message: string): Promise<void> {
    this.#lost = message;
    await notePending(this.#context.db, this.#context.share, message);
    await this.#showTotals();
  }

  /** Withdraws what is not to be sent any more. @returns the rest. */
  async #checked(chunk: readonly PendingDelivery[]): Promise<PendingDelivery[]> {
    const { db, share, clock, eligibilityCaughtUp } = this.#context;
    await eligibilityCaughtUp();
    const withdrawals = await checkBeforeSending(db, share, chunk, nowSeconds(clock));
    await this.#withdraw(withdrawals);
    return chunk.filter(({ id }) => !withdrawals.has(id));
  }

  async #withdraw(withdrawals: ReadonlyMap<number, Withdrawal>): Promise<void> {
    if (withdrawals.size === 0) return;
    const atMs = this.#context.clock.nowMs();
    await withdraw(
      this.#context.db,
      [...withdrawals].map(([delivery, withdrawal]) => ({ ...withdrawal, delivery, atMs })),
    );
    await this.#showTotals();
  }

  /** Looks at one delivery for the last time before it leaves: much may have happened since its chunk was looked at. */
  async #lastWithdrawal(delivery: PendingDelivery): Promise<Withdrawal | null> {
    const { db, share, clock, eligibilityCaughtUp } = this.#context;
    if (!(await isWriteRelay(db, share.accountId, share.relayId))) return withdrawalFor('no-write-relay');
    await eligibilityCaughtUp();
    const withdrawals = await checkBeforeSending(db, share, [delivery], nowSeconds(clock));
    return withdrawals.get(delivery.id) ?? null;
  }

  /** @returns what came of those that were sent; and `outgoing`, all but those that were withdrawn in the last moment. */
  async #send(outgoing: readonly PendingDelivery[]): Promise<{ outgoing: PendingDelivery[]; sendings: Sending[] }> {
    const { db, clock, progress } = this.#context;
    if (outgoing.length === 0) return { outgoing: [], sendings: [] };
    const bodies = await readEventsByRef(
      db,
      outgoing.map(({ ref }) => ref),
    );
    const begun = new Set<number>();
    const withheld = new Map<number, Withdrawal>();
    const window = new PublishingWindow({
      ...this.#context,
      willingness: this.#willingness,
      silence: this.#silence,
      mayBeSent: async (id) => {
        const delivery = outgoing.find((candidate) => candidate.id === id);
        const withdrawal = delivery === undefined ? null : await this.#lastWithdrawal(delivery);
        if (withdrawal !== null) withheld.set(id, withdrawal);
        if (withdrawal !== null) return false;
        // Only what leaves now is called sent. It is written down before, so that no crash can hide it.
        for (const pending of await beginSending(db, [id], clock.nowMs())) begun.add(pending);
        this.#totals.soon();
        return begun.has(id);
      },
      onLateAnswer: (id, answer) => {
        if (!this.#isOver) this.#memory.addLateAnswer(id, answer);
      },
    });
    const published = await window.send(
      outgoing.map(({ id, ref }) => {
        const event = bodies.get(ref);
        if (event === undefined) throw new Error('an event that is to be sent is not archived');
        return { delivery: id, event, alone: this.#memory.isToBeSentAlone(id) };
      }),
    );
    const sendings = published.map((one) => this.#memory.judge(one));
    const came = new Set(sendings.map(({ delivery }) => delivery));
    const calledBack = outgoing.filter(({ id }) => begun.has(id) && !came.has(id));
    await recordSendings(db, [
      ...sendings,
      ...calledBack.map(({ id }): Sending => ({
        delivery: id,
        verdict: { type: 'not-sent', cancelled: true, message: '' },
        completedAtMs: clock.nowMs(),
      })),
    ]);
    await this.#withdraw(withheld);
    progress.addSent(sendings.filter(({ verdict }) => verdict.type !== 'not-sent').length);
    await this.#showTotals();
    this.#willingness.noteSent(sendings);
    if (this.#willingness.unwilling !== null) await this.#giveUpSending(this.#willingness.unwilling);
    return { outgoing: outgoing.filter(({ id }) => !withheld.has(id)), sendings };
  }

  /** Records what the relay said when it was not waited for any more. */
  async #recordLateAnswers(): Promise<void> {
    await recordLateAnswers(this.#context.db, this.#memory.takeLateAnswers());
  }

  async #readBackSent(sendings: readonly Sending[]): Promise<void> {
    const ids = sendings
      .filter(({ verdict: { type } }) => type === 'accepted' || type === 'unanswered' || type === 'doubtful')
      .map(({ delivery }) => delivery);
    if (ids.length === 0) return;
    await this.#recordLateAnswers();
    const sent = await readSent(this.#context.db, ids);
    this.#note(await this.#readBack.look(sent, (id) => this.#memory.circumstances(id)));
    const unanswered = sendings
      .filter(({ verdict: { type } }) => type === 'unanswered')
      .map(({ delivery }) => delivery);
    if (unanswered.length === 0) return;
    const looked = await readSent(this.#context.db, unanswered);
    this.#silence.readBack(looked.some(({ state }) => state === 'verified'));
  }

  #note(unseen: readonly Unseen[]): void {
    this.#again.push(...unseen.flatMap(({ delivery, verdict }) => (verdict.type === 'look-again' ? [delivery] : [])));
  }

  /** The second look, after a pause: some relays take a moment to find what they stored. */
  async #lookAgain(): Promise<void> {
    while (this.#again.length > 0 && this.#mayLook()) {
      await this.#rest('reading-back', 'waiting before looking a second time');
      await this.#recordLateAnswers();
      const again = this.#again;
      this.#again = [];
      for (let start = 0; start < again.length && this.#mayLook(); start += CHUNK) {
        this.#note(
          await this.#readBack.look(again.slice(start, start + CHUNK), (id) => this.#memory.circumstances(id)),
        );
      }
    }
    await this.#leaveRestUnread();
  }

  async #rest(doing: 'sending' | 'reading-back', reason: string): Promise<void> {
    const { clock, signal, progress } = this.#context;
    await this.#totals.count();
    const activity = progress.begin(doing);
    const waiting: Waiting = { kind: 'busy', untilMs: clock.nowMs() + PAUSE_MS, reason };
    activity.wait(waiting);
    await pause(clock, PAUSE_MS, signal).catch(() => undefined);
    activity.end();
  }

  async #nextChunk(after: number): Promise<PendingDelivery[]> {
    const pending = await nextPending(this.#context.db, this.#context.share, after, CHUNK);
    let bytes = 0;
    return pending.filter((delivery, index) => {
      bytes += delivery.bytes;
      return index === 0 || bytes <= CHUNK_BYTES;
    });
  }

  #mayGoOn(): boolean {
    return this.#lost === null && !this.#context.signal.aborted;
  }

  #mayLook(): boolean {
    return this.#readBack.stopped === null && !this.#context.signal.aborted;
  }

  async #showTotals(): Promise<void> {
    await this.#totals.changed();
  }

  async #end(): Promise<ShareEnd> {
    this.#isOver = true;
    await this.#recordLateAnswers();
    await this.#readBack.end();
    const totals = await this.#totals.count();
    const reason = this.#lost ?? this.#readBack.stopped;
    if (unfinishedDeliveries(totals) + totals.rejected === 0) return { status: 'complete', reason: null, unlooked: 0 };
    const sent = totals.sent + totals.accepted + totals.verified + totals.unverified + totals.rejected;
    return { status: sent === 0 ? 'failed' : 'partial', reason, unlooked: 0 };
  }
}
