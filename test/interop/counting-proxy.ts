import { connect, createServer, type Socket } from 'node:net';

/** What passed through a proxy, HTTP headers excluded. */
export interface PassedBytes {
  toRelay: number;
  fromRelay: number;
}

/** A loopback TCP proxy before a relay that counts what WebSocket frames cost on the wire, in each direction. */
export interface CountingProxy {
  url: string;
  /** Bytes since the last call. */
  take(): PassedBytes;
  close(): Promise<void>;
}

const HEADERS_END = '\r\n\r\n';

export async function startCountingProxy(relayUrl: string): Promise<CountingProxy> {
  const target = new URL(relayUrl);
  let passed: PassedBytes = { toRelay: 0, fromRelay: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const relay = connect(Number(target.port), target.hostname);
    for (const socket of [client, relay]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    }
    forward(client, relay, (bytes) => (passed.toRelay += bytes));
    forward(relay, client, (bytes) => (passed.fromRelay += bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `ws://127.0.0.1:${address.port}`,
    take() {
      const taken = passed;
      passed = { toRelay: 0, fromRelay: 0 };
      return taken;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(from: Socket, to: Socket, count: (bytes: number) => void): void {
  let inHeaders = true;
  from.on('data', (chunk: Buffer) => {
    to.write(chunk);
    if (!inHeaders) {
      count(chunk.length);
      return;
    }
    const end = chunk.indexOf(HEADERS_END);
    if (end < 0) return;
    inHeaders = false;
    count(chunk.length - end - HEADERS_END.length);
  });
  from.on('close', () => to.destroy());
}
