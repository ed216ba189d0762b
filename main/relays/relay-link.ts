import type { Clock } from '../platform/clock.ts';
import { connectionFailure } from './connection-failure.ts';
import { describeSocketEnd } from './open-request.ts';
import type { RelayHealth } from './relay-health.ts';
import type { ConnectionFailure } from './relay-query.ts';
import type { OpenSocket, RelaySocket, SocketEnd, SocketOptions } from './relay-socket.ts';

export interface LinkTimes {
  /** The handshake must be over by then; the GRASP-02 text makes it the base of the backoff. */
  connectTimeoutMs: number;
  /** A connection that nothing needs is closed after this. */
  idleCloseMs: number;
  /** While something is open, this much silence makes us ping. */
  pingAfterMs: number;
  /** Without any sign of life for this long after a ping, the connection is lost. */
  pongTimeoutMs: number;
}

export const DEFAULT_LINK_TIMES: LinkTimes = {
  connectTimeoutMs: 5_000,
  idleCloseMs: 60_000,
  pingAfterMs: 10_000,
  pongTimeoutMs: 10_000,
};

/** A connection that ends sooner than this after opening was hardly one. */
const EARLY_MS = 5_000;
/** How long a relay may take to answer our close. */
const CLOSE_TIMEOUT_MS = 2_000;

export interface LinkOptions {
  url: string;
  clock: Clock;
  health: RelayHealth;
  openSocket: OpenSocket;
  socketOptions: SocketOptions;
  times: LinkTimes;
  /** A bootstrap relay's connection is never closed for being idle. */
  keepOpen: boolean;
  onText: (text: string, bytes: number) => void;
  onBinary: () => void;
  onEnded: (end: SocketEnd) => void;
  onChange: () => void;
}

interface Socket {
  socket: RelaySocket;
  open: boolean;
  openedAtMs: number;
  /** True once the relay has sent a text frame. */
  heard: boolean;
  /** Stops waiting for the answer to our close. */
  cancelFarewell: (() => void) | null;
}

