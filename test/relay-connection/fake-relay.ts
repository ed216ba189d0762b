import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import type { DirectoryOptions } from '../../main/relays/relay-directory.ts';
import type { RelayConnection } from '../../main/relays/relay-connection.ts';
import type { ConnectionFailure } from '../../main/relays/relay-query.ts';
import type { OpenSocket, RelaySocket, SocketEnd, SocketHandlers } from '../../main/relays/relay-socket.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';

/** A socket whose other side is the test. */
export class FakeSocket implements RelaySocket {
  readonly url: string;
  readonly sent: unknown[][] = [];
  readonly handlers: SocketHandlers;
  closed = false;
  terminated: string | null = null;
  pings = 0;
  answersPings = true;

  constructor(url: string, handlers: SocketHandlers) {
    this.url = url;
    this.handlers = handlers;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as unknown[]);
  }

  ping(payload: string): void {
    this.pings += 1;
    if (this.answersPings) {
      queueMicrotask(() => this.handlers.onPong(payload));
    }
  }

  close(): void {
    this.closed = true;
  }

  terminate(reason: string): void {
    this.terminated = reason;
  }

  /** Lets the relay say something. */
  says(...frame: unknown[]): void {
    const text = JSON.stringify(frame);
    this.handlers.onText(text, Buffer.byteLength(text));
  }

  /** The relay, or the network, ends the connection. */
  ends(end: Partial<SocketEnd> = {}): void {
    this.handlers.onEnded({ cause: 'by-relay', code: 1000, reason: '', ...end });
  }

  /** Frames with this verb that were sent, in order. */
  verbs(verb: string): unknown[][] {
    return this.sent.filter((frame) => frame[0] === verb);
  }

  /** The subscription of the latest REQ or NEG-OPEN. */
  get subscription(): string {
    const frame = this.sent.findLast(([verb]) => verb === 'REQ' || verb === 'NEG-OPEN');
    const id = frame?.[1];
    if (typeof id !== 'string') {
      throw new Error('nothing was asked yet');
    }
    return id;
  }
}

/** What the next attempts to connect come to; after the last one, connections open. */
export type Attempt = 'opens' | 'hangs' | 'opens-and-closes' | ConnectionFailure;

export class FakeNetwork {
  readonly clock = new FakeClock();
  readonly sockets: FakeSocket[] = [];
  readonly attempts: Attempt[] = [];
  readonly log: string[] = [];
  readonly directory: RelayDirectory;

  constructor(options: DirectoryOptions = {}) {
    this.directory = new RelayDirectory({
      clock: this.clock,
      random: () => 0.5,
      openSocket: this.#open,
      fetchInformation: () => Promise.resolve(null),
      log: (line) => this.log.push(line),
      ...options,
    });
  }

  get connection(): RelayConnection {
    return this.directory.connection('wss://relay.example');
  }

  /** The latest socket. */
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) {
      throw new Error('nothing was connected yet');
    }
    return socket;
  }

  readonly #open: OpenSocket = (url, _options, handlers) => {
    const socket = new FakeSocket(url, handlers);
    this.sockets.push(socket);
    const attempt = this.attempts.shift() ?? 'opens';
    queueMicrotask(() => {
      if (typeof attempt !== 'string') {
        handlers.onFailed(attempt);
      } else if (attempt !== 'hangs') {
        handlers.onOpen();
      }
      if (attempt === 'opens-and-closes') {
        socket.ends();
      }
    });
    return socket;
  };
}

/** An event of the right shape; its ID and signature are not real. */
export function shapedEvent(index = 0, fields: Partial<SignedEvent> = {}): SignedEvent {
  return {
    id: index.toString(16).padStart(64, '0'),
    pubkey: 'a'.repeat(64),
    created_at: 1_700_000_000 + index,
    kind: 1,
    tags: [],
    content: `event ${index}`,
    sig: 'b'.repeat(128),
    ...fields,
  };
}

export { settle };
