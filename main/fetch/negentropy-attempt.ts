import type { RangeStatus } from '../../preload/contract.ts';
import { finishWalk, namedWithoutBody } from '../coverage/finish-walk.ts';
import { endAttempt, type Attempt, type Range } from '../coverage/range-history.ts';
import { recordReconciliation } from '../coverage/record-reconciliation.ts';
import { nowSeconds } from '../platform/clock.ts';
import { Fault } from '../platform/fault.ts';
import type { NegentropyOutcome, RelayFilter } from '../relays/relay-query.ts';
import { isAboutTheMoment, parseReason, saysSetTooLarge } from '../relays/relay-reason.ts';
import { comparisonSentence } from './comparison-sentence.ts';
import { BodyFetch, NEGENTROPY_CHECKPOINT } from './body-fetch.ts';
import { rememberNegentropy } from './negentropy-support.ts';
import type { AttemptEnd, PagingContext } from './paging-attempt.ts';
import type { Reconciler, ReconcileSession } from './reconciler.ts';
import { splitScope, type Scope } from './scope-split.ts';

export interface ReconcilingContext extends PagingContext {
  reconciler: Reconciler;
  /** 64 hex characters. */
  account: string;
}

/** `fallBack` says that paging may still establish what NIP-77 could not. */
export interface NegentropyEnd extends AttemptEnd {
  fallBack: boolean;
}

/** Beside the answer itself a session may be disturbed this often before it is given up. */
const DISTURBANCES = 2;
/** A relay that calls every part too large, however small, is paged instead. */
const MOST_CUTS = 200;

/**
 * Compares a range's archived events with what the relay holds (NIP-77) and fetches the bodies that only the relay has.
 * The attempt is complete when every part of the scope was compared to its end; bodies that did not come are shown
 * apart and do not make the comparison less valid (design §5). Never throws because of a relay.
 */
export async function runNegentropyAttempt(
  context: ReconcilingContext,
  range: Range,
  attempt: Attempt,
): Promise<NegentropyEnd> {
  return new NegentropyAttempt(context, range, attempt).run();
}

/** Goes on with a complete comparison some of whose bodies did not come: asks for those again, and for nothing else. */
export async function fetchMissingBodies(
  context: ReconcilingContext,
  range: Range,
  attempt: Attempt,
): Promise<NegentropyEnd> {
  return new NegentropyAttempt(context, range, attempt).fetchMissing();
}

class NegentropyAttempt {
  readonly #context: ReconcilingContext;
  readonly #range: Range;
  readonly #attempt: Attempt;
  readonly #bodies: BodyFetch;
  #disturbances = 0;
  #common = 0;
  #remoteOnly = 0;
  #localOnly = 0;
  #parts = 0;
  #cuts = 0;

  constructor(context: ReconcilingContext, range: Range, attempt: Attempt) {
    this.#context = context;
    this.#range = range;
    this.#attempt = attempt;
    this.#bodies = new BodyFetch(context, range, attempt);
  }

  async run(): Promise<NegentropyEnd> {
    try {
      return await this.#compareAll();
    } catch (error) {
      // What could not be stored ends the attempt; nothing of it may go on behind the back of whoever is told.
      await this.#bodies.abandon();
      throw error;
    }
  }

