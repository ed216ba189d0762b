import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Dispatcher } from '../ipc/dispatcher.ts';
import { MAXIMUM_FRAME_BYTES, serveWebSocket } from '../ipc/websocket-transport.ts';
import { Fault } from '../platform/fault.ts';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { locateRendererFile, readRendererFile } from './renderer-files.ts';

/** Where the page connects to, with the `?token=` of its own address. */
export const CONTRACT_PATH = '/api';

/** WebSocket close code that tells the page that its token is not the one of this start (RFC 6455 §7.4.1). */
const POLICY_VIOLATION = 1008;

const LOOPBACK = '127.0.0.1';
const MAXIMUM_CONNECTIONS = 32;

export interface BrowserHostOptions {
  dispatcher: Dispatcher;
  /** The built interface, `dist/renderer`. */
  rendererDirectory: string;
  /** 0 or nothing: any free port. */
  port?: number;
}

export interface BrowserHost {
  /** The address to open, token included. */
  readonly url: string;
  readonly port: number;
  /** Closes all connections and the port. */
  close(): Promise<void>;
}

/**
 * Serves the interface and the contract to browsers on this machine. Who may use it is decided three times: the port
 * is on loopback only; `Host` and `Origin` must be this server's, so that no other site can reach it through a browser;
 * and the page and its WebSocket must carry the random token, so that no other user of the machine can.
 * Throws `network` when the port cannot be had.
 */
export async function startBrowserHost(options: BrowserHostOptions): Promise<BrowserHost> {
  const { dispatcher, rendererDirectory } = options;
  const token = randomBytes(24).toString('base64url');
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAXIMUM_FRAME_BYTES,
    perMessageDeflate: false,
  });
  /** The connections that have the token; nobody else can take up a place. */
  const admitted = new Set<WebSocket>();
  let authorities: string[] = [];

  /** Undefined is a request that is no part of a page, such as typing the address. */
  function isOwnOrigin(origin: string): boolean {
    return authorities.some((authority) => origin === `http://${authority}`);
  }

  function isOwnHost(request: IncomingMessage): boolean {
    return request.headers.host !== undefined && authorities.includes(request.headers.host);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers;
    if (!isOwnHost(request) || (origin !== undefined && !isOwnOrigin(origin))) return refuse(response, 403);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405);
    const url = parseTarget(request);
    if (url === null) return refuse(response, 400);
    const place = locateRendererFile(rendererDirectory, url.pathname);
    if (place?.isPage === true && !isToken(url.searchParams.get('token'), token)) {
      return refuse(response, 403, 'Open the address that Holdfast printed, with its token.');
    }
    // Browsers ask for it unasked; the page names its own icon.
    if (url.pathname === '/favicon.ico') return void response.writeHead(204).end();
    const file = await readRendererFile(rendererDirectory, url.pathname);
    if (file === null) return refuse(response, 404);
    response.writeHead(200, {
      ...securityHeaders(authorities),
      'Content-Type': file.contentType,
      'Content-Length': file.body.length,
    });
    response.end(request.method === 'HEAD' ? undefined : file.body);
  }

  function admit(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Until the handshake is over nobody else listens, and an error must not reach the process.
    socket.on('error', () => socket.destroy());
    const url = parseTarget(request);
    const { origin } = request.headers;
    const isOwnPage = isOwnHost(request) && origin !== undefined && isOwnOrigin(origin);
    if (!isOwnPage || url?.pathname !== CONTRACT_PATH) return refuseUpgrade(socket, 403);
    const hasToken = isToken(url.searchParams.get('token'), token);
    if (hasToken && admitted.size >= MAXIMUM_CONNECTIONS) return refuseUpgrade(socket, 503);
    sockets.handleUpgrade(request, socket, head, (connection) => {
      // A page cannot see the status of a refused handshake; the code tells it that trying again is in vain.
      if (!hasToken) return refuseConnection(connection, socket);
      admitted.add(connection);
      connection.on('close', () => admitted.delete(connection));
      serveWebSocket(connection, dispatcher);
    });
  }

  server.on('request', (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', admit);

  const port = await listen(server, options.port ?? 0);
  authorities = [`${LOOPBACK}:${port}`, `localhost:${port}`];

  return {
    url: `http://${LOOPBACK}:${port}/?token=${token}`,
    port,
    close() {
      for (const connection of sockets.clients) connection.terminate();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      reject(new Fault('network', `Port ${port} cannot be used for the interface: ${error.message}.`, { port }, error));
    });
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function securityHeaders(authorities: string[]): Record<string, string> {
  return {
    'Content-Security-Policy': contentSecurityPolicy(authorities.map((authority) => `ws://${authority}`)),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // The address holds the token.
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cache-Control': 'no-store',
  };
}

/** The target of a request as a URL, or null when it is not a path. */
function parseTarget(request: IncomingMessage): URL | null {
  const target = request.url ?? '';
  return target.startsWith('/') ? URL.parse(`http://${LOOPBACK}${target}`) : null;
}

/** Compares in constant time, so that the token cannot be guessed piece by piece. */
function isToken(given: string | null, token: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refuse(response: ServerResponse, status: number, message = STATUS_CODES[status] ?? 'Refused'): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(`${message}\n`);
}

/** Says why and is done: the other side is not waited for, because it may never answer. */
function refuseConnection(connection: WebSocket, socket: Duplex): void {
  connection.on('error', () => connection.terminate());
  connection.close(POLICY_VIOLATION, 'not the token of this start');
  socket.end(() => socket.destroy());
}

function refuseUpgrade(socket: Duplex, status: number): void {
  const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  socket.end(answer, () => socket.destroy());
}
