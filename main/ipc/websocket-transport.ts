import type { RawData, WebSocket } from 'ws';
import * as v from 'valibot';
import type { CallOutcome, HostFrame } from '../../preload/contract.ts';
import type { Dispatcher } from './dispatcher.ts';

/** The largest frame that is read: the largest `archive.import`, with room for what JSON escapes. */
export const MAXIMUM_FRAME_BYTES = 64 * 1024 * 1024;

/** The most calls of one connection that may be under way; a page makes a handful. */
const MAXIMUM_CALLS = 100;

const TOO_MANY_CALLS: CallOutcome = {
  ok: false,
  error: {
    code: 'invalid-argument',
    message: `An interface may have ${MAXIMUM_CALLS} calls under way at the most.`,
    details: null,
  },
};

const number = v.pipe(v.number(), v.safeInteger());
const clientFrame = v.variant('type', [
  v.strictObject({ type: v.literal('call'), id: number, method: v.string(), args: v.unknown() }),
  v.strictObject({ type: v.literal('subscribe'), subscription: number, topic: v.string(), args: v.unknown() }),
  v.strictObject({ type: v.literal('unsubscribe'), subscription: number }),
]);

/** WebSocket close code for a frame that is not of the contract (RFC 6455 §7.4.1). */
const PROTOCOL_ERROR = 1002;

/**
 * Serves the contract over one WebSocket connection that has been admitted, until it closes. A frame that is not of
 * the contract ends the connection.
 */
export function serveWebSocket(socket: WebSocket, dispatcher: Dispatcher): void {
  let calls = 0;

  /** Resolves when the frame has left; a connection that broke meanwhile is not an error of anyone's. */
  function send(frame: HostFrame): Promise<void> {
    return new Promise((resolve) => {
      if (socket.readyState !== socket.OPEN) resolve();
      else socket.send(JSON.stringify(frame), () => resolve());
    });
  }

  const session = dispatcher.openSession((update) => send({ type: 'update', ...update }));

  async function answer(id: number, method: string, args: unknown): Promise<void> {
    calls += 1;
    const outcome = calls > MAXIMUM_CALLS ? TOO_MANY_CALLS : await dispatcher.call(method, args);
    calls -= 1;
    await send({ type: 'result', id, outcome });
  }

  socket.on('message', (data, isBinary) => {
    const frame = isBinary ? null : parseFrame(data);
    if (frame === null) {
      socket.close(PROTOCOL_ERROR, 'not a frame of the contract');
      return;
    }
    switch (frame.type) {
      case 'call':
        void answer(frame.id, frame.method, frame.args);
        break;
      case 'subscribe':
        session.subscribe(frame.subscription, frame.topic, frame.args);
        break;
      case 'unsubscribe':
        session.unsubscribe(frame.subscription);
        break;
    }
  });
  socket.on('close', () => session.close());
  // An error is always followed by 'close'; without a listener it would reach the process.
  socket.on('error', () => socket.terminate());
}

function parseFrame(data: RawData): v.InferOutput<typeof clientFrame> | null {
  try {
    const parsed = v.safeParse(clientFrame, JSON.parse(textOf(data)));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8');
}
