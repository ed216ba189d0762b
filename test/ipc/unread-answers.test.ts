import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Dispatcher } from '../../main/ipc/dispatcher.ts';
import { MAXIMUM_WAITING_BYTES, serveWebSocket } from '../../main/ipc/websocket-transport.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { fakeMethods, fakeTopics } from './fake-services.ts';

/** A page and the host's end of its connection; every call is answered, once `gate` opens, with so many characters. */
async function connectPage(characters: number, gate: Promise<void> = Promise.resolve()) {
  const label = 'x'.repeat(characters);
  let calls = 0;
  const account = { id: 1, label };
  const methods = fakeMethods({
    'accounts.list': async () => {
      calls += 1;
      await gate;
      return [account] as never;
    },
  });
  const dispatcher = new Dispatcher({ methods, topics: fakeTopics().topics, clock: new FakeClock() });
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ends: WebSocket[] = [];
  sockets.on('connection', (socket) => {
    ends.push(socket);
    serveWebSocket(socket, dispatcher);
  });
  const { port } = server.address() as AddressInfo;
  const page = new WebSocket(`ws://127.0.0.1:${port}`);
  page.on('error', () => undefined);
  await once(page, 'open');
  onTestFinished(() => {
    page.terminate();
    for (const end of ends) end.terminate();
    server.closeAllConnections();
    server.close();
  });
  const [end] = ends;
  if (end === undefined) throw new Error('the host has no end of the connection');
  const call = (id: number): void => page.send(JSON.stringify({ type: 'call', id, method: 'accounts.list', args: {} }));
  return { page, end, call, callCount: () => calls };
}

/** Resolves once `condition` holds, looking again in every turn of the event loop. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('from a page that does not read, no more is read until its answers have left', async () => {
  const { page, end, call, callCount } = await connectPage(300_000);
  page.pause();
  let id = 0;
  // The systems between the two take some megabytes before anything waits here.
  while (!end.isPaused) {
    call((id += 1));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const answered = callCount();
  for (let more = 0; more < 2000; more += 1) call((id += 1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(callCount() - answered).toBeLessThan(100);
  expect(end.bufferedAmount).toBeLessThan(MAXIMUM_WAITING_BYTES);

  let received = 0;
  page.on('message', () => (received += 1));
  page.resume();

  await until(() => received === id);
  expect(end.isPaused).toBe(false);
});

test('a page that leaves too much unread is told so and let go', async () => {
  const gate = Promise.withResolvers<void>();
  const { page, end, call, callCount } = await connectPage(3_000_000, gate.promise);
  page.pause();
  // All are under way before the first is answered.
  for (let id = 0; id < 60; id += 1) call(id);
  await until(() => callCount() === 60);
  gate.resolve();

  await until(() => end.readyState === WebSocket.CLOSING);

  expect(end.bufferedAmount).toBeLessThan(MAXIMUM_WAITING_BYTES + 4_000_000);
  page.resume();
  const [code, reason] = (await once(page, 'close')) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([1013, 'too much is left unread']);
});

test('one answer of any size gets through to a page that reads', async () => {
  const { page, call } = await connectPage(MAXIMUM_WAITING_BYTES + 1000);
  call(1);
  const [data] = (await once(page, 'message')) as [Buffer];
  expect(data.length).toBeGreaterThan(MAXIMUM_WAITING_BYTES);
});

test('what comes while a large answer leaves does not end the connection', async () => {
  const { page, end, call } = await connectPage(MAXIMUM_WAITING_BYTES + 1000);
  page.pause();
  call(1);
  await until(() => end.bufferedAmount > MAXIMUM_WAITING_BYTES / 2);
  // The host does not read any more from a page with so much to read itself.
  end.resume();
  page.send(JSON.stringify({ type: 'call', id: 2, method: 'there.is.none', args: {} }));
  const answers: Buffer[] = [];
  page.on('message', (data: Buffer) => answers.push(data));
  await new Promise((resolve) => setTimeout(resolve, 50));
  page.resume();

  await until(() => answers.length === 2 || page.readyState !== WebSocket.OPEN);
  expect(answers.map(({ length }) => length > MAXIMUM_WAITING_BYTES)).toEqual([true, false]);
});
