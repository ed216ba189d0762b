import { describe, expect, it } from 'vitest';
import type { AccountSummary, ClientFrame, HostFrame } from '../../preload/contract.ts';
import type { LinkState } from '../../renderer/transport/connection.ts';
import { socketAddress, webSocketConnection, type Socket } from '../../renderer/transport/websocket-connection.ts';

class PaperSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: ClientFrame[] = [];

  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }

  close(): void {
    this.onclose?.({ code: 1000 });
  }

  answer(frame: HostFrame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

function start() {
  const sockets: PaperSocket[] = [];
  const waits: { delayMs: number; run: () => void }[] = [];
  const states: LinkState[] = [];
  const connection = webSocketConnection({
    open() {
      const socket = new PaperSocket();
      sockets.push(socket);
      return socket;
    },
    after: (delayMs, run) => void waits.push({ delayMs, run }),
  });
  connection.onLink((state) => states.push(state));
  const socket = (index: number): PaperSocket => {
    const found = sockets[index];
    if (found === undefined) throw new Error(`Socket ${index} was not opened.`);
    return found;
  };
  return { api: connection.api, sockets, socket, waits, states };
}

describe('the WebSocket connection', () => {
  it('sends what was called before the link was open, and answers by number', async () => {
    const { api, socket } = start();
    const first = api.call('accounts.list', {});
    const second = api.call('runs.cancel', { run: 3 });
    socket(0).onopen?.();
    const ids = socket(0).sent.map((frame) => (frame.type === 'call' ? frame.id : -1));
    socket(0).answer({ type: 'result', id: ids[1] ?? 0, outcome: { ok: true, result: { cancelled: true } } });
    socket(0).answer({ type: 'result', id: ids[0] ?? 0, outcome: { ok: true, result: [] } });
    expect(await second).toEqual({ cancelled: true });
    expect(await first).toEqual([]);
  });

  it('rejects with the error of the host as plain data', async () => {
    const { api, socket } = start();
    socket(0).onopen?.();
    const call = api.call('fetch.refetch', { range: 1 });
    const error = { code: 'unknown-range', message: 'There is no such range.', details: null } as const;
    socket(0).answer({ type: 'result', id: 1, outcome: { ok: false, error } });
    await expect(call).rejects.toEqual(error);
  });

  it('subscribes again after the link was lost, and tells the state of the link', () => {
    const { api, sockets, socket, waits, states } = start();
    socket(0).onopen?.();
    const seen: AccountSummary[][] = [];
    api.subscribe('accounts', {}, (snapshot) => seen.push(snapshot));
    socket(0).onclose?.({ code: 1006 });
    expect(waits).toHaveLength(1);
    waits[0]?.run();
    expect(sockets).toHaveLength(2);
    socket(1).onopen?.();
    const [frame] = socket(1).sent;
    expect(frame).toMatchObject({ type: 'subscribe', topic: 'accounts' });
    socket(1).answer({
      type: 'update',
      subscription: frame?.type === 'subscribe' ? frame.subscription : 0,
      snapshot: [],
    });
    expect(seen).toEqual([[]]);
    expect(states).toEqual(['connecting', 'open', 'lost', 'open']);
  });

  it('rejects calls that were under way, and new ones while the link is lost', async () => {
    const { api, socket } = start();
    socket(0).onopen?.();
    const call = api.call('accounts.list', {});
    socket(0).onclose?.({ code: 1006 });
    await expect(call).rejects.toMatchObject({ code: 'network' });
    await expect(api.call('accounts.list', {})).rejects.toMatchObject({ code: 'network' });
  });

  it('waits longer after each failure', () => {
    const { socket, waits } = start();
    for (let index = 0; index < 6; index += 1) {
      socket(index).onclose?.({ code: 1006 });
      waits[index]?.run();
    }
    expect(waits.map((wait) => wait.delayMs)).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  });

  it('does not try again when the host refuses the token', () => {
    const { socket, waits, states } = start();
    socket(0).onclose?.({ code: 1008 });
    expect(waits).toHaveLength(0);
    expect(states.at(-1)).toBe('refused');
  });

  it('ends a subscription at the host too', () => {
    const { api, socket } = start();
    socket(0).onopen?.();
    const seen: unknown[] = [];
    const end = api.subscribe('relays', {}, (snapshot) => seen.push(snapshot));
    end();
    socket(0).answer({ type: 'update', subscription: 1, snapshot: [] });
    expect(seen).toEqual([]);
    expect(socket(0).sent.at(-1)).toEqual({ type: 'unsubscribe', subscription: 1 });
  });

  it('takes the token from the query of the page, and the scheme with it', () => {
    const page = { protocol: 'http:', host: '127.0.0.1:4000', search: '' };
    expect(socketAddress({ ...page, search: '?token=a+b%2F' })).toBe('ws://127.0.0.1:4000/api?token=a%20b%2F');
    expect(socketAddress({ ...page, protocol: 'https:', search: '?token=xyz' })).toBe(
      'wss://127.0.0.1:4000/api?token=xyz',
    );
  });
});
