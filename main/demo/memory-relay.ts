import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { isEphemeralKind } from 'nostr-tools/kinds';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { SignedEvent } from '../../preload/contract.ts';
import { readClientMessage } from './client-message.ts';
import { EventStore } from './event-store.ts';
import { NegentropySessions } from './negentropy-sessions.ts';
import { matchesFilter } from './relay-filter.ts';
import type { RelayFilter } from './relay-filter.ts';
import type { EventCheck } from './published-event.ts';

/** The most events that a page carries when the client names no limit. */
const DEFAULT_PAGE = 500;
const LARGEST_FRAME = 512 * 1024;

export interface MemoryRelayOptions {
  name: string;
  description: string;
  check: EventCheck;
  events?: Iterable<SignedEvent>;
  /** Pages never carry more than this, without a word about it. */
  pageCap?: number;
  /** Whether it compares sets by NIP-77. */
  negentropy?: boolean;
  /** The port to listen on, while nobody else has it; otherwise any that is free. */
  port?: number | undefined;
}

export interface MemoryRelay {
  /** `ws://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  readonly store: EventStore;
  close(): Promise<void>;
}

interface Client {
  socket: WebSocket;
  stream: Duplex;
  subscriptions: Map<string, readonly RelayFilter[]>;
  sessions: NegentropySessions | null;
}

/** Starts a relay on a loopback port: NIP-01 with live subscriptions, and a NIP-11 document. */
export async function startMemoryRelay(options: MemoryRelayOptions): Promise<MemoryRelay> {
  const store = new EventStore(options.events);
  const clients = new Set<Client>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LARGEST_FRAME });
  const server = createServer((request, response) => answerHttp(options, request, response));

  server.on('upgrade', (request, stream, head) => {
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const sessions =
        options.negentropy === true
          ? new NegentropySessions(store, (frame) => socket.send(JSON.stringify(frame)))
          : null;
      const client: Client = { socket, stream, subscriptions: new Map(), sessions };
      clients.add(client);
      socket.on('message', (data: Buffer, isBinary) => {
        if (!isBinary) answer(client, data.toString());
      });
      // A client that breaks the protocol only loses its own connection.
      socket.on('error', () => socket.terminate());
      socket.on('close', () => clients.delete(client));
    });
  });

  function answer(client: Client, text: string): void {
    const message = readClientMessage(text);
    switch (message.type) {
      case 'REQ':
        client.subscriptions.set(message.subscription, message.filters);
        sendPage(client, message.subscription, message.filters);
        break;
      case 'CLOSE':
        client.subscriptions.delete(message.subscription);
        break;
      case 'EVENT':
        publish(client, message.event);
        break;
      case 'unreadable':
        send(
          client,
          message.subscription === null
            ? ['NOTICE', `invalid: ${message.reason}`]
            : ['CLOSED', message.subscription, `invalid: ${message.reason}`],
        );
        break;
      case 'NEG-OPEN':
        if (client.sessions === null) refuse(client, message.type);
        else client.sessions.open(message.subscription, message.filter, message.message);
        break;
      case 'NEG-MSG':
        if (client.sessions === null) refuse(client, message.type);
        else client.sessions.answer(message.subscription, message.message);
        break;
      case 'NEG-CLOSE':
        if (client.sessions === null) refuse(client, message.type);
        else client.sessions.close(message.subscription);
        break;
      default:
        refuse(client, message.type);
    }
  }

  function sendPage(client: Client, subscription: string, filters: readonly RelayFilter[]): void {
    const cap = options.pageCap ?? DEFAULT_PAGE;
    const capped = filters.map((filter) => ({ ...filter, limit: Math.min(filter.limit ?? cap, cap) }));
    const opening = `["EVENT",${JSON.stringify(subscription)},`;
    // One write for the whole page instead of one for every event.
    client.stream.cork();
    for (const { json } of store.query(capped).events) client.socket.send(`${opening}${json}]`);
    send(client, ['EOSE', subscription]);
    client.stream.uncork();
  }

  function publish(client: Client, value: unknown): void {
    const event = options.check.read(value);
    if (typeof event === 'string') {
      send(client, ['OK', idOf(value), false, event]);
      return;
    }
    const outcome = isEphemeralKind(event.kind) ? 'stored' : store.add(event);
    if (outcome === 'duplicate') send(client, ['OK', event.id, true, 'duplicate: already have this event']);
    else if (outcome === 'superseded') send(client, ['OK', event.id, false, 'blocked: a newer version is held']);
    else {
      send(client, ['OK', event.id, true, '']);
      announce(event);
    }
  }

  function announce(event: SignedEvent): void {
    for (const client of clients) {
      for (const [subscription, filters] of client.subscriptions) {
        if (filters.some((filter) => matchesFilter(event, filter))) send(client, ['EVENT', subscription, event]);
      }
    }
  }

  if (options.port === undefined) await listen(server, 0);
  else await listen(server, options.port).catch(() => listen(server, 0));
  const port = portOf(server.address());
  return {
    url: `ws://127.0.0.1:${port}`,
    port,
    store,
    async close() {
      for (const client of clients) client.socket.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function refuse(client: Client, type: string): void {
  send(client, ['NOTICE', `${type} is not supported here`]);
}

function send(client: Client, frame: unknown[]): void {
  client.socket.send(JSON.stringify(frame));
}

function answerHttp(options: MemoryRelayOptions, request: IncomingMessage, response: ServerResponse): void {
  if (!request.headers.accept?.includes('application/nostr+json')) {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('A Nostr relay: connect by WebSocket.\n');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/nostr+json', 'access-control-allow-origin': '*' }).end(
    JSON.stringify({
      name: options.name,
      description: options.description,
      software: 'holdfast demo',
      supported_nips: options.negentropy === true ? [1, 11, 77] : [1, 11],
    }),
  );
}

/** The ID a client gave with something that is not a valid event, for the answer's sake. */
function idOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? value.id : '';
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
