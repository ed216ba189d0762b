import type { HoldfastApi } from '../../preload/contract.ts';
import type { Connection } from './connection.ts';

declare global {
  interface Window {
    /** Exposed by the preload script of the desktop host; absent in a browser. */
    holdfast?: HoldfastApi;
  }
}

/** The connection over Electron's IPC; it lives as long as the window, so its link is always open. */
export function electronConnection(api: HoldfastApi): Connection {
  return {
    api,
    onLink(listener) {
      listener('open');
      return () => undefined;
    },
  };
}