/** The transient socket of one relay: opened on demand, watched while it is needed, closed when it is not. */
export class RelayLink {
  readonly #options: LinkOptions;
  #current: Socket | null = null;
  #connecting: Promise<ConnectionFailure | null> | null = null;
  #abandonAttempt: (() => void) | null = null;
  #busy = false;
  #closed = false;
  #heardAtMs = 0;
  #pingedAtMs: number | null = null;
  #cancelWatch: (() => void) | null = null;
  #cancelIdle: (() => void) | null = null;
  #pings = 0;
  /** By the number of the ping that was sent with each. */
  readonly #fences = new Map<number, () => void>();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#current?.open === true;
  }

  get isConnecting(): boolean {
    return this.#connecting !== null;
  }

  /** One attempt to open the socket, shared by all who ask meanwhile; null when it is open. Waits for no backoff. */
  connect(): Promise<ConnectionFailure | null> {
    if (this.#closed) {
      return Promise.resolve(connectionFailure('cancelled'));
    }
    if (this.isOpen) {
      return Promise.resolve(null);
    }
    this.#connecting ??= this.#open();
    return this.#connecting;
  }

  /** Sends when open; otherwise the frame is dropped, as it would be in a dying socket. */
  send(text: string): void {
    if (this.#current?.open === true) {
      this.#current.socket.send(text);
    }
  }

  /**
   * Sends a ping and calls back when it is answered: everything that the relay had sent by then has been seen. Never calls
   * back when the connection ends first, or when the relay does not answer pings.
   */
  fence(onPassed: () => void): void {
    if (this.#current?.open === true) {
      this.#fences.set(this.#ping(this.#current.socket), onPassed);
    }
  }

  /** While busy the link is watched for signs of life; otherwise it closes after a while. */
  setBusy(busy: boolean): void {
    if (this.#busy === busy) {
      return;
    }
    this.#busy = busy;
    this.#rest();
  }

  /** Closes for good. */
  close(): void {
    this.#closed = true;
    this.#hangUp();
  }

  #open(): Promise<ConnectionFailure | null> {
    const { clock, health, times, openSocket, url, socketOptions } = this.#options;
    this.#options.onChange();
    return new Promise((resolve) => {
      let settled = false;
      const settle = (failure: ConnectionFailure | null): void => {
        if (settled) {
          return;
        }
        settled = true;
        cancelTimeout();
        this.#connecting = null;
        this.#abandonAttempt = null;
        if (failure === null) {
          health.succeeded();
        } else {
          this.#current = null;
          if (failure.code !== 'cancelled') {
            health.failed(failure);
          }
        }
        this.#options.onChange();
        resolve(failure);
      };
      const cancelTimeout = clock.after(times.connectTimeoutMs, () => {
        const seconds = times.connectTimeoutMs / 1000;
        settle(connectionFailure('connect-timeout', `nothing for ${seconds} seconds`));
        mine.socket.terminate('');
      });
      this.#abandonAttempt = () => settle(connectionFailure('cancelled'));
      const isMine = (): boolean => this.#current === mine;
      const socket = openSocket(url, socketOptions, {
        onOpen: () => {
          if (!isMine() || settled) {
            return;
          }
          mine.open = true;
          mine.openedAtMs = clock.monotonicMs();
          settle(null);
          this.#rest();
        },
        onText: (text, bytes) => {
          if (isMine()) {
            mine.heard = true;
            this.#hear();
            this.#options.onText(text, bytes);
          }
        },
        onBinary: () => {
          if (isMine()) {
            this.#hear();
            this.#options.onBinary();
          }
        },
        onPong: (payload) => {
          if (isMine()) {
            this.#hear();
            this.#passFences(payload);
          }
        },
        onFailed: settle,
        onEnded: (end) => {
          mine.cancelFarewell?.();
          if (isMine()) {
            this.#ended(mine, end);
          }
        },
      });
      const mine: Socket = { socket, open: false, openedAtMs: 0, heard: false, cancelFarewell: null };
      this.#current = mine;
    });
  }

  #ping(socket: RelaySocket): number {
    this.#pings += 1;
    socket.ping(String(this.#pings));
    return this.#pings;
  }

  /** A relay may answer the latest of several pings only (RFC 6455 5.5.3). */
  #passFences(payload: string): void {
    const answered = Number(payload);
    for (const [ping, onPassed] of this.#fences) {
      if (ping <= answered) {
        this.#fences.delete(ping);
        onPassed();
      }
    }
  }

  #ended(socket: Socket, end: SocketEnd): void {
    const { health } = this.#options;
    this.#current = null;
    this.#fences.clear();
    this.#stopTimers();
    const words = describeSocketEnd(end);
    // A relay that hangs up at once is not asked again at once, even when nothing had been sent yet.
    const early = this.#options.clock.monotonicMs() - socket.openedAtMs < EARLY_MS;
    if (!this.#busy && !early) {
      health.disconnected();
    } else if (socket.heard) {
      health.dropped(words);
    } else {
      health.failedAfterOpening(words);
    }
    this.#options.onEnded(end);
    this.#options.onChange();
  }

  #hear(): void {
    this.#heardAtMs = this.#options.clock.monotonicMs();
    this.#pingedAtMs = null;
  }

  /** Sets the one timer that fits: a watch for signs of life when busy, a closing time when not. */
  #rest(): void {
    this.#stopTimers();
    if (!this.isOpen) {
      return;
    }
    const { clock, times, keepOpen } = this.#options;
    if (this.#busy) {
      this.#hear();
      this.#cancelWatch = clock.after(times.pingAfterMs, () => this.#watch());
    } else if (!keepOpen) {
      this.#cancelIdle = clock.after(times.idleCloseMs, () => this.#hangUp());
    }
  }

  #watch(): void {
    const { clock, times } = this.#options;
    const current = this.#current;
    if (current === null) {
      return;
    }
    const now = clock.monotonicMs();
    let nextMs: number;
    if (this.#pingedAtMs !== null) {
      nextMs = this.#pingedAtMs + times.pongTimeoutMs - now;
      if (nextMs <= 0) {
        current.socket.terminate('');
        this.#ended(current, { cause: 'lost', code: null, reason: 'The connection showed no sign of life' });
        return;
      }
    } else {
      nextMs = this.#heardAtMs + times.pingAfterMs - now;
      if (nextMs <= 0) {
        this.#pingedAtMs = now;
        nextMs = times.pongTimeoutMs;
        this.#ping(current.socket);
      }
    }
    this.#cancelWatch = clock.after(nextMs, () => this.#watch());
  }

  #hangUp(): void {
    const current = this.#current;
    this.#stopTimers();
    this.#current = null;
    this.#fences.clear();
    if (current === null) {
      return;
    }
    if (!current.open) {
      this.#abandonAttempt?.();
      current.socket.terminate('');
      return;
    }
    current.socket.close();
    current.cancelFarewell = this.#options.clock.after(CLOSE_TIMEOUT_MS, () => current.socket.terminate(''));
    this.#options.health.disconnected();
    this.#options.onEnded({ cause: 'by-us', code: null, reason: '' });
    this.#options.onChange();
  }

  #stopTimers(): void {
    this.#cancelWatch?.();
    this.#cancelIdle?.();
    this.#cancelWatch = null;
    this.#cancelIdle = null;
    this.#pingedAtMs = null;
  }
}
