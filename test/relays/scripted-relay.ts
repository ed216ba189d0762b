import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isEphemeralKind } from 'nostr-tools/kinds';
import { WebSocketServer } from 'ws';
import { readClientMessage } from '../../main/demo/client-message.ts';
import type { ClientMessage } from '../../main/demo/client-message.ts';
import { EventStore } from '../../main/demo/event-store.ts';
import type { StoredEvent } from '../../main/demo/event-store.ts';
import { createEventCheck } from '../../main/demo/published-event.ts';
import type { EventCheck } from '../../main/demo/published-event.ts';
import { matchesFilter } from '../../main/demo/relay-filter.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { FrameLog } from './frame-log.ts';
import type { NegentropyResponder } from './negentropy-responder.ts';
import type { AnswerStep, Behaviour, RelayRequest } from './relay-behaviour.ts';
import { RelayConnection } from './relay-connection.ts';

export interface ScriptedRelayOptions {
  events?: Iterable<SignedEvent>;
  /** Events with their JSON, where serialising them again would cost too much. */
  stored?: readonly StoredEvent[];
  behaviours?: readonly Behaviour[];
  /** The NIP-11 document. */
  information?: Record<string, unknown>;
  /** Gives NIP-67 hints with every EOSE. */
  eoseHints?: boolean;
  negentropy?: NegentropyResponder;
  /** 0, the default, takes a free port. */
  port?: number;
  /** Serves `wss:` with this key and certificate (PEM). */
  tls?: { key: string; cert: string };
  /** False keeps what is sent out of the log, for benchmarks. */
  recordSent?: boolean;
}

/** A REQ as it was received. */
export interface RecordedRequest {
  index: number;
  connection: number;
  subscription: string;
  filters: Record<string, unknown>[];
}

/**
 * A relay under a test's control on a loopback port. Without behaviours it does what NIP-01, NIP-11 and, where asked for,
 * NIP-67 and NIP-77 say; behaviours are switched on and off at any time.
 */
export class ScriptedRelay {
  readonly log = new FrameLog();
  readonly store: EventStore;
  readonly connections = new Set<RelayConnection>();
  readonly #options: ScriptedRelayOptions;
  readonly #check: EventCheck;
  #behaviours: Behaviour[];
  #server: Server | null = null;
  /** Every TCP connection, also those that never became a WebSocket. */
  readonly #streams = new Set<Socket>();
  #port: number;
  #connectionCount = 0;
  #requestCount = 0;

  private constructor(options: ScriptedRelayOptions, check: EventCheck) {
    this.#options = options;
    this.#check = check;
    this.#port = options.port ?? 0;
    this.#behaviours = [...(options.behaviours ?? [])];
    this.store = new EventStore(options.events);
    this.store.hold(options.stored ?? []);
  }

  static async start(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
    const relay = new ScriptedRelay(options, await createEventCheck());
    await relay.listen();
    return relay;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `${this.#options.tls ? 'wss' : 'ws'}://127.0.0.1:${this.#port}`;
  }

  /** Switches a behaviour on; the returned function switches it off again. */
  use(behaviour: Behaviour): () => void {
    this.#behaviours.push(behaviour);
    return () => {
      this.#behaviours = this.#behaviours.filter((active) => active !== behaviour);
    };
  }

  /** Replaces all behaviours; without arguments the relay conforms from now on. */
  behave(...behaviours: Behaviour[]): void {
    this.#behaviours = behaviours;
  }

  /** The filters of all REQs in the order of arrival, exactly as they were sent. */
  requests(): Record<string, unknown>[] {
    return this.recordedRequests().flatMap(({ filters }) => filters);
  }

  recordedRequests(): RecordedRequest[] {
    return this.log.received('REQ').map(({ index, connection, text }) => {
      const [, subscription, ...filters] = JSON.parse(text) as [string, string, ...Record<string, unknown>[]];
      return { index, connection, subscription, filters };
    });
  }

