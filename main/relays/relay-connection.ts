import type { RelayHealth as RelayHealthSnapshot, SignedEvent } from '../../preload/contract.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { InformationKeeper } from './information-keeper.ts';
import { linkSignals } from './linked-signal.ts';
import { OpenNegentropy } from './open-negentropy.ts';
import type { NegentropyHandlers } from './open-negentropy.ts';
import type { OpenRequest } from './open-request.ts';
import { OpenSubscription } from './open-subscription.ts';
import { OpenWork } from './open-work.ts';
import type { Pacing } from './pacing.ts';
import { Publishing } from './publishing.ts';
import { isFinished } from './query-ending.ts';
import { LIVE_LIMITS, queryLimits, requestLimits } from './query-limits.ts';
import type { RequestLimits } from './query-limits.ts';
import { parseRelayFrame } from './relay-frame.ts';
import { RelayHealth } from './relay-health.ts';
import { NO_HINTS } from './relay-hints.ts';
import type { RelayHints } from './relay-hints.ts';
import type { RelayInformation } from './relay-information.ts';
import type { RelayUrl } from './relay-key.ts';
import { RelayLink } from './relay-link.ts';
import { RelayLog } from './relay-log.ts';
import type {
  ConnectionFailure,
  LiveHandlers,
  LiveSubscription,
  NegentropyOutcome,
  NegentropyResult,
  PublishOptions,
  PublishResult,
  QueryOptions,
  QueryOutcome,
  QueryResult,
  RelayFilter,
  WaitingOptions,
} from './relay-query.ts';
import type { SocketEnd } from './relay-socket.ts';
import { RelaySpeed } from './relay-speed.ts';
import { RequestBudget } from './request-budget.ts';
import { sendInTurn } from './sending-turn.ts';
import type { TurnResult } from './sending-turn.ts';

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
  readonly #speed: RelaySpeed;
  readonly #information: InformationKeeper;
  readonly #closing = new AbortController();
  readonly #work = new OpenWork();
  readonly #publishing: Publishing;
  readonly #log: RelayLog;
  readonly #idPrefix: string;
  #asked = 0;
  #hints: RelayHints = NO_HINTS;
  #authChallenge: string | null = null;

  /** `bootstrap`: the connection is never closed for being idle. */
  constructor(relay: RelayUrl, settings: ConnectionSettings, bootstrap = false) {
    this.key = relay.key;
    this.url = relay.url;
    this.#settings = settings;
    const { clock, random, backoff } = settings;
    this.#log = new RelayLog((line) => settings.log(`${this.key} ${line}`));
    this.#idPrefix = Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, '0');
    this.#health = new RelayHealth({ clock, random, backoff });
    this.#budget = new RequestBudget(clock, random, settings.requestBudget, backoff);
    this.#speed = new RelaySpeed(clock, settings.readIntervalMs, settings.publishIntervalMs, () => {
      this.#health.rateLimited();
      this.#log.slowedDown();
    });
    this.#link = new RelayLink({
      url: relay.key,
      clock,
      health: this.#health,
      openSocket: settings.openSocket,
      socketOptions: { maxFrameBytes: settings.maxFrameBytes, userAgent: settings.userAgent },
      times: settings.times,
      keepOpen: bootstrap,
      onText: (text, bytes) => this.#onText(text, bytes),
      onBinary: () => this.#work.onUnreadable(),
      onEnded: (end) => this.#onEnded(end),
      onChange: () => this.#onLinkChange(),
    });
    this.#publishing = new Publishing({
      clock,
      health: this.#health,
      work: this.#work,
      speed: this.#speed,
      send: (text) => this.#link.send(text),
      onChange: () => this.#rest(),
    });
    this.#information = new InformationKeeper({
      url: relay.key,
      clock,
      userAgent: settings.userAgent,
      fetchInformation: settings.fetchInformation,
      signal: this.#closing.signal,
      onInformation: (information) => {
        this.#budget.advertise(information.maxSubscriptions);
        this.learn({ maxLimit: information.maxLimit });
        settings.onChange(this.key);
      },
    });
  }

  /**
   * Asks one REQ with one filter and resolves when it has ended, in exactly one way. Waits for the relay's pace, its
   * cool-down, a place among the open requests, and a connection.
   */
  query(filter: RelayFilter, options: QueryOptions): Promise<QueryResult> {
    const { onEvent, signal } = options;
    return this.#inTurn(options, this.#speed.reading, this.#budget, (release) =>
      this.#open<QueryOutcome>(release, (onDone) => {
        return new OpenSubscription({
          ...this.#common(signal),
          filters: [filter],
          live: false,
          limits: queryLimits(filter, options),
          onEvent,
          onDone: (outcome) => onDone({ ...outcome, lateEvents: outcome.lateEvents + this.#work.takeLateEvents() }),
        });
      }),
    );
  }

  /**
   * Subscribes to what is new (use `limit: 0` for nothing stored). It takes a place among the open requests without
   * waiting for one. Its end resolves `ended`, whatever the reason, a lost connection included.
   */
  subscribe(filters: RelayFilter[], handlers: LiveHandlers, options: WaitingOptions = {}): LiveSubscription {
    const stop = new AbortController();
    const link = linkSignals(options.signal, stop.signal);
    const ended = this.#inTurn({ ...options, signal: link.signal }, this.#speed.reading, null, () =>
      this.#open<QueryOutcome>(this.#budget.stand(), (onDone) => {
        return new OpenSubscription({
          ...this.#common(link.signal),
          filters,
          live: true,
          limits: LIVE_LIMITS,
          onEvent: handlers.onEvent,
          onEose: handlers.onEose,
          onDone,
        });
      }),
    );
    return { close: () => stop.abort(), ended: ended.finally(link.unlink) };
  }

  /** Runs one NEG session (NIP-77). Messages are hex on both sides; the reconciliation itself is the caller's. */
  openNegentropy(
    filter: RelayFilter,
    initialMessageHex: string,
    handlers: NegentropyHandlers,
    options: WaitingOptions & Partial<RequestLimits> = {},
  ): Promise<NegentropyResult> {
    return this.#inTurn(options, this.#speed.reading, this.#budget, (release) =>
      this.#open<NegentropyOutcome>(release, (onDone) => {
        return new OpenNegentropy({
          ...this.#common(options.signal),
          filter,
          initialMessageHex,
          limits: requestLimits(options),
          handlers,
          onDone,
        });
      }),
    );
  }

  /** Sends one EVENT as it is and waits for its OK. */
  publish(event: SignedEvent, options: PublishOptions = {}): Promise<PublishResult> {
    return this.#inTurn(options, this.#speed.publishing, null, () => this.#publishing.send(event, options));
  }

  /**
   * Waits until an event might be sent: for the pace and the cool-down of publishing, and for a connection. So nothing has to be
   * called sent that would wait for a minute yet.
   *
   * @returns why nothing can be sent, or null.
   */
  async readyToPublish(options: WaitingOptions = {}): Promise<ConnectionFailure | null> {
    const turn = await this.#inTurn(options, this.#speed.publishing, null, () => Promise.resolve(null));
    return turn.sent ? null : turn.failure;
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
      this.#settings.onHints(this.key, this.#hints);
      this.#settings.onChange(this.key);
    }
  }

  /** Sets what was learned in an earlier session; tells nobody. */
  preloadHints(hints: Partial<RelayHints>): void {
    this.#hints = { ...this.#hints, ...hints };
  }

  /** The NIP-11 document as far as it was read; null before, and when there is none. */
  get information(): RelayInformation | null {
    return this.#information.current;
  }

  /** Reads the NIP-11 document unless that was done lately; null when there is none. Never rejects. */
  readInformation(): Promise<RelayInformation | null> {
    return this.#information.read();
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
    this.#settings.onChange(this.key);
  }

  /** How the relay does, without the accounts that use it. Times in Unix seconds. */
  healthSnapshot(): Omit<RelayHealthSnapshot, 'accounts'> {
    const { clock } = this.#settings;
    const backoffMs = this.#link.isOpen ? 0 : this.#health.attemptDelayMs();
    const waitMs = Math.max(this.#speed.coolDownMs(), this.#budget.holdMs(), backoffMs);
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
      openRequests: this.#work.requests,
      requestBudget: this.#budget.limit,
      software: this.information?.software ?? null,
      supportedNips: this.information?.supportedNips ?? [],
    };
  }

  /** Ends everything that is open as `cancelled` and closes the socket for good. */
  close(): void {
    this.#closing.abort(new Error('Holdfast is closing the connection'));
    this.#work.cancelAll('Holdfast is closing the connection');
    this.#link.close();
    this.#budget.close();
  }

  async #inTurn<Outcome>(
    options: WaitingOptions & Pick<PublishOptions, 'mayBeSent'>,
    pacing: Pacing,
    budget: RequestBudget | null,
    send: (release: () => void) => Promise<Outcome>,
  ): Promise<TurnResult<Outcome>> {
    const link = linkSignals(options.signal, this.#closing.signal);
    const turn = {
      clock: this.#settings.clock,
      link: this.#link,
      health: this.#health,
      pacing,
      budget,
      signal: link.signal,
      waiting: options,
      mayBeSent: options.mayBeSent,
    };
    try {
      return await sendInTurn(turn, send);
    } finally {
      link.unlink();
    }
  }

  /** What every request needs: an ID that was never used on this connection, time, and the socket. */
  #common(signal: AbortSignal | undefined) {
    this.#asked += 1;
    return {
      subscription: `${this.#idPrefix}-${this.#asked}`,
      clock: this.#settings.clock,
      moments: this.#settings.moments,
      send: (text: string) => this.#link.send(text),
      fence: (onPassed: () => void) => this.#link.fence(onPassed),
      signal,
    };
  }

  /** Opens a request, keeps it while it is open, and draws the consequences when it ends. */
  #open<Outcome extends QueryOutcome | NegentropyOutcome>(
    release: () => void,
    create: (onDone: (outcome: Outcome) => void) => OpenRequest,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      const request = create((outcome) => {
        this.#work.removeRequest(request, isFinished(outcome.ending));
        if (outcome.ending === 'rate-limited') {
          this.#speed.slowDown(this.#speed.reading);
        }
        if ('tooManyRequests' in outcome) {
          this.#budget.refused(this.#work.requests + 1);
        }
        if (isFinished(outcome.ending)) {
          this.#health.answered();
          this.#budget.served();
        }
        release();
        this.#rest();
        resolve(outcome);
      });
      this.#work.addRequest(request);
      this.#rest();
    });
  }

  #rest(): void {
    this.#link.setBusy(!this.#work.isEmpty);
    this.#settings.onChange(this.key);
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
        this.#work.onFrame(frame, bytes);
        return;
      case 'ok':
        this.#work.onOk(frame.eventId, frame.accepted, frame.message);
        return;
      case 'auth':
        this.#authChallenge = frame.challenge;
        return;
      case 'notice':
        this.#onNotice(frame.message);
        return;
      case 'unintelligible':
        this.#log.unintelligible(frame.problem);
        if (frame.lost) {
          this.#work.onUnreadable();
        }
        return;
    }
  }

  #onNotice(text: string): void {
    const owed = this.#work.unanswered;
    const meaning = this.#work.onNotice(text);
    if (meaning === 'rate-limited') {
      const { requests, publications } = this.#work;
      this.#speed.slowDownAll({ reading: requests > 0, publishing: publications > 0 }, owed);
    } else if (meaning !== 'chatter') {
      this.#log.complained(text);
    }
    this.#settings.onChange(this.key);
  }

  #onEnded(end: SocketEnd): void {
    this.#authChallenge = null;
    this.#log.ended(end, !this.#work.isEmpty);
    this.#work.onSocketEnd(end);
  }

  #onLinkChange(): void {
    if (this.#link.isOpen) {
      void this.#information.read();
    }
    this.#settings.onChange(this.key);
  }
}
