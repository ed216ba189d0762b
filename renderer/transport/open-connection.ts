import type { Connection } from './connection.ts';
import { electronConnection } from './electron-connection.ts';
import { socketAddress, webSocketConnection } from './websocket-connection.ts';

/** The connection that fits the host: the bridge of the desktop window, else the browser host's WebSocket. */
export function openConnection(view: Window): Connection {
  if (view.holdfast !== undefined) return electronConnection(view.holdfast);
  const address = socketAddress(view.location);
  return webSocketConnection({
    open: () => new WebSocket(address) as never,
    after: (delayMs, callback) => void view.setTimeout(callback, delayMs),
  });
}
