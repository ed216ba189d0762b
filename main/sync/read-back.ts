import type { EventVerifier } from '../archive/event-verifier.ts';
import { beginAttempt, endAttempt, type Attempt, type Range } from '../coverage/range-history.ts';
import { recordPage } from '../coverage/record-page.ts';
import type { WritableDatabase } from '../database/database-file.ts';
import { PageCollector, type CollectedPage } from '../coverage/page-collector.ts';
import { pageRecord } from '../coverage/page-record.ts';
import { nowSeconds, type Clock } from '../platform/clock.ts';
import { isFinished } from '../relays/query-ending.ts';
import type { RelayConnection } from '../relays/relay-connection.ts';
import type { QueryOutcome, RelayFilter } from '../relays/relay-query.ts';
import type { SentDelivery } from './delivery-rows.ts';
import { IDS_PER_QUERY } from './delivery-snapshot.ts';
import { leaveUnread, recordLooks, type Look } from './delivery-store.ts';
import { judgeUnseen, type Circumstances, type LookVerdict } from './look-verdict.ts';
import { openReadBackRange } from './read-back-range.ts';
import type { Activity, RelaySyncProgress } from './sync-progress.ts';
import { afterUnfinishedLook, NO_SETBACKS, type Setbacks } from './unfinished-look.ts';

export interface ReadBackContext {
  db: WritableDatabase;
  verifier: EventVerifier;
  clock: Clock;
  connection: RelayConnection;
  signal: AbortSignal;
  idleTimeoutMs: number;
  progress: RelaySyncProgress;
  /** Called when something was recorded. */
  onRecorded: () => Promise<void>;
  scope: { accountId: number; relayId: number; runId: number; boundary: number };
}

/** A delivery that a conclusive look did not return, and what follows from that. */
export interface Unseen {
  delivery: SentDelivery;
  verdict: LookVerdict;
}

/**
 * Asks one relay for certain events by ID and records what that shows (design §6). A look at an event is conclusive when
 * it was returned, or when a finished answer returned nothing at all: an answer that returned something may have been cut
 * off, so what it lacks is asked for again, fewer at a time. Relays also return nothing when they are asked for more IDs
 * than they take; so before anything follows from it, an event is asked for alone, unless the relay has shown that it
 * answers for as many.
 */
export class ReadBack {
  readonly #context: ReadBackContext;
  #batch = IDS_PER_QUERY;
  #setbacks: Setbacks = NO_SETBACKS;
  /** The most events that one answer returned: so many IDs the relay certainly looks for. */
  #mostReturned = 0;
  /** Deliveries that are to be asked for by themselves. */
  readonly #toAskAlone = new Set<number>();
  /** Finished answers about one event alone that showed nothing, by delivery. */
  readonly #fruitless = new Map<number, number>();
  /** Deliveries about which it is known by now whether the relay returns them. */
  readonly #concluded = new Set<number>();
  /** Deliveries left unread since an answer showed anything. */
  #leftUnread = 0;
  #walk: { range: Range; attempt: Attempt } | null = null;
  #stopped: string | null = null;

  constructor(context: ReadBackContext) {
    this.#context = context;
  }

  /** Why the relay is not asked any more, or null. */
  get stopped(): string | null {
    return this.#stopped;
  }

  /** Of how many deliveries it is known by now whether the relay returns them. */
  get concluded(): number {
    return this.#concluded.size;
  }

  /**
   * Looks at deliveries, each conclusively unless the relay cannot be asked any further.
   *
   * @returns those that were not returned.
   */
  async look(deliveries: readonly SentDelivery[], about: (id: number) => Circumstances): Promise<Unseen[]> {
    const unseen: Unseen[] = [];
    const activity = this.#context.progress.begin('reading-back');
    try {
      // What an answer left out goes to the end of the queue, where it comes together with others left out.
      let queue = [...deliveries];
      while (queue.length > 0 && this.#stopped === null && !this.#context.signal.aborted) {
        const asked = this.#next(queue);
        const left = await this.#ask(asked, about, activity, unseen);
        queue = [...queue.slice(asked.length), ...left];
      }
      if (queue.length > 0 && this.#stopped !== null && !this.#context.signal.aborted) {
        await leaveUnread(
          this.#context.db,
          queue.map(({ id }) => id),
          this.#stopped,
        );
        await this.#context.onRecorded();
      }
    } finally {
      activity.end();
    }
    return unseen;
  }

