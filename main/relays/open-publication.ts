import type { SignedEvent } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { abortWords } from './linked-signal.ts';
import { describeSocketEnd } from './open-request.ts';
import type { PublishOutcome, RelayReason } from './relay-query.ts';
import { isLastingRefusal, meaningOf, parseReason } from './relay-reason.ts';
import type { SocketEnd } from './relay-socket.ts';

export interface PublicationOptions {
  event: SignedEvent;
  okTimeoutMs: number;
  signal?: AbortSignal | undefined;
  clock: Clock;
  send: (text: string) => void;
  /** Called once, synchronously, when it has ended. */
  onDone: (outcome: PublishOutcome) => void;
}

/** One EVENT frame from sending to OK (NIP-01), or to the time when nothing more is to be expected. */
export class OpenPublication {
  readonly eventId: string;
  /** Bytes of the EVENT frame. */
  readonly requestBytes: number;
  readonly #options: PublicationOptions;
  readonly #sentAtMs: number;
  readonly #cancelTimeout: () => void;
  #over = false;

  /** Sends the EVENT. The signal must not have aborted. */
  constructor(options: PublicationOptions) {
    this.#options = options;
    this.eventId = options.event.id;
    const frame = JSON.stringify(['EVENT', options.event]);
    this.requestBytes = Buffer.byteLength(frame);
    this.#sentAtMs = options.clock.nowMs();
    this.#cancelTimeout = options.clock.after(options.okTimeoutMs, () => {
      this.#unknown('timeout', `No OK in ${options.okTimeoutMs / 1000} seconds`);
    });
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    options.send(frame);
  }

  /** The relay's OK for this event. */
  onOk(accepted: boolean, message: string): void {
    const reason = parseReason(message);
    // Some relays call an event they already have a refusal; it is stored all the same.
    const duplicate = reason.prefix === 'duplicate';
    if (accepted || duplicate) {
      this.#end({ state: 'accepted', duplicate, reason, ...this.#times() });
    } else {
      this.reject(reason);
    }
  }

  /** The relay's refusal, by OK or by other words that can only be about this event. */
  reject(reason: RelayReason): void {
    this.#end({ state: 'rejected', lasting: isLastingRefusal(reason), reason, ...this.#times() });
  }

  onSocketEnd(end: SocketEnd): void {
    this.#unknown('disconnect', describeSocketEnd(end));
  }

  cancel(why: string): void {
    this.#unknown('cancelled', why);
  }

  /** True when a refusal with this reason is the relay asking for less speed. */
  static asksForLessSpeed(outcome: PublishOutcome): boolean {
    return outcome.state === 'rejected' && meaningOf(outcome.reason) === 'rate-limited';
  }

  readonly #onAbort = (): void => {
    this.#unknown('cancelled', abortWords(this.#options.signal) || 'Cancelled');
  };

  #unknown(cause: 'timeout' | 'disconnect' | 'cancelled', message: string): void {
    this.#end({ state: 'unknown', cause, message, sentAtMs: this.#sentAtMs });
  }

  #times(): { sentAtMs: number; completedAtMs: number } {
    return { sentAtMs: this.#sentAtMs, completedAtMs: this.#options.clock.nowMs() };
  }

  #end(outcome: PublishOutcome): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#cancelTimeout();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onDone(outcome);
  }
}
