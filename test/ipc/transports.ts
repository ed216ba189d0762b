import { WebSocket } from 'ws';
import { startBrowserHost } from '../../main/browser-host/browser-host.ts';
import { Dispatcher, type DispatcherOptions } from '../../main/ipc/dispatcher.ts';
import { serveElectron } from '../../main/ipc/electron-transport.ts';
import { createBridgeApi } from '../../preload/bridge-api.ts';
import type { HoldfastApi } from '../../preload/contract.ts';
import { webSocketConnection, type Socket } from '../../renderer/transport/websocket-connection.ts';
import { FakeElectronIpc } from './fake-electron-ipc.ts';

/** An interface at the far end of a transport, made of the code that the real ones use. */
export interface OpenInterface {
  api: HoldfastApi;
  /** The window closes, or the browser's tab. */
  leave(): void;
}

export interface RunningTransport {
  openInterface(): OpenInterface;
  close(): Promise<void>;
}

export interface Transport {
  name: string;
  start(options: DispatcherOptions): Promise<RunningTransport>;
}

const PAGE = 'holdfast://application/index.html';

const electron: Transport = {
  name: "Electron's IPC",
  async start(options) {
    const ipc = new FakeElectronIpc();
    const dispatcher = new Dispatcher(options);
    const stop = serveElectron({ ipc: ipc.port, dispatcher, isOwnPage: (url) => url === PAGE });
    return {
      openInterface() {
        const page = ipc.openPage(PAGE);
        return {
          api: createBridgeApi(page.renderer),
          leave() {
            page.destroyed = true;
            page.contents.emit('destroyed');
          },
        };
      },
      close: async () => stop(),
    };
  },
};

const webSocket: Transport = {
  name: 'the loopback WebSocket',
  async start(options) {
    // Only the contract is of interest here, so there is no page.
    const host = await startBrowserHost({ dispatcher: new Dispatcher(options), rendererDirectory: '/nonexistent' });
    const { origin, search } = new URL(host.url);
    return {
      openInterface() {
        let socket: WebSocket | null = null;
        const connection = webSocketConnection({
          open() {
            socket = new WebSocket(`${origin.replace('http', 'ws')}/api${search}`, { origin });
            socket.on('error', () => undefined);
            return socket as unknown as Socket;
          },
          after: () => undefined,
        });
        return { api: connection.api, leave: () => socket?.close() };
      },
      close: () => host.close(),
    };
  },
};

export const transports: Transport[] = [electron, webSocket];