  /** Ends what was recorded of this launch. */
  async end(): Promise<void> {
    if (this.#walk === null) return;
    const status = this.#stopped === null && !this.#context.signal.aborted ? 'complete' : 'partial';
    const reason = this.#stopped ?? 'Read back what was sent.';
    await endAttempt(this.#context.db, this.#walk.attempt.id, status, reason, nowSeconds(this.#context.clock));
  }

  /** What to ask for in one query: the first of the queue, and what may be asked for together with it. */
  #next(queue: readonly SentDelivery[]): SentDelivery[] {
    const alone = queue.findIndex(({ id }) => this.#toAskAlone.has(id));
    return queue.slice(0, alone === 0 ? 1 : alone === -1 ? this.#batch : Math.min(this.#batch, alone));
  }

  /** One query. @returns the deliveries about which it showed nothing. */
  async #ask(
    asked: readonly SentDelivery[],
    about: (id: number) => Circumstances,
    activity: Activity,
    unseen: Unseen[],
  ): Promise<SentDelivery[]> {
    const { connection, verifier, signal, idleTimeoutMs } = this.#context;
    const request: RelayFilter = { ids: asked.map(({ event }) => event), limit: asked.length };
    const collector = new PageCollector(verifier, request);
    const result = await connection.query(request, {
      onEvent: (event) => collector.add(event),
      signal,
      idleTimeoutMs,
      onWaiting: (waiting) => activity.wait(waiting),
    });
    activity.wait(null);
    if (!result.sent) {
      if (result.failure.code !== 'cancelled') this.#stopped = result.failure.message;
      return [...asked];
    }
    const named = collector.arrived.events.length;
    const page = await collector.finish();
    const { outcome } = result;
    const queryId = await this.#record(request, outcome, page);
    const found = new Set(page.events.map(({ id }) => id));
    const missing = asked.filter(({ event }) => !found.has(event));
    const isConclusive = concludes(outcome, { found: found.size, named, asked: asked.length });
    const judged = isConclusive ? missing.map((delivery) => judge(delivery, about(delivery.id))) : [];
    const isCertain = asked.length === 1 || asked.length <= this.#mostReturned;
    const gone = judged.filter(({ verdict }) => isCertain || !isFinal(verdict));
    const goneIds = new Set(gone.map(({ delivery }) => delivery.id));
    const open = missing.filter(({ id }) => !goneIds.has(id));
    this.#mostReturned = Math.max(this.#mostReturned, found.size);
    await recordLooks(this.#context.db, { id: queryId, ...outcome }, [
      ...asked.filter(({ event }) => found.has(event)).map(({ id }): Look => ({ delivery: id, outcome: 'found' })),
      ...gone.map(({ delivery, verdict }): Look => ({ delivery: delivery.id, outcome: 'not-found', verdict })),
      ...open.map(({ id }): Look => ({
        delivery: id,
        outcome: 'inconclusive',
        message: isConclusive ? ASKED_ALONE_NEXT : whyInconclusive(outcome, found.size),
      })),
    ]);
    for (const { id, event } of asked) if (found.has(event)) this.#concluded.add(id);
    for (const { delivery, verdict } of gone) if (verdict.type !== 'look-again') this.#concluded.add(delivery.id);
    await this.#context.onRecorded();
    unseen.push(...gone);
    this.#adapt(outcome, asked.length, found.size, isConclusive);
    if (isConclusive) {
      for (const { id } of open) this.#toAskAlone.add(id);
      for (const { id } of asked.length === 1 ? asked : []) this.#toAskAlone.delete(id);
      return open;
    }
    const [only] = open;
    return asked.length === 1 && only !== undefined && isFinished(outcome.ending) ? this.#askedInVain(only) : open;
  }

  /** An event about which a finished answer shows nothing although nothing else was asked for is left after a few answers. */
  async #askedInVain(delivery: SentDelivery): Promise<SentDelivery[]> {
    const answers = (this.#fruitless.get(delivery.id) ?? 0) + 1;
    this.#fruitless.set(delivery.id, answers);
    if (answers < FRUITLESS_ANSWERS) return [delivery];
    this.#leftUnread += 1;
    const message = `${this.#context.connection.url} answers in a way that does not tell whether it has the event.`;
    if (this.#leftUnread >= LEFT_UNREAD) this.#stopped = message;
    await leaveUnread(this.#context.db, [delivery.id], message);
    await this.#context.onRecorded();
    return [];
  }

  async #record(request: RelayFilter, outcome: QueryOutcome, page: CollectedPage): Promise<number> {
    const { db, progress } = this.#context;
    this.#walk ??= await this.#beginWalk();
    const recorded = await recordPage(db, pageRecord(this.#walk, request, outcome, page), () => ({
      cursor: null,
      checkpoint: READ_BACK_CHECKPOINT,
      covered: null,
      end: null,
    }));
    progress.addQuery(recorded.newlyArchived);
    return recorded.queryId;
  }

  async #beginWalk(): Promise<{ range: Range; attempt: Attempt }> {
    const { db, clock, scope } = this.#context;
    const range = await openReadBackRange(db, scope);
    const attempt = await beginAttempt(db, {
      rangeId: range.id,
      runId: scope.runId,
      strategy: 'paging',
      pageLimit: IDS_PER_QUERY,
      startedAt: nowSeconds(clock),
      prior: null,
      continued: false,
    });
    return { range, attempt };
  }

