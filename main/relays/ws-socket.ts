import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { connectionFailure, failureFromError } from './connection-failure.ts';
import type { ConnectionFailure } from './relay-query.ts';
import type { RelaySocket, SocketEnd, SocketHandlers, SocketOptions } from './relay-socket.ts';

/**
 * Opens a WebSocket with `ws`. Every error of it becomes one call of `onFailed` or `onEnded`; none escapes. Redirects are
 * not followed: they could lead where a relay URL may not.
 */
export function openWsSocket(url: string, options: SocketOptions, handlers: SocketHandlers): RelaySocket {
  let opened = false;
  let over = false;
  let closing = false;
  let terminated: string | null = null;
  let refusal: ConnectionFailure | null = null;
  let problem: Error | null = null;

  const finish = (end: SocketEnd): void => {
    if (over) {
      return;
    }
    over = true;
    if (opened) {
      handlers.onEnded(end);
    } else {
      handlers.onFailed(
        refusal ?? (problem === null ? connectionFailure('closed-early', end.reason) : failureFromError(problem)),
      );
    }
  };

  let socket: WebSocket;
  try {
    socket = new WebSocket(url, {
      maxPayload: options.maxFrameBytes,
      perMessageDeflate: false,
      followRedirects: false,
      // A frame with broken UTF-8 is one bad frame, not the end of the connection; what it holds fails its own checks.
      skipUTF8Validation: true,
      headers: { 'User-Agent': options.userAgent },
    });
  } catch (error) {
    problem = error instanceof Error ? error : new Error(String(error));
    queueMicrotask(() => finish({ cause: 'lost', code: null, reason: '' }));
    return { send: nothing, ping: nothing, close: nothing, terminate: nothing };
  }

  socket.on('error', (error: Error) => {
    problem ??= error;
  });
  socket.on('unexpected-response', (_request, response) => {
    const status = `HTTP ${response.statusCode ?? 0} ${response.statusMessage ?? ''}`.trim();
    refusal = connectionFailure('http-status', status);
    response.resume();
    finish({ cause: 'lost', code: null, reason: status });
    socket.terminate();
  });
  socket.on('open', () => {
    opened = true;
    handlers.onOpen();
  });
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (over) {
      return;
    }
    const bytes = asBuffer(data);
    try {
      if (isBinary) {
        handlers.onBinary(bytes.length);
      } else {
        handlers.onText(bytes.toString('utf8'), bytes.length);
      }
    } catch (error) {
      // Nothing that a relay sends may end the process, where every other relay is at work too.
      const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      socket.terminate();
      finish({ cause: 'frame-unusable', code: null, reason: `A frame of the relay could not be handled (${words})` });
    }
  });
  socket.on('pong', (payload: Buffer) => {
    if (!over) {
      handlers.onPong(payload.toString('latin1'));
    }
  });
  socket.on('close', (code: number, reason: Buffer) => {
    const words = reason.toString('utf8');
    if (terminated !== null) {
      finish({ cause: 'lost', code: null, reason: terminated });
    } else if (problem !== null && hasCode(problem, 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')) {
      finish({
        cause: 'frame-too-large',
        code: null,
        reason: `The relay sent a frame of more than ${options.maxFrameBytes} bytes`,
      });
    } else if (closing) {
      finish({ cause: 'by-us', code, reason: words });
    } else if (code === 1006) {
      finish({ cause: 'lost', code: null, reason: problem?.message ?? 'The connection was lost' });
    } else {
      finish({ cause: 'by-relay', code, reason: words });
    }
  });

  return {
    send(text) {
      if (!over && socket.readyState === WebSocket.OPEN) {
        socket.send(text, noteNothing);
      }
    },
    ping(payload) {
      if (!over && socket.readyState === WebSocket.OPEN) {
        socket.ping(payload, undefined, noteNothing);
      }
    },
    close() {
      closing = true;
      socket.close(1000);
    },
    terminate(reason) {
      terminated = reason;
      socket.terminate();
    },
  };
}

/** A frame that could not be sent shows itself as the end of the socket; the callback keeps `ws` from throwing. */
function noteNothing(_error?: Error | null): void {
  return;
}

function nothing(): void {
  return;
}

function asBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) {
    return data;
  }
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

function hasCode(error: Error, code: string): boolean {
  return 'code' in error && error.code === code;
}
