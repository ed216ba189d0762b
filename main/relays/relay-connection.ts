import type { RelayHealth as RelayHealthSnapshot, SignedEvent } from '../../preload/contract.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { BackoffTimes } from './backoff.ts';
import { attributeNotice, largestFrame } from './notice-attribution.ts';
import { OpenNegentropy } from './open-negentropy.ts';
import type { NegentropyHandlers } from './open-negentropy.ts';
import { OpenPublication } from './open-publication.ts';
import { describeSocketEnd } from './open-request.ts';
import type { OpenRequest } from './open-request.ts';
import { OpenSubscription } from './open-subscription.ts';
import { Pacing } from './pacing.ts';
import { isFinished } from './query-ending.ts';
import { parseRelayFrame } from './relay-frame.ts';
import type { CompletenessHint } from './relay-frame.ts';
import { RelayHealth } from './relay-health.ts';
import { NO_HINTS } from './relay-hints.ts';
import type { RelayHints } from './relay-hints.ts';
import type { InformationOptions, RelayInformation } from './relay-information.ts';
import type { RelayUrl } from './relay-key.ts';
import { RelayLink } from './relay-link.ts';
import type { LinkTimes } from './relay-link.ts';
import type {
  NegentropyOutcome,
  NegentropyResult,
  PublishOutcome,
  PublishResult,
  QueryOptions,
  QueryOutcome,
  QueryResult,
  RelayFilter,
} from './relay-query.ts';
import { parseReason } from './relay-reason.ts';
import type { OpenSocket, SocketEnd } from './relay-socket.ts';
import { RequestBudget } from './request-budget.ts';
import { sendInTurn } from './sending-turn.ts';
import type { TurnOptions } from './sending-turn.ts';

const IDLE_TIMEOUT_MS = 30_000;
const OK_TIMEOUT_MS = 20_000;
const MAX_BYTES = 64 * 1024 * 1024;
const LEAST_MAX_EVENTS = 1_000;
/** What relays send at the most, by their defaults, when no limit is asked for. */
const UNLIMITED_PAGE = 5_000;
const CONNECT_ATTEMPTS = 3;
const PATIENCE_MS = 60_000;
/** An information document is read again after a day; a missing one after an hour. */
const INFORMATION_LASTS_MS = 24 * 3_600_000;
const NO_INFORMATION_LASTS_MS = 3_600_000;

/** What all connections of a directory share. */
export interface ConnectionSettings {
  clock: Clock;
  random: Random;
  openSocket: OpenSocket;
  fetchInformation: (url: string, options: InformationOptions) => Promise<RelayInformation | null>;
  log: (line: string) => void;
  userAgent: string;
  backoff: BackoffTimes;
  times: LinkTimes;
  maxFrameBytes: number;
  requestBudget: number;
  readIntervalMs: number;
  publishIntervalMs: number;
  /** Something that a person may see has changed: health, open requests, information. */
  onChange: (connection: RelayConnection) => void;
  onHints: (connection: RelayConnection) => void;
}

/** Waiting is the same for everything that is sent. */
export type WaitingOptions = Pick<QueryOptions, 'signal' | 'connectAttempts' | 'patienceMs' | 'onWaiting'>;

export interface LiveHandlers {
  onEvent: (event: SignedEvent) => void;
  /** The stored events are over; what follows is new. */
  onEose?: (hint: CompletenessHint) => void;
}

/** A live subscription. It does not come back by itself: whoever asked decides what to ask after a reconnect. */
export interface LiveSubscription {
  close(): void;
  /** How it ended: by the relay, by the socket, or `cancelled` by `close`. */
  ended: Promise<QueryResult>;
}

/**
 * One relay. The object lives as long as the program; its socket comes and goes with what is asked. No method rejects
 * for anything that a relay or a network does: that is in the result.
 */
export class RelayConnection {
  /** The relay key: its identity. */
  readonly key: string;
  /** The URL as it was first written. */
  readonly url: string;
  readonly #settings: ConnectionSettings;
  readonly #health: RelayHealth;
  readonly #link: RelayLink;
  readonly #budget: RequestBudget;
  readonly #reading: Pacing;
  readonly #publishing: Pacing;
  readonly #closing = new AbortController();
  readonly #requests = new Map<string, OpenRequest>();
  readonly #publications: OpenPublication[] = [];
  readonly #idPrefix: string;
  #asked = 0;
  #hints: RelayHints = NO_HINTS;
  #information: RelayInformation | null = null;
  #informationDueMs = Number.NEGATIVE_INFINITY;
  #readingInformation: Promise<RelayInformation | null> | null = null;
  #authChallenge: string | null = null;