  /** Stores an event and sends it to open subscriptions, as if somebody else had published it. */
  publish(event: SignedEvent): void {
    this.store.add(event);
    this.#announce(event);
  }

  /** Opens the port, the same one again after {@link stop}. */
  async listen(): Promise<void> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answerHttp(request, response);
    const server = this.#options.tls ? createTlsServer(this.#options.tls, answer) : createServer(answer);
    server.on('connection', (stream: Socket) => {
      this.#streams.add(stream);
      stream.on('close', () => this.#streams.delete(stream));
    });
    const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 * 1024 });
    server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      stream.on('error', () => stream.destroy());
      if (this.#behaviours.some((behaviour) => behaviour.answerUpgrade?.(request, stream))) {
        this.log.add('connection', 0, 'upgrade-refused', request.url ?? '');
        return;
      }
      sockets.handleUpgrade(request, stream, head, (socket) => {
        const number = ++this.#connectionCount;
        const log = this.#options.recordSent === false ? null : this.log;
        const connection = new RelayConnection(number, socket, stream, log);
        this.connections.add(connection);
        this.log.add('connection', number, 'connect', request.url ?? '');
        socket.on('message', (data: Buffer, isBinary) => this.#receive(connection, data, isBinary));
        socket.on('error', () => socket.terminate());
        socket.on('close', (code) => {
          this.connections.delete(connection);
          this.log.add('connection', number, 'disconnect', String(code));
        });
        for (const behaviour of this.#behaviours) behaviour.onConnect?.(connection);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
    this.#server = server;
  }

  /** Cuts all connections and closes the port, as a relay that goes down. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    for (const stream of this.#streams) stream.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #receive(connection: RelayConnection, data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.log.add('received', connection.number, 'binary', data.toString('hex'));
      return;
    }
    const text = data.toString();
    const message = readClientMessage(text);
    this.log.add('received', connection.number, message.type, text);
    if (this.#behaviours.some((behaviour) => behaviour.takeFrame?.(text, connection))) return;
    if (message.type === 'REQ') {
      const { subscription, filters, sent } = message;
      this.#answerRequest({ number: ++this.#requestCount, subscription, filters, sent, connection });
    } else if (!this.#behaviours.some((behaviour) => behaviour.takeMessage?.(message, connection))) {
      this.#answerMessage(message, connection);
    }
  }

  #answerRequest(request: RelayRequest): void {
    const { connection, subscription, filters } = request;
    if (this.#behaviours.some((behaviour) => behaviour.takeRequest?.(request))) return;
    connection.subscriptions.set(subscription, filters);

    const changed = filters.map((filter) =>
      this.#behaviours.reduce((current, behaviour) => behaviour.changeFilter?.(current, request) ?? current, filter),
    );
    const page = this.#visibleTo(connection).query(changed);
    const eose = this.#options.eoseHints
      ? ['EOSE', subscription, [page.more ? 'more' : 'finish']]
      : ['EOSE', subscription];
    const conforming: AnswerStep[] = [
      ...page.events.map((stored) => ({ type: 'event' as const, subscription, stored })),
      { type: 'frame', frame: eose },
    ];
    const steps = this.#behaviours.reduce(
      (current, behaviour) => behaviour.shapeAnswer?.(current, request) ?? current,
      conforming,
    );
    void connection.play(steps, () => connection.subscriptions.get(subscription) === filters);
  }

  #answerMessage(message: ClientMessage, connection: RelayConnection): void {
    switch (message.type) {
      case 'CLOSE':
        connection.subscriptions.delete(message.subscription);
        break;
      case 'EVENT':
        this.#answerPublication(message.event, connection);
        break;
      case 'NEG-OPEN':
      case 'NEG-MSG':
      case 'NEG-CLOSE':
        this.#answerNegentropy(message, connection);
        break;
      case 'unreadable':
        if (message.subscription === null) connection.send(['NOTICE', `invalid: ${message.reason}`]);
        else connection.send(['CLOSED', message.subscription, `invalid: ${message.reason}`]);
        break;
      case 'AUTH':
      case 'REQ':
        connection.send(['NOTICE', `${message.type} was not expected`]);
    }
  }

  #answerPublication(value: unknown, connection: RelayConnection): void {
    const event = this.#check.read(value);
    if (typeof event === 'string') {
      const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : '';
      connection.send(['OK', id, false, event]);
      return;
    }
    for (const behaviour of this.#behaviours) {
      const decided = behaviour.decidePublication?.(event, connection);
      if (!decided) continue;
      if (decided.store) this.store.add(event);
      if (decided.answer) connection.send(['OK', event.id, decided.answer.accepted, decided.answer.message]);
      return;
    }
    const outcome = isEphemeralKind(event.kind) ? 'stored' : this.store.add(event);
    if (outcome === 'duplicate') connection.send(['OK', event.id, true, 'duplicate: already have this event']);
    else if (outcome === 'superseded') connection.send(['OK', event.id, false, 'blocked: a newer version is held']);
    else {
      connection.send(['OK', event.id, true, '']);
      this.#announce(event);
    }
  }

  #answerNegentropy(message: Extract<ClientMessage, { type: `NEG-${string}` }>, connection: RelayConnection): void {
    const { subscription } = message;
    const responder = this.#options.negentropy;
    if (!responder) {
      connection.send(['NOTICE', `invalid: ${message.type} is not supported`]);
      return;
    }
    if (message.type === 'NEG-CLOSE') {
      connection.sessions.delete(subscription);
      return;
    }
    if (message.type === 'NEG-OPEN') {
      const items = this.#visibleTo(connection).query([message.filter]).events;
      const rising = items.map(({ event }) => ({ createdAt: event.created_at, id: event.id }));
      rising.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      connection.sessions.set(subscription, responder.open(rising));
    }
    const session = connection.sessions.get(subscription);
    if (!session) {
      connection.send(['NEG-ERR', subscription, 'closed: no such session']);
      return;
    }
    try {
      connection.send(['NEG-MSG', subscription, session.respond(message.message)]);
    } catch (error) {
      connection.sessions.delete(subscription);
      connection.send(['NEG-ERR', subscription, `invalid: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }

  #announce(event: SignedEvent): void {
    for (const connection of this.connections) {
      if (this.#behaviours.some((behaviour) => behaviour.hides?.(event, connection))) continue;
      for (const [subscription, filters] of connection.subscriptions) {
        if (filters.some((filter) => matchesFilter(event, filter))) connection.send(['EVENT', subscription, event]);
      }
    }
  }

  #visibleTo(connection: RelayConnection): EventStore {
    const hiding = this.#behaviours.filter((behaviour) => behaviour.hides);
    if (hiding.length === 0) return this.store;
    const visible = new EventStore();
    visible.hold(this.store.all().filter(({ event }) => !hiding.some((one) => one.hides?.(event, connection))));
    return visible;
  }

  #answerHttp(request: IncomingMessage, response: ServerResponse): void {
    this.log.add('connection', 0, 'http', `${request.method ?? ''} ${request.url ?? ''}`);
    if (this.#behaviours.some((behaviour) => behaviour.answerHttp?.(request, response))) return;
    if (!request.headers.accept?.includes('application/nostr+json')) {
      response.writeHead(426, { 'content-type': 'text/plain' }).end('Upgrade required\n');
      return;
    }
    const nips = [1, 11, ...(this.#options.eoseHints ? [67] : []), ...(this.#options.negentropy ? [77] : [])];
    const information = { name: 'scripted relay', supported_nips: nips, ...this.#options.information };
    response.writeHead(200, { 'content-type': 'application/nostr+json' }).end(JSON.stringify(information));
  }
}