  /** How many to ask for next, and whether to ask at all. */
  #adapt(outcome: QueryOutcome, asked: number, found: number, isConclusive: boolean): void {
    if (isFinished(outcome.ending)) {
      this.#setbacks = NO_SETBACKS;
      if (isConclusive || found > 0) this.#leftUnread = 0;
      if (isConclusive) this.#batch = Math.min(IDS_PER_QUERY, this.#batch * 2);
      // A relay that returns fewer than asked for may cap its answers.
      else if (found > 0) this.#batch = Math.max(LEAST_BATCH, found);
      else this.#batch = Math.max(1, Math.floor(asked / 2));
      return;
    }
    const next = afterUnfinishedLook(outcome, this.#setbacks, this.#context.connection.url);
    if (next.type === 'stop') {
      if (!this.#context.signal.aborted) this.#stopped = next.reason;
      return;
    }
    this.#setbacks = next.setbacks;
    if (next.smaller) this.#batch = Math.max(1, Math.floor(asked / 2));
  }
}

/** Fewer are not worth a query, as long as answers bring anything. */
const LEAST_BATCH = 10;
const FRUITLESS_ANSWERS = 3;
const LEFT_UNREAD = 10;

/** Asking by ID keeps no cursor: gone on with, the events that are still in question are asked for. */
const READ_BACK_CHECKPOINT = { version: 'read-back-1' };

const ASKED_ALONE_NEXT = 'The answer held nothing at all, so the event is asked for by itself.';

/**
 * Nothing of an answer was lost, and it was not cut off: all came, or nothing came, or all that came for a single ID bore that
 * ID, but was not what was signed. `named` are the bodies that bore an ID that was asked for.
 */
function concludes(
  outcome: QueryOutcome,
  { found, named, asked }: { found: number; named: number; asked: number },
): boolean {
  if (!isFinished(outcome.ending) || outcome.unreadable > 0 || outcome.lateEvents > 0) return false;
  if (found === asked) return true;
  if (outcome.ending === 'eose-more') return false;
  return outcome.received === 0 || (asked === 1 && outcome.received === named);
}

/** Whether it is decided what comes of a delivery, at least in this launch. */
function isFinal({ type }: LookVerdict): boolean {
  return type !== 'look-again' && type !== 'keep';
}

function judge(delivery: SentDelivery, circumstances: Circumstances): Unseen {
  const looks = delivery.looks + 1;
  return { delivery: { ...delivery, looks }, verdict: judgeUnseen({ ...delivery, looks, ...circumstances }) };
}

function whyInconclusive(outcome: QueryOutcome, found: number): string {
  if (!isFinished(outcome.ending)) return outcome.message ?? `The answer did not finish (${outcome.ending}).`;
  if (outcome.ending === 'eose-more') return 'The relay said that it has more to answer.';
  if (outcome.unreadable > 0 || outcome.lateEvents > 0) return 'Part of the answer could not be read, or came late.';
  return found > 0
    ? 'The answer held other events and may have been cut off.'
    : 'The answer held something else than was asked for.';
}