  /** `bootstrap`: the connection is never closed for being idle. */
  constructor(relay: RelayUrl, settings: ConnectionSettings, bootstrap = false) {
    this.key = relay.key;
    this.url = relay.url;
    this.#settings = settings;
    const { clock, random, backoff } = settings;
    this.#idPrefix = Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, '0');
    this.#health = new RelayHealth({ clock, random, backoff });
    this.#budget = new RequestBudget(clock, random, settings.requestBudget, backoff);
    this.#reading = new Pacing(clock, settings.readIntervalMs);
    this.#publishing = new Pacing(clock, settings.publishIntervalMs);
    this.#link = new RelayLink({
      url: relay.key,
      clock,
      health: this.#health,
      openSocket: settings.openSocket,
      socketOptions: { maxFrameBytes: settings.maxFrameBytes, userAgent: settings.userAgent },
      times: settings.times,
      keepOpen: bootstrap,
      onText: (text, bytes) => this.#onText(text, bytes),
      onEnded: (end) => this.#onEnded(end),
      onChange: () => this.#onLinkChange(),
    });
  }

  /**
   * Asks one REQ with one filter and resolves when it has ended, in exactly one way. Waits for the relay's pace, its
   * cool-down, a place among the open requests, and a connection.
   */
  query(filter: RelayFilter, options: QueryOptions): Promise<QueryResult> {
    const maxEvents = options.maxEvents ?? Math.max(LEAST_MAX_EVENTS, 5 * (filter.limit ?? UNLIMITED_PAGE));
    return sendInTurn(this.#turn(options, this.#reading, this.#budget), (release) => {
      return new Promise<QueryOutcome>((resolve) => {
        const request = new OpenSubscription({
          subscription: this.#freshSubscription(),
          filters: [filter],
          live: false,
          idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
          maxEvents,
          maxBytes: options.maxBytes ?? MAX_BYTES,
          onEvent: options.onEvent,
          signal: options.signal,
          clock: this.#settings.clock,
          send: (text) => this.#link.send(text),
          onDone: (outcome) => {
            this.#requestEnded(request, outcome, release);
            resolve(outcome);
          },
        });
        this.#requestStarted(request);
      });
    });
  }

  /**
   * Subscribes to what is new (use `limit: 0` for nothing stored). `ended` resolves when the subscription is over, for
   * whatever reason, a lost connection included.
   */
  subscribe(filters: RelayFilter[], handlers: LiveHandlers, options: WaitingOptions = {}): LiveSubscription {
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    const ended = sendInTurn(this.#turn({ ...options, signal }, this.#reading, null), () => {
      const release = this.#budget.stand();
      return new Promise<QueryOutcome>((resolve) => {
        const request = new OpenSubscription({
          subscription: this.#freshSubscription(),
          filters,
          live: true,
          idleTimeoutMs: 0,
          maxEvents: LEAST_MAX_EVENTS * 100,
          maxBytes: MAX_BYTES,
          onEvent: handlers.onEvent,
          ...(handlers.onEose === undefined ? {} : { onEose: handlers.onEose }),
          signal,
          clock: this.#settings.clock,
          send: (text) => this.#link.send(text),
          onDone: (outcome) => {
            this.#requestEnded(request, outcome, release);
            resolve(outcome);
          },
        });
        this.#requestStarted(request);
      });
    });
    return { close: () => stop.abort(), ended };
  }

  /** Runs one NEG session (NIP-77). Messages are hex on both sides; the reconciliation itself is the caller's. */
  openNegentropy(
    filter: RelayFilter,
    initialMessageHex: string,
    handlers: NegentropyHandlers,
    options: WaitingOptions & Pick<QueryOptions, 'idleTimeoutMs' | 'maxBytes'> = {},
  ): Promise<NegentropyResult> {
    return sendInTurn(this.#turn(options, this.#reading, this.#budget), (release) => {
      return new Promise<NegentropyOutcome>((resolve) => {
        const request = new OpenNegentropy({
          subscription: this.#freshSubscription(),
          filter,
          initialMessageHex,
          idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
          maxBytes: options.maxBytes ?? MAX_BYTES,
          handlers,
          signal: options.signal,
          clock: this.#settings.clock,
          send: (text) => this.#link.send(text),
          onDone: (outcome) => {
            this.#requestEnded(request, outcome, release);
            resolve(outcome);
          },
        });
        this.#requestStarted(request);
      });
    });
  }

  /** Sends one EVENT as it is and waits for its OK. `okTimeoutMs`: default 20 000. */
  publish(event: SignedEvent, options: WaitingOptions & { okTimeoutMs?: number } = {}): Promise<PublishResult> {
    return sendInTurn(this.#turn(options, this.#publishing, null), () => {
      return new Promise<PublishOutcome>((resolve) => {
        const publication = new OpenPublication({
          event,
          okTimeoutMs: options.okTimeoutMs ?? OK_TIMEOUT_MS,
          signal: options.signal,
          clock: this.#settings.clock,
          send: (text) => this.#link.send(text),
          onDone: (outcome) => {
            this.#publications.splice(this.#publications.indexOf(publication), 1);
            if (OpenPublication.asksForLessSpeed(outcome)) {
              this.#slowDown(this.#publishing);
            } else if (outcome.state !== 'unknown') {
              this.#health.answered();
            }
            this.#rest();
            resolve(outcome);
          },
        });
        this.#publications.push(publication);
        this.#rest();
      });
    });
  }

  /** What was learned about this relay's limits. */
  get hints(): Readonly<RelayHints> {
    return this.#hints;
  }

  /** Notes something learned; observers of the directory are told when it changes anything. */
  learn(hints: Partial<RelayHints>): void {
    const before = this.#hints;
    this.preloadHints(hints);
    if (Object.entries(this.#hints).some(([name, value]) => before[name as keyof RelayHints] !== value)) {
      this.#settings.onHints(this);
      this.#settings.onChange(this);
    }
  }

  /** Sets what was learned in an earlier session; tells nobody. */
  preloadHints(hints: Partial<RelayHints>): void {
    this.#hints = { ...this.#hints, ...hints };
  }

  /** The NIP-11 document as far as it was read; null before, and when there is none. */
  get information(): RelayInformation | null {
    return this.#information;
  }

  /** Reads the NIP-11 document unless that was done lately; null when there is none. Never rejects. */
  async readInformation(): Promise<RelayInformation | null> {
    if (this.#settings.clock.monotonicMs() < this.#informationDueMs) {
      return this.#information;
    }
    this.#readingInformation ??= this.#fetchInformation();
    return this.#readingInformation;
  }

  /** The latest AUTH challenge of the open connection (NIP-42); never answered by itself. */
  get authChallenge(): string | null {
    return this.#authChallenge;
  }

  get isConnected(): boolean {
    return this.#link.isOpen;
  }

  /** A person asked for this relay: a backoff that is running is cut short once. Cool-downs stay. */
  retryNow(): void {
    this.#health.allowAttempt();
  }

  /** The number of open requests that the user allows at the most. */
  setRequestBudget(most: number): void {
    this.#budget.configure(most);
    this.#settings.onChange(this);
  }

  /** How the relay does, without the accounts that use it. Times in Unix seconds. */
  healthSnapshot(): Omit<RelayHealthSnapshot, 'accounts'> {
    const { clock } = this.#settings;
    const backoffMs = this.#link.isOpen ? 0 : this.#health.attemptDelayMs();
    const waitMs = Math.max(
      this.#reading.coolDownMs(),
      this.#publishing.coolDownMs(),
      this.#budget.holdMs(),
      backoffMs,
    );
    const connectedAtMs = this.#health.lastConnectedAtMs;
    return {
      url: this.key,
      state: this.#health.state,
      connected: this.#link.isOpen,
      consecutiveFailures: this.#health.consecutiveFailures,
      lastConnectedAt: connectedAtMs === null ? null : Math.floor(connectedAtMs / 1000),
      lastFailure: this.#health.lastFailure,
      waitingUntil: waitMs > 0 ? Math.ceil((clock.nowMs() + waitMs) / 1000) : null,
      observedCap: this.#hints.observedCap,
      openRequests: this.#budget.open,
      requestBudget: this.#budget.limit,
      software: this.#information?.software ?? null,
      supportedNips: this.#information?.supportedNips ?? [],
    };
  }

  /** Ends everything that is open as `cancelled` and closes the socket for good. */
  close(): void {
    this.#closing.abort();
    for (const request of [...this.#requests.values()]) {
      request.cancel('Holdfast is closing the connection');
    }
    for (const publication of [...this.#publications]) {
      publication.cancel('Holdfast is closing the connection');
    }
    this.#link.close();
    this.#budget.close();
  }

  #turn(options: WaitingOptions, pacing: Pacing, budget: RequestBudget | null): TurnOptions {
    const closing = this.#closing.signal;
    return {
      clock: this.#settings.clock,
      link: this.#link,
      health: this.#health,
      pacing,
      budget,
      signal: options.signal === undefined ? closing : AbortSignal.any([options.signal, closing]),
      connectAttempts: options.connectAttempts ?? CONNECT_ATTEMPTS,
      patienceMs: options.patienceMs ?? PATIENCE_MS,
      onWaiting: options.onWaiting,
    };
  }

  #freshSubscription(): string {
    this.#asked += 1;
    return `${this.#idPrefix}-${this.#asked}`;
  }

  #requestStarted(request: OpenRequest): void {
    this.#requests.set(request.subscription, request);
    this.#rest();
  }

  #requestEnded(request: OpenRequest, outcome: QueryOutcome | NegentropyOutcome, release: () => void): void {
    this.#requests.delete(request.subscription);
    if (outcome.ending === 'rate-limited') {
      this.#slowDown(this.#reading);
    }
    if ('tooManyRequests' in outcome) {
      this.#budget.refused();
    }
    if (isFinished(outcome.ending)) {
      this.#health.answered();
      this.#budget.served();
    }
    release();
    this.#rest();
  }

  #rest(): void {
    this.#link.setBusy(this.#requests.size > 0 || this.#publications.length > 0);
    this.#settings.onChange(this);
  }

  #slowDown(...pacings: Pacing[]): void {
    for (const pacing of pacings) {
      pacing.rateLimited();
    }
    this.#health.rateLimited();
    this.#log('asks for less speed; cooling down');
  }

  #onText(text: string, bytes: number): void {
    const frame = parseRelayFrame(text);
    switch (frame.type) {
      case 'event':
      case 'malformed-event':
      case 'eose':
      case 'closed':
      case 'neg-msg':
      case 'neg-err':
        // Frames for a subscription that has ended, or that was never ours, find nothing here.
        this.#requests.get(frame.subscription)?.onFrame(frame, bytes);
        return;
      case 'ok':
        this.#publications
          .find((publication) => publication.eventId === frame.eventId)
          ?.onOk(frame.accepted, frame.message);
        return;
      case 'auth':
        this.#authChallenge = frame.challenge;
        return;
      case 'notice':
        this.#onNotice(frame.message);
        return;
      case 'unintelligible':
        this.#log(`sent something unintelligible: ${frame.problem}`);
        return;
    }
  }

  #onNotice(text: string): void {
    this.#log(`says: ${JSON.stringify(text.slice(0, 300))}`);
    const { reason, meaning, request, publication } = attributeNotice(
      text,
      [...this.#requests.values()],
      this.#publications,
    );
    if (request !== null) {
      request.onNotice(reason, meaning);
    } else if (publication !== null) {
      publication.reject(reason);
    } else if (meaning === 'rate-limited') {
      const reading = this.#requests.size > 0 || this.#publications.length === 0;
      const publishing = this.#publications.length > 0 || this.#requests.size === 0;
      this.#slowDown(...(reading ? [this.#reading] : []), ...(publishing ? [this.#publishing] : []));
      this.#settings.onChange(this);
    } else if (meaning === 'too-many-requests' && this.#requests.size > 0) {
      this.#budget.refused();
      this.#settings.onChange(this);
    }
  }

  #onEnded(end: SocketEnd): void {
    this.#authChallenge = null;
    this.#log(describeSocketEnd(end));
    const requests = [...this.#requests.values()];
    if (end.cause === 'by-relay' && end.code === 1009) {
      // "Message too big" (RFC 6455): it can only have been the largest of our frames.
      const unanswered = requests.filter((request) => request.frames === 0);
      const words = end.reason === '' ? 'the frame was too large (1009)' : end.reason;
      largestFrame(unanswered, this.#publications).publication?.reject(parseReason(words));
    }
    for (const request of requests) {
      request.onSocketEnd(end);
    }
    for (const publication of [...this.#publications]) {
      publication.onSocketEnd(end);
    }
  }

  #onLinkChange(): void {
    if (this.#link.isOpen) {
      void this.readInformation();
    }
    this.#settings.onChange(this);
  }

  async #fetchInformation(): Promise<RelayInformation | null> {
    const { clock, userAgent } = this.#settings;
    const read = this.#settings.fetchInformation(this.key, { clock, userAgent, signal: this.#closing.signal });
    const information = await read.catch(() => null);
    this.#readingInformation = null;
    this.#informationDueMs =
      clock.monotonicMs() + (information === null ? NO_INFORMATION_LASTS_MS : INFORMATION_LASTS_MS);
    if (information !== null) {
      this.#information = information;
      this.#budget.advertise(information.maxSubscriptions);
      this.learn({ maxLimit: information.maxLimit });
      this.#settings.onChange(this);
    }
    return information;
  }

  #log(line: string): void {
    this.#settings.log(`${this.key} ${line}`);
  }
}
