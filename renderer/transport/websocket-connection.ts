import type {
  ClientFrame,
  ContractError,
  HoldfastApi,
  HostFrame,
  Method,
  Methods,
  Topic,
  Topics,
} from '../../preload/contract.ts';
import type { Connection, LinkState } from './connection.ts';

/** The part of a WebSocket that is used here, so that tests bring their own. */
export interface Socket {
  send(data: string): void;
  close(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
}

/** What the connection needs from its surroundings. */
export interface WebSocketSurroundings {
  open(): Socket;
  /** Calls back once after a delay in milliseconds. */
  after(delayMs: number, callback: () => void): void;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: ContractError): void;
}

interface Subscription {
  topic: Topic;
  args: unknown;
  onSnapshot(snapshot: unknown): void;
  onError: ((error: ContractError) => void) | undefined;
}

/** Delays before each further try, in milliseconds; the last one repeats. */
const RETRY_DELAYS = [500, 1000, 2000, 4000, 8000];

/** WebSocket close code for a policy violation: the host refuses the token. */
const POLICY_VIOLATION = 1008;

const lost: ContractError = {
  code: 'network',
  message: 'The connection to Holdfast was lost before it answered.',
  details: null,
};

/**
 * The connection of the browser host. It reconnects for ever and subscribes again by itself; calls that were under
 * way when the link broke are rejected, because whether they took effect is unknown.
 */
export function webSocketConnection(surroundings: WebSocketSurroundings): Connection {
  const calls = new Map<number, PendingCall>();
  const subscriptions = new Map<number, Subscription>();
  const listeners = new Set<(state: LinkState) => void>();
  let waiting: ClientFrame[] = [];
  let socket: Socket | null = null;
  let state: LinkState = 'connecting';
  let failures = 0;
  let nextId = 1;

  function setState(next: LinkState): void {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener(next);
  }

  function connect(): void {
    const opened = surroundings.open();
    opened.onopen = () => {
      socket = opened;
      failures = 0;
      for (const [subscription, { topic, args }] of subscriptions) {
        opened.send(JSON.stringify({ type: 'subscribe', subscription, topic, args } satisfies ClientFrame));
      }
      for (const frame of waiting) opened.send(JSON.stringify(frame));
      waiting = [];
      setState('open');
    };
    opened.onmessage = ({ data }) => {
      if (typeof data === 'string') receive(JSON.parse(data) as HostFrame);
    };
    opened.onclose = ({ code }) => {
      socket = null;
      for (const call of calls.values()) call.reject(lost);
      calls.clear();
      waiting = [];
      if (code === POLICY_VIOLATION) {
        setState('refused');
        return;
      }
      setState('lost');
      surroundings.after(RETRY_DELAYS[Math.min(failures, RETRY_DELAYS.length - 1)] ?? 8000, connect);
      failures += 1;
    };
  }

  function receive(frame: HostFrame): void {
    if (frame.type === 'result') {
      const call = calls.get(frame.id);
      calls.delete(frame.id);
      if (frame.outcome.ok) call?.resolve(frame.outcome.result);
      else call?.reject(frame.outcome.error);
      return;
    }
    const subscription = subscriptions.get(frame.subscription);
    if (frame.error !== undefined) subscription?.onError?.(frame.error);
    else subscription?.onSnapshot(frame.snapshot);
  }

  const api: HoldfastApi = {
    call<M extends Method>(method: M, args: Methods[M]['args']): Promise<Methods[M]['result']> {
      return new Promise((resolve, reject: (error: ContractError) => void) => {
        if (state === 'lost' || state === 'refused') {
          reject({ ...lost, message: 'Holdfast cannot be reached now, so nothing was done.' });
          return;
        }
        const id = nextId++;
        // The host validates what goes in and promises the shape of what comes out; both sides share the contract.
        calls.set(id, { resolve: (result) => resolve(result as Methods[M]['result']), reject });
        const frame: ClientFrame = { type: 'call', id, method, args };
        if (socket === null) waiting.push(frame);
        else socket.send(JSON.stringify(frame));
      });
    },
    subscribe<T extends Topic>(
      topic: T,
      args: Topics[T]['args'],
      onSnapshot: (snapshot: Topics[T]['snapshot']) => void,
      onError?: (error: ContractError) => void,
    ): () => void {
      const subscription = nextId++;
      subscriptions.set(subscription, {
        topic,
        args,
        onSnapshot: (snapshot) => onSnapshot(snapshot as Topics[T]['snapshot']),
        onError,
      });
      socket?.send(JSON.stringify({ type: 'subscribe', subscription, topic, args } satisfies ClientFrame));
      return () => {
        subscriptions.delete(subscription);
        socket?.send(JSON.stringify({ type: 'unsubscribe', subscription } satisfies ClientFrame));
      };
    },
  };

  connect();
  return {
    api,
    onLink(listener) {
      listeners.add(listener);
      listener(state);
      return () => listeners.delete(listener);
    },
  };
}

/** Where the browser host listens, from the address of the page: `ws(s)://host/api?token=…`. */
export function socketAddress(location: Pick<Location, 'protocol' | 'host' | 'search'>): string {
  const token = new URLSearchParams(location.search).get('token') ?? '';
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  return `${scheme}//${location.host}/api?token=${encodeURIComponent(token)}`;
}
