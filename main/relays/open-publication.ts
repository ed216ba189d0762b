import type { SignedEvent } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { abortWords } from './linked-signal.ts';
import { describeSocketEnd } from './open-request.ts';
import type { LateAnswer, PublishOutcome, RelayReason } from './relay-query.ts';
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
  /** Called when an OK comes after that, once at the most. */
  onLateAnswer: (answer: LateAnswer) => void;
}

/** How long an OK is still waited for once a NOTICE seems to refuse the event: relays that send both send them together. */
const SUSPECTED_MS = 5_000;

/** One EVENT frame from sending to OK (NIP-01), or to the time when nothing more is to be expected. */
export class OpenPublication {
  readonly eventId: string;
  /** Bytes of the EVENT frame. */
  readonly requestBytes: number;
  readonly #options: PublicationOptions;
  readonly #sentAtMs: number;
  readonly #cancelTimeout: () => void;
  #cancelSuspicion: (() => void) | null = null;
  /** What a NOTICE said that can only be about this event, unless it is about nothing. */
  #suspicion: RelayReason | null = null;
  #over = false;

  /** Sends the EVENT. The signal must not have aborted. */
  constructor(options: PublicationOptions) {
    this.#options = options;
    this.eventId = options.event.id;
    const frame = JSON.stringify(['EVENT', options.event]);
    this.requestBytes = Buffer.byteLength(frame);
    this.#sentAtMs = options.clock.nowMs();
    this.#cancelTimeout = options.clock.after(options.okTimeoutMs, () => {
      this.#endWithoutOk('timeout', `No OK in ${options.okTimeoutMs / 1000} seconds`, null);
    });
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    options.send(frame);
  }

  /** The relay's OK for this event; `accepted` is null when it says neither yes nor no. */
  onOk(accepted: boolean | null, message: string): void {
    if (accepted === null) {
      const words = message === '' ? '' : `: ${message}`;
      this.#unknown('unclear', `The relay answered without saying whether it took the event${words}`, null);
      return;
    }
    const answer = this.#answer(accepted, parseReason(message));
    if (this.#over) {
      this.#options.onLateAnswer(answer);
    } else {
      this.#end(answer);
    }
  }

  /** A NOTICE that can only be about this event, unless it is about nothing: an OK that comes soon overrules it. */
  suspect(reason: RelayReason): void {
    this.#suspicion = reason;
    this.#cancelSuspicion ??= this.#options.clock.after(SUSPECTED_MS, () => {
      this.#endWithoutOk('timeout', 'No OK', null);
    });
  }

  /** The relay closed the connection for a reason that can only lie in this event. */
  refuseByClosing(reason: RelayReason): void {
    this.#end(this.#refusal(reason, 'close'));
  }

  onSocketEnd(end: SocketEnd): void {
    this.#endWithoutOk('disconnect', describeSocketEnd(end), end.cause === 'by-relay' ? end.code : null);
  }

  cancel(why: string): void {
    this.#unknown('cancelled', why, null);
  }

  /** True when a refusal with this reason is the relay asking for less speed. */
  static asksForLessSpeed(outcome: PublishOutcome): boolean {
    return outcome.state === 'rejected' && meaningOf(outcome.reason) === 'rate-limited';
  }

  /** True when an OK may still come for a publication that ended like this. */
  static mayBeAnsweredLate(outcome: PublishOutcome): boolean {
    return outcome.state === 'unknown'
      ? outcome.cause === 'timeout'
      : outcome.state === 'rejected' && outcome.by === 'notice';
  }

  readonly #onAbort = (): void => {
    this.#unknown('cancelled', abortWords(this.#options.signal) || 'Cancelled', null);
  };

  #answer(accepted: boolean, reason: RelayReason): LateAnswer {
    // Some relays call an event they already have a refusal; it is stored all the same.
    const duplicate = reason.prefix === 'duplicate';
    return accepted || duplicate
      ? { state: 'accepted', duplicate, reason, ...this.#times() }
      : this.#refusal(reason, 'ok');
  }

  #refusal(reason: RelayReason, by: 'ok' | 'notice' | 'close'): LateAnswer {
    return { state: 'rejected', lasting: isLastingRefusal(reason), by, reason, ...this.#times() };
  }

  #endWithoutOk(cause: 'timeout' | 'disconnect', message: string, closeCode: number | null): void {
    if (this.#suspicion === null) {
      this.#unknown(cause, message, closeCode);
    } else {
      this.#end(this.#refusal(this.#suspicion, 'notice'));
    }
  }

  #unknown(cause: 'timeout' | 'disconnect' | 'cancelled' | 'unclear', message: string, closeCode: number | null): void {
    this.#end({ state: 'unknown', cause, message, closeCode, sentAtMs: this.#sentAtMs });
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
    this.#cancelSuspicion?.();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onDone(outcome);
  }
}
