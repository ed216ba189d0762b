import type { QueryEnding, SignedEvent } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import { IdleTimer } from './idle-timer.ts';
import { describeSocketEnd } from './open-request.ts';
import type { OpenRequest, SubscriptionFrame } from './open-request.ts';
import type { CompletenessHint } from './relay-frame.ts';
import type { QueryOutcome, RelayFilter, RelayReason } from './relay-query.ts';
import { meaningOf, parseReason } from './relay-reason.ts';
import type { ReasonMeaning } from './relay-reason.ts';
import type { SocketEnd } from './relay-socket.ts';

export interface SubscriptionOptions {
  subscription: string;
  filters: RelayFilter[];
  /** A live subscription goes on after EOSE and has no time-out. */
  live: boolean;
  idleTimeoutMs: number;
  maxEvents: number;
  maxBytes: number;
  onEvent: (event: SignedEvent) => void;
  onEose?: ((hint: CompletenessHint) => void) | undefined;
  signal?: AbortSignal | undefined;
  clock: Clock;
  send: (text: string) => void;
  /** Called once, synchronously, when it has ended. */
  onDone: (outcome: QueryOutcome) => void;
}

const EOSE_ENDINGS = { finish: 'eose-finish', more: 'eose-more' } as const;

/** One REQ from its first frame to exactly one ending (NIP-01, NIP-67). */
export class OpenSubscription implements OpenRequest {
  readonly subscription: string;
  readonly kind: 'query' | 'live';
  readonly requestBytes: number;
  readonly #options: SubscriptionOptions;
  readonly #idle: IdleTimer | null;
  readonly #sentAtMs: number;
  #received = 0;
  #malformed = 0;
  #bytes = 0;
  #frames = 0;
  #stored = true;
  #over = false;

  /** Sends the REQ. The signal must not have aborted. */
  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.subscription = options.subscription;
    this.kind = options.live ? 'live' : 'query';
    const request = JSON.stringify(['REQ', options.subscription, ...options.filters]);
    this.requestBytes = Buffer.byteLength(request);
    this.#sentAtMs = options.clock.nowMs();
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#idle = options.live
      ? null
      : new IdleTimer(options.clock, options.idleTimeoutMs, () => {
          this.#end('timeout', `No frame for this query in ${options.idleTimeoutMs / 1000} seconds`, true);
        });
    options.send(request);
  }

  get frames(): number {
    return this.#frames;
  }

  onFrame(frame: SubscriptionFrame, bytes: number): void {
    this.#frames += 1;
    this.#bytes += bytes;
    this.#idle?.touch();
    switch (frame.type) {
      case 'event':
        if (this.#countDelivery()) {
          this.#deliver(frame.event);
        }
        return;
      case 'malformed-event':
        this.#malformed += 1;
        this.#countDelivery();
        return;
      case 'eose':
        this.#onEose(frame.hint);
        return;
      case 'closed':
        this.#onClosed(parseReason(frame.message));
        return;
      case 'neg-msg':
      case 'neg-err':
        return;
    }
  }

  onNotice(reason: RelayReason, meaning: ReasonMeaning): void {
    this.#end(endingOf(meaning, 'notice'), reason.text, true, meaning);
  }

  onSocketEnd(end: SocketEnd): void {
    const words = describeSocketEnd(end);
    if (end.cause === 'frame-too-large') {
      this.#end('failed', words, false);
    } else if (end.cause === 'by-relay' && meaningOf(parseReason(end.reason)) === 'rate-limited') {
      this.#end('rate-limited', words, false);
    } else {
      this.#end('disconnect', words, false);
    }
  }

  cancel(why: string): void {
    this.#end('cancelled', why, true);
  }

  #countDelivery(): boolean {
    this.#received += 1;
    if (this.#options.live && !this.#stored) {
      return true;
    }
    if (this.#received > this.#options.maxEvents) {
      this.#end('failed', `The relay sent more than ${this.#options.maxEvents} events for one request`, true);
      return false;
    }
    if (this.#bytes > this.#options.maxBytes) {
      this.#end('failed', `The relay sent more than ${this.#options.maxBytes} bytes for one request`, true);
      return false;
    }
    return true;
  }

  #deliver(event: SignedEvent): void {
    try {
      this.#options.onEvent(event);
    } catch (error) {
      this.#end(
        'failed',
        `An event could not be handled: ${error instanceof Error ? error.message : String(error)}`,
        true,
      );
    }
  }

  #onEose(hint: CompletenessHint): void {
    if (!this.#options.live) {
      this.#end(hint === null ? 'eose' : EOSE_ENDINGS[hint], null, true);
      return;
    }
    this.#stored = false;
    try {
      this.#options.onEose?.(hint);
    } catch (error) {
      this.#end('failed', error instanceof Error ? error.message : String(error), true);
    }
  }

  #onClosed(reason: RelayReason): void {
    const meaning = meaningOf(reason);
    this.#end(endingOf(meaning, 'closed'), reason.text, false, meaning);
  }

  readonly #onAbort = (): void => {
    this.#end('cancelled', 'Cancelled', true);
  };

  #end(ending: QueryEnding, message: string | null, sayClose: boolean, meaning?: ReasonMeaning): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#idle?.stop();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    if (sayClose) {
      this.#options.send(JSON.stringify(['CLOSE', this.subscription]));
    }
    this.#options.onDone({
      ending,
      message,
      sentAtMs: this.#sentAtMs,
      completedAtMs: this.#options.clock.nowMs(),
      received: this.#received,
      malformed: this.#malformed,
      unreadable: 0,
      lateEvents: 0,
      bytes: this.#bytes,
      ...(meaning === 'limit-too-large' ? { refusedLimit: true } : {}),
      ...(meaning === 'too-many-requests' ? { tooManyRequests: true } : {}),
    });
  }
}

/** Authentication and rate limiting are endings of their own, whichever frame brought them. */
export function endingOf(meaning: ReasonMeaning, otherwise: 'closed' | 'notice'): QueryEnding {
  return meaning === 'auth-required' || meaning === 'rate-limited' ? meaning : otherwise;
}
