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

/** WebSocket close code for a side that cannot go on now and may be tried again (IANA registry). */
const TRY_AGAIN_LATER = 1013;

/** With so many bytes waiting for an interface to read them, nothing more is read from it until they have left. */
const BYTES_BEFORE_PAUSE = 1024 * 1024;

/**
 * So many bytes may wait behind one frame of any size. An interface that lets more pile up has stopped reading.
 */
export const MAXIMUM_WAITING_BYTES = 32 * 1024 * 1024;

/**
 * Serves the contract over one WebSocket connection that has been admitted, until it closes. A frame that is not of
 * the contract ends the connection, and so does a reader that leaves too much unread.
 */
export function serveWebSocket(socket: WebSocket, dispatcher: Dispatcher): void {
  let calls = 0;
  /** What may wait now: more while a frame leaves before which nothing waited, such as the report of a large sync. */
  let mostWaiting = MAXIMUM_WAITING_BYTES;

  /** Resolves when the frame has left; a connection that broke meanwhile is not an error of anyone's. */
  function send(frame: HostFrame): Promise<void> {
    if (socket.readyState !== socket.OPEN) return Promise.resolve();
    const text = JSON.stringify(frame);
    const waiting = socket.bufferedAmount;
    if (waiting === 0) {
      mostWaiting = MAXIMUM_WAITING_BYTES + Buffer.byteLength(text);
    } else if (waiting + text.length > mostWaiting) {
      // What waits is in front of the farewell, so that who reads on learns why; who does not is cut off by its time-out.
      socket.close(TRY_AGAIN_LATER, 'too much is left unread');
      socket.resume();
      session.close();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      socket.send(text, () => {
        if (socket.bufferedAmount <= BYTES_BEFORE_PAUSE) socket.resume();
        resolve();
      });
      if (socket.bufferedAmount > BYTES_BEFORE_PAUSE) socket.pause();
    });
  }

  const session = dispatcher.openSession((update) => send({ type: 'update', ...update }));

  async function answer(id: number, method: string, args: unknown): Promise<void> {
    calls += 1;
    const outcome = calls > MAXIMUM_CALLS ? TOO_MANY_CALLS : await dispatcher.call(method, args);
    // An answer that has not left is still under way.
    await send({ type: 'result', id, outcome });
    calls -= 1;
  }

  socket.on('message', (data, isBinary) => {
    // Frames that were read together with the one that ended the connection.
    if (socket.readyState !== socket.OPEN) return;
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