  async #compareAll(): Promise<NegentropyEnd> {
    this.#context.progress.beginRange(this.#range.since, this.#range.until);
    const scopes: Scope[] = [{ since: this.#range.since, until: this.#range.until }];
    for (let scope = scopes.shift(); scope !== undefined; scope = scopes.shift()) {
      const next = await this.#compare(scope);
      if (next.type === 'split') scopes.unshift(...next.parts);
      else if (next.type === 'again') scopes.unshift(scope);
      else if (next.type === 'ended') return this.#giveUp(next.reason, next.fallBack);
    }
    return this.#complete();
  }

  async fetchMissing(): Promise<NegentropyEnd> {
    const { db, progress } = this.#context;
    progress.beginRange(this.#range.since, this.#range.until);
    progress.enter('fetching');
    const missing = await namedWithoutBody(db, this.#attempt.walkId);
    progress.addNamed(missing.length);
    this.#bodies.add(missing);
    return this.#complete();
  }

  async #compare(scope: Scope): Promise<Next> {
    const { connection, reconciler, account, progress, signal, idleTimeoutMs } = this.#context;
    progress.enter('fetching');
    let session: ReconcileSession;
    try {
      session = await reconciler.open(account, scope);
    } catch (error) {
      // An archive that cannot be read is no matter of the relay, and pages cannot be stored in it either.
      if (error instanceof Fault) throw error;
      return { type: 'ended', reason: wordsOf(error), fallBack: true };
    }
    const request = requestOf(this.#range, scope);
    const remoteOnly: string[] = [];
    const localOnly: string[] = [];
    const result = await connection.openNegentropy(
      request,
      session.initialMessageHex,
      {
        onMessage: async (messageHex) => {
          const { messageHex: answer, have, need } = await session.reconcile(messageHex);
          localOnly.push(...have);
          remoteOnly.push(...need);
          progress.addNamed(need.length);
          this.#bodies.add(need);
          return answer;
        },
      },
      {
        // A comparison whose bodies cannot be stored is not worth going on with, however slow the relay.
        signal: AbortSignal.any([signal, this.#bodies.failure]),
        idleTimeoutMs,
        onWaiting: (waiting) => progress.wait(waiting),
      },
    );
    session.close();
    this.#bodies.failure.throwIfAborted();
    if (!result.sent) return { type: 'ended', reason: result.failure.message, fallBack: false };
    await this.#record(scope, request, session, result.outcome, remoteOnly, localOnly);
    return this.#judge(scope, session, result.outcome);
  }

  async #record(
    scope: Scope,
    request: RelayFilter,
    session: ReconcileSession,
    outcome: NegentropyOutcome,
    remoteOnly: readonly string[],
    localOnly: readonly string[],
  ): Promise<void> {
    const recorded = await recordReconciliation(this.#context.db, {
      range: this.#range,
      attempt: this.#attempt,
      scope,
      request,
      sentAtMs: outcome.sentAtMs,
      completedAtMs: outcome.completedAtMs,
      setBackMs: outcome.setBackMs,
      ending: outcome.ending,
      message: outcome.message,
      received: outcome.rounds,
      comparedUpTo: session.comparedUpTo,
      remoteOnly,
      localOnly,
      checkpoint: JSON.stringify(NEGENTROPY_CHECKPOINT),
    });
    this.#common += recorded.common;
    this.#remoteOnly += remoteOnly.length;
    if (outcome.ending === 'neg-complete') this.#localOnly += localOnly.length;
    this.#context.progress.addCompared(recorded.common);
  }

  async #judge(scope: Scope, session: ReconcileSession, outcome: NegentropyOutcome): Promise<Next> {
    const { db, relayId, clock, connection } = this.#context;
    const words = outcome.message === null || outcome.message === '' ? '' : `: ${outcome.message}`;
    switch (outcome.ending) {
      case 'neg-complete':
        this.#parts += 1;
        this.#disturbances = 0;
        await rememberNegentropy(db, relayId, 'works', clock.nowMs());
        return { type: 'compared' };
      case 'neg-err': {
        const tooLarge = outcome.negErr !== null && saysSetTooLarge(outcome.negErr.reason) && this.#cuts < MOST_CUTS;
        const parts = tooLarge ? splitScope(scope, session.middle) : null;
        if (parts !== null) {
          this.#cuts += 1;
          return { type: 'split', parts };
        }
        return { type: 'ended', reason: `${connection.url} gave the comparison up${words}.`, fallBack: true };
      }
      case 'cancelled':
        return { type: 'ended', reason: cancelledReason(this.#context.signal), fallBack: false };
      case 'disconnect':
      case 'rate-limited':
        this.#disturbances += 1;
        if (this.#disturbances <= DISTURBANCES) return { type: 'again' };
        return { type: 'ended', reason: `The comparison with ${connection.url} broke off${words}.`, fallBack: true };
      case 'timeout':
        if (outcome.rounds === 0) await rememberNegentropy(db, relayId, 'silent', clock.nowMs());
        return {
          type: 'ended',
          reason: `${connection.url} kept silent when asked to compare (NIP-77)${words}.`,
          fallBack: true,
        };
      case 'notice':
      case 'closed':
        if (isAboutTheMoment(parseReason(outcome.message ?? ''))) {
          return { type: 'ended', reason: `${connection.url} cannot compare now${words}.`, fallBack: true };
        }
        await rememberNegentropy(db, relayId, 'refused', clock.nowMs());
        return { type: 'ended', reason: `${connection.url} does not compare by NIP-77${words}.`, fallBack: true };
      case 'auth-required':
      case 'failed':
      case 'eose':
      case 'eose-finish':
      case 'eose-more':
      case 'unpageable':
        return { type: 'ended', reason: `${connection.url} did not finish the comparison${words}.`, fallBack: true };
    }
  }

  async #complete(): Promise<NegentropyEnd> {
    const { db, clock, signal } = this.#context;
    const bodies = await this.#bodies.finish();
    const compared =
      this.#parts === 0
        ? (this.#attempt.reason ?? '')
        : comparisonSentence({
            parts: this.#parts,
            common: this.#common,
            remoteOnly: this.#remoteOnly,
            localOnly: this.#localOnly,
          });
    const missing = bodies.notFetched > 0 ? ` ${bodies.notFetched} bodies did not come. ${bodies.reason ?? ''}` : '';
    const reason = `${compared}${missing}`.trim();
    const status = await finishWalk(db, this.#range, this.#attempt, reason, clock.nowMs());
    // The comparison is complete and stays an inventory; the run is not done while bodies are missing.
    const worst = bodies.notFetched > 0 ? 'partial' : status;
    return { status: worst, reason, lost: signal.aborted || bodies.reason !== null, fallBack: false };
  }

  async #giveUp(reason: string, fallBack: boolean): Promise<NegentropyEnd> {
    const { db, clock, signal } = this.#context;
    await this.#bodies.finish();
    const kept = this.#common + this.#remoteOnly > 0;
    const status: Exclude<RangeStatus, 'active'> = kept ? 'partial' : 'failed';
    await endAttempt(db, this.#attempt.id, status, reason, nowSeconds(clock));
    return { status, reason, lost: !fallBack, fallBack: fallBack && !signal.aborted };
  }
}

type Next =
  | { type: 'compared' }
  | { type: 'again' }
  | { type: 'split'; parts: [Scope, Scope] }
  | { type: 'ended'; reason: string; fallBack: boolean };

function requestOf(range: Range, scope: Scope): RelayFilter {
  return { ...range.filter, ...(scope.since === null ? {} : { since: scope.since }), until: scope.until };
}

function cancelledReason(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : 'Cancelled.';
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
