import type { Duplex } from 'node:stream';
import type { Clock } from '../../../main/platform/clock.ts';
import type { Behaviour } from '../relay-behaviour.ts';

/** Answers the upgrade with an HTTP status such as 403, 429 or 502 (row 22). */
export function refuseUpgrade(status: number, headers: Record<string, string> = {}, body = ''): Behaviour {
  return {
    name: `answers the upgrade with ${status}`,
    answerUpgrade(_request, stream) {
      sendStatus(stream, status, headers, body);
      return true;
    },
  };
}

/** Takes the connection and never answers the upgrade. */
export function silentUpgrade(): Behaviour {
  return { name: 'never answers the upgrade', answerUpgrade: () => true };
}

/** Answers the upgrade with bytes that are no HTTP. */
export function garbageUpgrade(bytes: Uint8Array = Buffer.from('\u0000\u0001 not HTTP at all\r\n')): Behaviour {
  return {
    name: 'answers the upgrade with garbage',
    answerUpgrade(_request, stream) {
      stream.end(bytes);
      return true;
    },
  };
}

/** Cuts every connection right after it was made. */
export function disconnectAfterConnect(): Behaviour {
  return { name: 'disconnects right after connecting', onConnect: (connection) => connection.terminate() };
}

/** Closes every connection right after it was made, with a close frame. */
export function closeAfterConnect(code: number, reason: string): Behaviour {
  return {
    name: `closes right after connecting with ${code}`,
    onConnect: (connection) => connection.close(code, reason),
  };
}

/** Refuses whoever comes back sooner than this after the last attempt, and counts that attempt too (row 10). */
export function blockEagerClients(pauseMs: number, clock: Clock, status = 429): Behaviour {
  let lastAttempt = Number.NEGATIVE_INFINITY;
  return {
    name: `blocks clients that return within ${pauseMs} ms`,
    answerUpgrade(_request, stream) {
      const waited = clock.monotonicMs() - lastAttempt;
      lastAttempt = clock.monotonicMs();
      if (waited >= pauseMs) return false;
      sendStatus(stream, status, {}, 'blocked for retrying at once');
      return true;
    },
  };
}

/** Sends bytes below the WebSocket protocol as soon as somebody connects, by default a frame with a reserved opcode. */
export function breakProtocol(bytes: Uint8Array = Buffer.from([0x8f, 0x01, 0x00])): Behaviour {
  return {
    name: 'breaks the WebSocket protocol',
    onConnect: (connection) => void connection.play([{ type: 'raw', bytes }], () => true),
  };
}

function sendStatus(stream: Duplex, status: number, headers: Record<string, string>, body: string): void {
  const lines = [`HTTP/1.1 ${status} Refused`, 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  stream.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
