import type { QueryEnding, SignedEvent } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import type { MomentOrder } from '../platform/moment-order.ts';
import { IdleTimer } from './idle-timer.ts';
import { abortWords } from './linked-signal.ts';
import { describeSocketEnd, endedOverFrame } from './open-request.ts';
import type { OpenRequest, SubscriptionFrame } from './open-request.ts';
import type { SubscriptionLimits } from './query-limits.ts';
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
  limits: SubscriptionLimits;
  onEvent: (event: SignedEvent) => void;
  onEose?: ((hint: CompletenessHint) => void) | undefined;
  signal?: AbortSignal | undefined;
  clock: Clock;
  moments: MomentOrder;
  send: (text: string) => void;
  /** Calls back once everything that the relay has sent so far has come; perhaps never. */
  fence: (onPassed: () => void) => void;
  /** Called once, synchronously, when it has ended. */
  onDone: (outcome: QueryOutcome) => void;
}

const EOSE_ENDINGS = { finish: 'eose-finish', more: 'eose-more' } as const;
/** How long a relay that does not answer pings is listened to after its EOSE. */
const FENCE_TIMEOUT_MS = 2_000;

/**
 * One REQ from its first frame to exactly one ending (NIP-01, NIP-67). After an EOSE that leaves something out of the
 * answer the relay is listened to until it answers a ping: some send events after it, and then it was no end.
 */
export class OpenSubscription implements OpenRequest {
  readonly subscription: string;
  readonly kind: 'query' | 'live';
  readonly requestBytes: number;
  readonly #options: SubscriptionOptions;
  readonly #idle: IdleTimer | null;
  readonly #cancelTotal: (() => void) | null;
  /** IDs of the events so far: only new ones are progress. */
  readonly #seen = new Set<string>();
  readonly #sentAtMs: number;
  #received = 0;
  #malformed = 0;
  #unreadable = 0;
  #lateEvents = 0;
  #bytes = 0;
  #frames = 0;
  #stored = true;
  /** What the EOSE said, while the relay is still listened to. */
  #finishing: QueryEnding | null = null;
  #cancelFence: (() => void) | null = null;
  #over = false;

  /** Sends the REQ. The signal must not have aborted. */
  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.subscription = options.subscription;
    this.kind = options.live ? 'live' : 'query';
    const request = JSON.stringify(['REQ', options.subscription, ...options.filters]);
    this.requestBytes = Buffer.byteLength(request);
    this.#sentAtMs = options.clock.nowMs();
    options.moments.begin();
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#idle = options.live
      ? null
      : new IdleTimer(options.clock, options.limits.idleTimeoutMs, () => {
          this.#end('timeout', `Nothing new for this query in ${options.limits.idleTimeoutMs / 1000} seconds`, true);
        });
    this.#cancelTotal = options.live
      ? null
      : options.clock.after(options.limits.totalTimeoutMs, () => {
          this.#end('timeout', tookTooLong(options.limits.totalTimeoutMs), true);
        });
    options.send(request);
  }

  get frames(): number {
    return this.#frames;
  }

  onFrame(frame: SubscriptionFrame, bytes: number): void {
    this.#frames += 1;
    this.#bytes += bytes;
    switch (frame.type) {
      case 'event':
        this.#noteProgress(frame.event.id);
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

  onUnreadable(): void {
    this.#unreadable += 1;
  }

  onNotice(reason: RelayReason, meaning: ReasonMeaning): void {
    this.#end(endingOf(meaning, 'notice'), reason.text, true, meaning);
  }

  onSocketEnd(end: SocketEnd): void {
    const words = describeSocketEnd(end);
    if (endedOverFrame(end)) {
      this.#end('failed', words, false);
    } else if (this.#finishing !== null) {
      this.#end(this.#finishing, null, false);
    } else if (end.cause === 'by-relay' && meaningOf(parseReason(end.reason)) === 'rate-limited') {
      this.#end('rate-limited', words, false);
    } else {
      this.#end('disconnect', words, false);
    }
  }

  cancel(why: string): void {
    this.#end('cancelled', why, true);
  }

  #noteProgress(id: string): void {
    if (this.#idle !== null && !this.#seen.has(id)) {
      this.#seen.add(id);
      this.#idle.touch();
    }
  }

  #countDelivery(): boolean {
    this.#received += 1;
    this.#lateEvents += this.#finishing === null ? 0 : 1;
    if (this.#options.live && !this.#stored) {
      return true;
    }
    if (this.#received > this.#options.limits.maxEvents) {
      this.#end('failed', `The relay sent more than ${this.#options.limits.maxEvents} events for one request`, true);
      return false;
    }
    if (this.#bytes > this.#options.limits.maxBytes) {
      this.#end('failed', `The relay sent more than ${this.#options.limits.maxBytes} bytes for one request`, true);
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
      this.#finish(hint === null ? 'eose' : EOSE_ENDINGS[hint]);
      return;
    }
    this.#stored = false;
    try {
      this.#options.onEose?.(hint);
    } catch (error) {
      this.#end('failed', error instanceof Error ? error.message : String(error), true);
    }
  }

  #finish(ending: QueryEnding): void {
    if (this.#finishing !== null) {
      return;
    }
    const passed = (): void => this.#end(ending, null, true);
    if (ending === 'eose-more' || this.#received >= this.#options.limits.fullAt) {
      passed();
      return;
    }
    this.#finishing = ending;
    this.#cancelFence = this.#options.clock.after(FENCE_TIMEOUT_MS, passed);
    this.#options.fence(passed);
  }

  #onClosed(reason: RelayReason): void {
    const meaning = meaningOf(reason);
    if (this.#finishing !== null && meaning === 'chatter') {
      this.#end(this.#finishing, null, false);
      return;
    }
    this.#end(endingOf(meaning, 'closed'), reason.text, false, meaning);
  }

  readonly #onAbort = (): void => {
    this.#end('cancelled', abortWords(this.#options.signal) || 'Cancelled', true);
  };

  #end(ending: QueryEnding, message: string | null, sayClose: boolean, meaning?: ReasonMeaning): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#idle?.stop();
    this.#cancelTotal?.();
    this.#cancelFence?.();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    if (sayClose) {
      this.#options.send(JSON.stringify(['CLOSE', this.subscription]));
    }
    this.#options.onDone({
      ending,
      message,
      sentAtMs: this.#sentAtMs,
      completedAtMs: this.#options.clock.nowMs(),
      setBackMs: this.#options.moments.next(),
      received: this.#received,
      malformed: this.#malformed,
      unreadable: this.#unreadable,
      lateEvents: this.#lateEvents,
      bytes: this.#bytes,
      ...(meaning === 'limit-too-large' ? { refusedLimit: true } : {}),
      ...(meaning === 'too-many-requests' ? { tooManyRequests: true } : {}),
    });
  }
}

/** Why we gave a request up that went on and on. */
export function tookTooLong(totalTimeoutMs: number): string {
  return `The relay did not come to an end in ${totalTimeoutMs / 1000} seconds`;
}

/** Authentication and rate limiting are endings of their own, whichever frame brought them. */
export function endingOf(meaning: ReasonMeaning, otherwise: 'closed' | 'notice'): QueryEnding {
  return meaning === 'auth-required' || meaning === 'rate-limited' ? meaning : otherwise;
}
