import { systemClock } from '../platform/clock.ts';
import type { Clock } from '../platform/clock.ts';
import { MomentOrder } from '../platform/moment-order.ts';
import type { Random } from '../platform/random.ts';
import { DEFAULT_BACKOFF } from './backoff.ts';
import type { BackoffTimes } from './backoff.ts';
import { RelayConnection } from './relay-connection.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import type { RelayHints } from './relay-hints.ts';
import { fetchRelayInformation } from './relay-information.ts';
import { parseRelayUrl } from './relay-key.ts';
import { DEFAULT_LINK_TIMES } from './relay-link.ts';
import type { LinkTimes } from './relay-link.ts';
import type { OpenSocket } from './relay-socket.ts';
import { openWsSocket } from './ws-socket.ts';

/** Frames from relays above this end the connection. */
const MAX_FRAME_BYTES = 2 * 1024 * 1024;
const REQUEST_BUDGET = 4;
const PUBLISH_INTERVAL_MS = 20;

export interface DirectoryOptions {
  clock?: Clock;
  /** The order in which queries end, going on from earlier sessions; when left out it begins anew. */
  moments?: MomentOrder;
  random?: Random;
  openSocket?: OpenSocket;
  fetchInformation?: ConnectionSettings['fetchInformation'];
  /** Plain lines for the log of the host; relays' words in them are quoted. */
  log?: (line: string) => void;
  /** `User-Agent` of WebSocket and NIP-11 requests. */
  userAgent?: string;
  backoff?: BackoffTimes;
  times?: Partial<LinkTimes>;
  maxFrameBytes?: number;
  /** Open requests per connection at the most. */
  requestBudget?: number;
  /** Milliseconds between two requests, and between two published events, while a relay does not complain. */
  readIntervalMs?: number;
  publishIntervalMs?: number;
}

/** All relays the program talks to: one connection object per relay key, for ever. Knows nothing of the database. */
export class RelayDirectory {
  readonly #settings: ConnectionSettings;
  readonly #connections = new Map<string, RelayConnection>();
  readonly #changeListeners = new Set<(relayKey: string) => void>();
  readonly #hintListeners = new Set<(relayKey: string, hints: Readonly<RelayHints>) => void>();
  #closed = false;

  constructor(options: DirectoryOptions = {}) {
    const clock = options.clock ?? systemClock;
    this.#settings = {
      clock,
      moments: options.moments ?? new MomentOrder(clock),
      random: options.random ?? Math.random,
      openSocket: options.openSocket ?? openWsSocket,
      fetchInformation: options.fetchInformation ?? fetchRelayInformation,
      log: options.log ?? (() => undefined),
      userAgent: options.userAgent ?? 'Holdfast',
      backoff: options.backoff ?? DEFAULT_BACKOFF,
      times: { ...DEFAULT_LINK_TIMES, ...options.times },
      maxFrameBytes: options.maxFrameBytes ?? MAX_FRAME_BYTES,
      requestBudget: options.requestBudget ?? REQUEST_BUDGET,
      readIntervalMs: options.readIntervalMs ?? 0,
      publishIntervalMs: options.publishIntervalMs ?? PUBLISH_INTERVAL_MS,
      onChange: (key) => this.#tell(this.#changeListeners, key),
      onHints: (key, hints) => this.#tell(this.#hintListeners, key, hints),
    };
  }

  /**
   * The connection of the relay at `url`, the same object for every spelling of it. `bootstrap` matters at the first
   * call only: such a connection is never closed for being idle. Throws `Fault('invalid-argument')` for no relay URL.
   */
  connection(url: string, options: { bootstrap?: boolean } = {}): RelayConnection {
    const relay = parseRelayUrl(url);
    let connection = this.#connections.get(relay.key);
    if (connection === undefined) {
      connection = new RelayConnection(relay, this.#settings, options.bootstrap);
      this.#connections.set(relay.key, connection);
      if (this.#closed) {
        connection.close();
      }
    }
    return connection;
  }

  /** Every relay asked for so far. */
  all(): RelayConnection[] {
    return [...this.#connections.values()];
  }

  /** Sets what was learned about a relay in an earlier session; tells nobody. */
  preloadHints(url: string, hints: Partial<RelayHints>): void {
    this.connection(url).preloadHints(hints);
  }

  /** Calls back whenever something was learned about a relay's limits; the returned function ends that. */
  onDidChangeHints(listener: (relayKey: string, hints: Readonly<RelayHints>) => void): () => void {
    this.#hintListeners.add(listener);
    return () => this.#hintListeners.delete(listener);
  }

  /** Calls back, often, when health, open requests or information of a relay changed; the returned function ends that. */
  onDidChange(listener: (relayKey: string) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /** Open requests per connection at the most, for all relays. */
  setRequestBudget(most: number): void {
    this.#settings.requestBudget = most;
    for (const connection of this.#connections.values()) {
      connection.setRequestBudget(most);
    }
  }

  /** Ends everything that is open as `cancelled` and closes all sockets for good. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#connections.values()) {
      connection.close();
    }
  }

  /** Observers must not be able to disturb a connection, or each other. */
  #tell<Args extends unknown[]>(listeners: ReadonlySet<(...args: Args) => void>, ...args: Args): void {
    for (const listener of listeners) {
      try {
        listener(...args);
      } catch (error) {
        this.#settings.log(
          `an observer of the relays failed: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  }
}
