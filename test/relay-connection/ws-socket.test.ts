import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import type { OpenSocket } from '../../main/relays/relay-socket.ts';
import { openWsSocket } from '../../main/relays/ws-socket.ts';

const escaped: unknown[] = [];
const catchEscaped = (error: unknown): void => void escaped.push(error);
const closers: (() => void)[] = [];

beforeEach(() => {
  process.on('uncaughtException', catchEscaped);
});

afterEach(async () => {
  closers.splice(0).forEach((close) => close());
  await new Promise((resolve) => setImmediate(resolve));
  process.off('uncaughtException', catchEscaped);
  expect(escaped.splice(0)).toEqual([]);
});

/** A server that does this with every connection, after what it is sent first. */
async function serve(onAsked: (socket: WebSocket, subscription: string) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    socket.once('message', (data: Buffer) => {
      const [, subscription] = JSON.parse(data.toString('utf8')) as [string, string];
      onAsked(socket, subscription);
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(() => {
    server.clients.forEach((client) => client.terminate());
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function meet(url: string, openSocket: OpenSocket = openWsSocket) {
  const log: string[] = [];
  const directory = new RelayDirectory({
    openSocket,
    fetchInformation: () => Promise.resolve(null),
    log: (line) => log.push(line),
  });
  closers.push(() => directory.close());
  return { log, connection: directory.connection(url) };
}

describe('a frame that cannot be handled', () => {
  /** Like the real one, but handling a frame with `poison` in it fails. */
  const fragile: OpenSocket = (url, options, handlers) =>
    openWsSocket(url, options, {
      ...handlers,
      onText: (text, bytes) => {
        if (text.includes('poison')) {
          throw new RangeError('Maximum call stack size exceeded');
        }
        handlers.onText(text, bytes);
      },
    });

  it('ends its connection and what was open on it, once, and leaves the process alone', async () => {
    const url = await serve((socket) => {
      socket.send('["NOTICE","poison"]');
      socket.send('["NOTICE","poison"]');
    });
    const { log, connection } = meet(url, fragile);
    const result = await connection.query({ limit: 1 }, { onEvent: () => undefined });
    expect(result).toMatchObject({ sent: true, outcome: { ending: 'failed' } });
    const session = await connection.openNegentropy({}, '61', { onMessage: () => null });
    expect(session).toMatchObject({ sent: true, outcome: { ending: 'failed' } });
    expect(log).toEqual(Array(2).fill(expect.stringContaining('Maximum call stack size exceeded')));
  }, 20_000);
});

describe('frames that are nested without end', () => {
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);

  it.each([
    ['NOTICE', () => `["NOTICE",${deep}]`],
    ['CLOSED of another', () => `["CLOSED","another",${deep}]`],
    ['OK', () => `["OK","${'0'.repeat(64)}",true,${deep}]`],
    ['EVENT', (subscription: string) => `["EVENT","${subscription}",${deep}]`],
    ['EOSE of another', () => `["EOSE","another",${deep}]`],
    ['no verb', () => deep],
  ])('as %s do not disturb a query', async (_name, frame) => {
    const url = await serve((socket, subscription) => {
      socket.send(frame(subscription));
      socket.send(JSON.stringify(['EOSE', subscription]));
    });
    const { connection } = meet(url);
    expect(await connection.query({ limit: 1 }, { onEvent: () => undefined })).toMatchObject({
      sent: true,
      outcome: { ending: 'eose' },
    });
  });

  it('as CLOSED and NEG-ERR end what they are about, and nothing of them is kept', async () => {
    const closing = await serve((socket, subscription) => socket.send(`["CLOSED","${subscription}",${deep}]`));
    expect(await meet(closing).connection.query({}, { onEvent: () => undefined })).toMatchObject({
      outcome: { ending: 'closed', message: '(a list in the place of words)' },
    });
    const refusing = await serve((socket, subscription) =>
      socket.send(`["NEG-ERR","${subscription}",${deep},${deep}]`),
    );
    const onMessage = vi.fn();
    const refused = await meet(refusing).connection.openNegentropy({}, '61', { onMessage });
    expect(refused).toMatchObject({ outcome: { ending: 'neg-err', negErr: { maximum: null } } });
    expect(JSON.stringify(refused).length).toBeLessThan(1_000);
  });
});
