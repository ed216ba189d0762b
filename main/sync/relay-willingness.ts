import type { PublishResult } from '../relays/relay-query.ts';
import { meaningOf } from '../relays/relay-reason.ts';
import type { Sending } from './delivery-store.ts';
import { isRateLimited } from './publication-verdict.ts';

/** Complaints about the speed in a row, without one event taken in between, after which a relay is left alone. */
const RATE_LIMITS = 20;
/** Times in a row that a connection came about and was gone again before anything could be sent. */
const UNSENT = 3;
/** Events in a row that a relay would take only after authentication: it means all of them. */
const AUTHENTICATIONS = 10;

/** Whether a relay takes anything at all, as far as its answers show. What takes nothing is not sent everything. */
export class RelayWillingness {
  #rateLimits = 0;
  #unsent = 0;
  #authentications = 0;
  #unwilling: string | null = null;

  /** Why nothing more is to be sent, in plain words, or null. */
  get unwilling(): string | null {
    return this.#unwilling;
  }

  /** Notes what came of one sending, as soon as it came. */
  note(result: PublishResult): void {
    if (!result.sent || result.outcome.state === 'unknown') return;
    const { outcome } = result;
    if (outcome.state !== 'rejected' || meaningOf(outcome.reason) !== 'auth-required') {
      this.#authentications = 0;
      return;
    }
    this.#authentications += 1;
    if (this.#authentications < AUTHENTICATIONS) return;
    this.#unwilling = `The relay takes events only after authentication: ${outcome.reason.text}`;
  }

  /** Notes what came of sending several, once all of it is known. */
  noteSent(sendings: readonly Sending[]): void {
    const unsent = sendings.find(({ verdict }) => verdict.type === 'not-sent' && !verdict.cancelled)?.verdict;
    this.#unsent =
      unsent !== undefined && sendings.every(({ verdict }) => verdict.type === 'not-sent') ? this.#unsent + 1 : 0;
    if (this.#unsent >= UNSENT && unsent?.type === 'not-sent') this.#unwilling = unsent.message;
    const complaint = sendings.find(({ verdict }) => isRateLimited(verdict))?.verdict;
    if (complaint === undefined || sendings.some(({ verdict }) => verdict.type === 'accepted')) {
      this.#rateLimits = 0;
      return;
    }
    this.#rateLimits += 1;
    if (this.#rateLimits < RATE_LIMITS || complaint.type !== 'later') return;
    this.#unwilling = `The relay keeps limiting the rate: ${complaint.message}`;
  }
}
