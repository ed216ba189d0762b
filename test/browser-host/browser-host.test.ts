import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startBrowserHost, type BrowserHost } from '../../main/browser-host/browser-host.ts';
import { Dispatcher } from '../../main/ipc/dispatcher.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { fakeMethods, fakeTopics } from '../ipc/fake-services.ts';

let directory: string;
let host: BrowserHost;
let origin: string;
let token: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-browser-host-'));
  const rendererDirectory = join(directory, 'renderer');
  await mkdir(join(rendererDirectory, 'assets'), { recursive: true });
  await writeFile(join(rendererDirectory, 'index.html'), '<!doctype html>page');
  await writeFile(join(rendererDirectory, 'assets', 'index.js'), 'script');
  await writeFile(join(rendererDirectory, 'notes.txt'), 'not part of the interface');
  await writeFile(join(rendererDirectory, '.hidden.js'), 'hidden');
  await writeFile(join(directory, 'secret.js'), 'secret');
  const dispatcher = new Dispatcher({
    methods: fakeMethods({ 'accounts.list': async () => [] }),
    topics: fakeTopics().topics,
    clock: new FakeClock(),
  });
  host = await startBrowserHost({ dispatcher, rendererDirectory });
  origin = new URL(host.url).origin;
  token = new URL(host.url).searchParams.get('token') ?? '';
});

