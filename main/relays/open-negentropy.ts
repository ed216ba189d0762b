import type { QueryEnding } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import type { MomentOrder } from '../platform/moment-order.ts';
import { IdleTimer } from './idle-timer.ts';
import { abortWords } from './linked-signal.ts';
import { describeSocketEnd, endedOverFrame } from './open-request.ts';
import type { OpenRequest, SubscriptionFrame } from './open-request.ts';
import { endingOf, tookTooLong } from './open-subscription.ts';
import type { RequestLimits } from './query-limits.ts';
import type { Scalar } from './relay-frame.ts';
import type { NegentropyOutcome, RelayFilter, RelayReason } from './relay-query.ts';
import { meaningOf, parseReason } from './relay-reason.ts';
import type { ReasonMeaning } from './relay-reason.ts';
import type { SocketEnd } from './relay-socket.ts';

export interface NegentropyHandlers {
  /** Takes the relay's message (hex) and gives our next one (hex), or null when the reconciliation is complete. */
  onMessage: (messageHex: string) => string | null | Promise<string | null>;
}

export interface NegentropyOptions {
  subscription: string;
  filter: RelayFilter;
  initialMessageHex: string;
  limits: RequestLimits;
  handlers: NegentropyHandlers;
  signal?: AbortSignal | undefined;
  clock: Clock;
  moments: MomentOrder;
  send: (text: string) => void;
  /** Called once, synchronously, when it has ended. */
  onDone: (outcome: NegentropyOutcome) => void;
}

/**
 * One NEG session (NIP-77) from NEG-OPEN to exactly one ending. Only NEG-MSG of this very session counts as progress;
 * the time in which we compute our own answer does not count as silence.
 */
export class OpenNegentropy implements OpenRequest {
  readonly subscription: string;
  readonly kind = 'negentropy';
  readonly requestBytes: number;
  readonly #options: NegentropyOptions;
  readonly #sentAtMs: number;
  readonly #cancelTotal: () => void;
  #idle: IdleTimer | null = null;
  #frames = 0;
  #rounds = 0;
  #bytes: number;
  #answering = false;
  #over = false;

  /** Sends NEG-OPEN. The signal must not have aborted. */
  constructor(options: NegentropyOptions) {
    this.#options = options;
    this.subscription = options.subscription;
    const request = JSON.stringify(['NEG-OPEN', options.subscription, options.filter, options.initialMessageHex]);
    this.requestBytes = Buffer.byteLength(request);
    this.#bytes = options.initialMessageHex.length / 2;
    this.#sentAtMs = options.clock.nowMs();
    options.moments.begin();
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#cancelTotal = options.clock.after(options.limits.totalTimeoutMs, () => {
      this.#end('timeout', tookTooLong(options.limits.totalTimeoutMs), true);
    });
    options.send(request);
    this.#waitForRelay();
  }

  get frames(): number {
    return this.#frames;
  }

  onFrame(frame: SubscriptionFrame, bytes: number): void {
    switch (frame.type) {
      case 'neg-msg':
        this.#frames += 1;
        this.#rounds += 1;
        this.#bytes += frame.messageHex.length / 2;
        this.#onMessage(frame.messageHex, bytes);
        return;
      case 'neg-err':
        this.#frames += 1;
        this.#onError(frame.reason, frame.elements);
        return;
      case 'closed': {
        this.#frames += 1;
        const reason = parseReason(frame.message);
        this.#end(endingOf(meaningOf(reason), 'closed'), reason.text, false);
        return;
      }
      case 'event':
      case 'malformed-event':
      case 'eose':
        return;
    }
  }

  onNotice(reason: RelayReason, meaning: ReasonMeaning): void {
    // A relay that does not know NEG-OPEN does not know NEG-CLOSE either, and would complain once more.
    this.#end(endingOf(meaning, 'notice'), reason.text, this.#frames > 0);
  }

  onSocketEnd(end: SocketEnd): void {
    this.#end(endedOverFrame(end) ? 'failed' : 'disconnect', describeSocketEnd(end), false);
  }

  cancel(why: string): void {
    this.#end('cancelled', why, true);
  }

  #waitForRelay(): void {
    this.#idle?.stop();
    const { clock, limits } = this.#options;
    const { idleTimeoutMs } = limits;
    this.#idle = new IdleTimer(clock, idleTimeoutMs, () => {
      this.#end('timeout', `No message of this session in ${idleTimeoutMs / 1000} seconds`, true);
    });
  }

  #onMessage(messageHex: string, bytes: number): void {
    if (this.#answering) {
      this.#end('failed', 'The relay sent a second message before ours was answered', true);
      return;
    }
    if (bytes > this.#options.limits.maxBytes || this.#bytes > this.#options.limits.maxBytes) {
      this.#end('failed', `The session exceeded ${this.#options.limits.maxBytes} bytes`, true);
      return;
    }
    this.#idle?.stop();
    this.#answering = true;
    this.#answer(messageHex).catch((error: unknown) => {
      this.#end(
        'failed',
        `The message could not be used: ${error instanceof Error ? error.message : String(error)}`,
        true,
      );
    });
  }

  async #answer(messageHex: string): Promise<void> {
    const next = await this.#options.handlers.onMessage(messageHex);
    this.#answering = false;
    if (this.#over) {
      return;
    }
    if (next === null) {
      this.#end('neg-complete', null, true);
      return;
    }
    this.#bytes += next.length / 2;
    this.#options.send(JSON.stringify(['NEG-MSG', this.subscription, next]));
    this.#waitForRelay();
  }

  #onError(text: string, elements: Scalar[]): void {
    const reason = parseReason(text);
    const fourth = elements[3];
    const maximum = typeof fourth === 'number' && Number.isSafeInteger(fourth) && fourth >= 0 ? fourth : null;
    // NEG-ERR stays NEG-ERR whatever its words: they decide elsewhere whether the scope is split.
    this.#end('neg-err', text, false, { reason, maximum, elements });
  }

  readonly #onAbort = (): void => {
    this.#end('cancelled', abortWords(this.#options.signal) || 'Cancelled', true);
  };

  #end(
    ending: QueryEnding,
    message: string | null,
    sayClose: boolean,
    negErr: NegentropyOutcome['negErr'] = null,
  ): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#idle?.stop();
    this.#cancelTotal();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    if (sayClose) {
      this.#options.send(JSON.stringify(['NEG-CLOSE', this.subscription]));
    }
    this.#options.onDone({
      ending,
      message,
      negErr,
      sentAtMs: this.#sentAtMs,
      completedAtMs: this.#options.clock.nowMs(),
      setBackMs: this.#options.moments.next(),
      rounds: this.#rounds,
      bytes: this.#bytes,
    });
  }
}
