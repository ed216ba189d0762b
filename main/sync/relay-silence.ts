import type { PublishResult } from '../relays/relay-query.ts';

/** Events in a row without an answer after which a relay that did answer is called silent. */
const UNANSWERED = 8;
/** How long the OK of a relay is waited for that is known to store without saying so. It counts also when it comes later. */
const KNOWN_TO_STORE_TIMEOUT_MS = 3_000;

/**
 * Whether a relay answers to what it is sent at all (NIP-01 asks for an OK). One that keeps silent is not sent a hundred events
 * that are waited for one after the other: those without an answer are read back first, and a relay that turns out to
 * have them is known to store without a word.
 */
export class RelaySilence {
  #inARow = 0;
  #everAnswered = false;
  #isKnownToStore = false;

  /** True while it is better to read back what was sent than to send more. */
  get isSuspected(): boolean {
    return !this.#isKnownToStore && this.#inARow >= (this.#everAnswered ? UNANSWERED : 1);
  }

  /** How long an OK is to be waited for, in milliseconds; undefined for the usual time. */
  get okTimeoutMs(): number | undefined {
    return this.#isKnownToStore ? KNOWN_TO_STORE_TIMEOUT_MS : undefined;
  }

  /** Notes what came of one sending, as soon as it came. */
  note(result: PublishResult): void {
    if (!result.sent) return;
    if (result.outcome.state !== 'unknown' || result.outcome.cause === 'unclear') this.answered();
    else if (result.outcome.cause === 'timeout') this.#inARow += 1;
  }

  /** The relay answered, be it late: it is given the usual time again. */
  answered(): void {
    this.#everAnswered = true;
    this.#isKnownToStore = false;
    this.#inARow = 0;
  }

  /** What was read back shows whether the relay had stored anything that it had not answered for. */
  readBack(hasStoredAny: boolean): void {
    if (this.#inARow > 0 && hasStoredAny) this.#isKnownToStore = true;
    this.#inARow = 0;
  }
}