afterEach(async () => {
  await host.close();
  await rm(directory, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** Sends exactly this path and these headers; `fetch` would tidy both. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: host.port, path, method, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the page', () => {
  it('is served to who has the token, and locked down by its headers', async () => {
    const answer = await get(`/?token=${token}`);
    expect(answer).toMatchObject({ status: 200, body: '<!doctype html>page' });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${host.port}`);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it.each([
    '/',
    '/index.html',
    '/?token=',
    '/?token=wrong',
    '/index.htm%6c',
    '/index%2ehtml',
    '/%69ndex.html',
    '/nothing.html',
  ])('is refused to who asks for %s', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(403);
    expect(answer.body).not.toContain('page');
  });

  it('has a token that is new with every start', async () => {
    expect(token).toMatch(/^[\w-]{32,}$/);
    const { url, close } = await startBrowserHost({
      dispatcher: new Dispatcher({ methods: fakeMethods(), topics: fakeTopics().topics, clock: new FakeClock() }),
      rendererDirectory: directory,
    });
    await close();
    expect(new URL(url).searchParams.get('token')).not.toBe(token);
  });
});

describe('files', () => {
  it('come with their type', async () => {
    expect(await get('/assets/index.js')).toMatchObject({
      status: 200,
      body: 'script',
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
    });
  });

  it('send no body for HEAD', async () => {
    expect(await get('/assets/index.js', {}, 'HEAD')).toMatchObject({ status: 200, body: '' });
  });

  it.each([
    '/../secret.js',
    '/assets/../../secret.js',
    '/%2e%2e/secret.js',
    '/..%2fsecret.js',
    '/assets/..%5c..%5csecret.js',
    '//etc/passwd',
    '/secret.js%00.js',
    '/%E0%A4%A',
    '/.hidden.js',
    '/notes.txt',
    '/assets',
    '/nothing.js',
    // Other spellings of the page, which would need the token.
    '/index.html/',
    '//index.html',
    '/index.html%2f',
    '/INDEX.HTML',
    '/index%252ehtml',
    '/index.htm%256c',
    '/assets//index.js',
    '/assets/index.js%25',
  ])('outside the interface are not there: %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('are not for %s', async (method) => {
    expect((await get('/assets/index.js', {}, method)).status).toBe(405);
  });
});

describe('a request that was meant for someone else', () => {
  it.each(['example.com', 'evil.example:80', '127.0.0.1', '127.0.0.1:1', 'localhost.example.com'])(
    'is refused: Host %s',
    async (name) => {
      expect((await get(`/?token=${token}`, { Host: name })).status).toBe(403);
    },
  );

  it.each(['http://example.com', 'null', 'https://127.0.0.1'])('is refused: Origin %s', async (name) => {
    expect((await get('/assets/index.js', { Origin: name })).status).toBe(403);
  });
});

describe('the WebSocket', () => {
  interface Attempt {
    path?: string;
    origin?: string;
    host?: string;
  }

  /** How a connection ends that is tried with these: its close code, or the status of the refusal. */
  function attempt({ path = `/api?token=${token}`, ...headers }: Attempt): Promise<string> {
    const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, {
      ...(headers.origin === undefined ? {} : { origin: headers.origin }),
      ...(headers.host === undefined ? {} : { headers: { Host: headers.host } }),
    });
    return new Promise((resolve) => {
      socket.on('unexpected-response', (_request, response) => {
        resolve(`status ${response.statusCode}`);
        socket.terminate();
      });
      socket.on('error', () => undefined);
      socket.on('close', (code) => resolve(`closed ${code}`));
      socket.on('open', () => socket.send(JSON.stringify({ type: 'call', id: 1, method: 'accounts.list', args: {} })));
      socket.on('message', (data: Buffer) => {
        resolve(`answered ${data.toString()}`);
        socket.close();
      });
    });
  }

  it('answers the page', async () => {
    expect(await attempt({ origin })).toBe('answered {"type":"result","id":1,"outcome":{"ok":true,"result":[]}}');
  });

  it('answers the page under the name localhost too', async () => {
    const authority = `localhost:${host.port}`;
    expect(await attempt({ origin: `http://${authority}`, host: authority })).toMatch(/^answered/);
  });

  it.each<[string, () => Attempt, string]>([
    ['without an origin', () => ({}), 'status 403'],
    ['from another site', () => ({ origin: 'http://example.com' }), 'status 403'],
    ['from another port of this machine', () => ({ origin: 'http://127.0.0.1:1' }), 'status 403'],
    ['under another name', () => ({ origin, host: 'example.com' }), 'status 403'],
    ['on another path', () => ({ origin, path: `/?token=${token}` }), 'status 403'],
    ['without the token', () => ({ origin, path: '/api' }), 'closed 1008'],
    ['with the token of another start', () => ({ origin, path: '/api?token=wrong' }), 'closed 1008'],
  ])('refuses who comes %s', async (_case, given, end) => {
    expect(await attempt(given())).toBe(end);
  });

  it.each([
    ['text that is not JSON', 'hello'],
    ['JSON that is not a frame', '{"type":"shutdown"}'],
    ['a frame with something extra', '{"type":"unsubscribe","subscription":1,"all":true}'],
    ['bytes', Buffer.from('{"type":"unsubscribe","subscription":1}')],
  ])('ends the connection for %s, and serves the others', async (_case, frame) => {
    const socket = new WebSocket(`ws://127.0.0.1:${host.port}/api?token=${token}`, { origin });
    const code = await new Promise((resolve) => {
      socket.on('open', () => socket.send(frame));
      socket.on('close', resolve);
    });
    expect(code).toBe(1002);
    expect(await attempt({ origin })).toMatch(/^answered/);
  });

  /** A handshake without a token by a client that answers nothing afterwards; resolves with what it was sent. */
  function knock(path: string): Promise<Buffer> {
    return new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: host.port, allowHalfOpen: true }, () => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\n` +
            'Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n',
        );
      });
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('error', () => undefined);
      // The host has let go of it, although this side has not.
      socket.on('end', () => {
        resolve(Buffer.concat(chunks));
        socket.destroy();
      });
    });
  }

  it('lets go at once of who has no token, however many they are, and keeps every place for the page', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => knock('/api?token=wrong')));

    // The close frame with its code, after the handshake.
    for (const answer of answers) expect(answer.includes(Buffer.from([0x03, 0xf0]))).toBe(true);
    expect((await knock('/elsewhere')).toString()).toMatch(/^HTTP\/1.1 403/);
    expect(await attempt({ origin })).toMatch(/^answered/);
  });

  it('takes up no place with a refused connection that is still being closed', async () => {
    const refused = Array.from({ length: 40 }, () => attempt({ origin, path: '/api' }));
    expect(await attempt({ origin })).toMatch(/^answered/);
    expect(new Set(await Promise.all(refused))).toEqual(new Set(['closed 1008']));
  });

  it('has 32 places for who has the token, and each is free again when it is left', async () => {
    const open = (): Promise<WebSocket> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${host.port}/api?token=${token}`, { origin });
        socket.on('error', reject);
        socket.on('open', () => resolve(socket));
      });
    const sockets = await Promise.all(Array.from({ length: 32 }, open));
    expect(await attempt({ origin })).toBe('status 503');
    const left = new Promise((resolve) => sockets[0]?.on('close', resolve));
    sockets[0]?.close();
    await left;
    expect(await attempt({ origin })).toMatch(/^answered/);
    for (const socket of sockets) socket.terminate();
  });

  it('does not mind a client that breaks off in the middle of the handshake', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(host.port, '127.0.0.1', () => {
        socket.write(`GET /api?token=${token} HTTP/1.1\r\nHost: 127.0.0.1:${host.port}\r\nUpgrade: websocket\r\n`);
        socket.resetAndDestroy();
      });
      socket.on('close', () => resolve());
    });
    expect(await attempt({ origin })).toMatch(/^answered/);
  });
});

describe('the port', () => {
  it('is on loopback only', async () => {
    // 127.0.0.2 is this machine too, and would be answered by a server that listens everywhere.
    const error = await new Promise<Error | null>((resolve) => {
      const socket = connect(host.port, '127.0.0.2', () => {
        socket.destroy();
        resolve(null);
      });
      socket.on('error', resolve);
    });
    expect(error).not.toBeNull();
  });

  it('that is taken is named', async () => {
    const second = startBrowserHost({
      dispatcher: new Dispatcher({ methods: fakeMethods(), topics: fakeTopics().topics, clock: new FakeClock() }),
      rendererDirectory: directory,
      port: host.port,
    });
    await expect(second).rejects.toMatchObject({ code: 'network', message: expect.stringContaining(`${host.port}`) });
  });
});
