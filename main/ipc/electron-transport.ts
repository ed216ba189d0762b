import { CHANNELS, type CallOutcome, type SubscriptionUpdate } from '../../preload/contract.ts';
import type { Dispatcher, DispatcherSession } from './dispatcher.ts';

/** The part of Electron's `WebContents` that this transport uses. */
export interface IpcSender {
  readonly id: number;
  readonly mainFrame: unknown;
  isDestroyed(): boolean;
  send(channel: string, update: SubscriptionUpdate): void;
  on(event: 'destroyed' | 'render-process-gone', listener: () => void): unknown;
  on(event: 'did-start-navigation', listener: (details: Navigation) => void): unknown;
}

/** The part of Electron's navigation event that this transport uses. */
export interface Navigation {
  readonly isMainFrame: boolean;
  /** True when only the fragment or the history changes, and the page stays. */
  readonly isSameDocument: boolean;
}

/** The part of an IPC event that this transport uses. */
export interface IpcEvent {
  readonly sender: IpcSender;
  /** Null when the frame has gone meanwhile. */
  readonly senderFrame: { readonly url: string } | null;
}

/** The part of Electron's `ipcMain` that this transport uses. */
export interface IpcPort {
  handle(channel: string, listener: (event: IpcEvent, ...args: unknown[]) => unknown): void;
  on(channel: string, listener: (event: IpcEvent, ...args: unknown[]) => void): unknown;
  removeHandler(channel: string): void;
  removeAllListeners(channel: string): unknown;
}

export interface ElectronTransportOptions {
  ipc: IpcPort;
  dispatcher: Dispatcher;
  /** True for the address of the application's own page. */
  isOwnPage: (url: string) => boolean;
}

/**
 * Serves the contract over Electron's IPC. Only the main frame of the application's own page is answered: a frame that
 * got in by any other way is refused, whatever it asks. Returns the function that stops serving.
 */
export function serveElectron({ ipc, dispatcher, isOwnPage }: ElectronTransportOptions): () => void {
  const sessions = new Map<number, DispatcherSession>();

  function isTrusted({ sender, senderFrame }: IpcEvent): boolean {
    return senderFrame !== null && senderFrame === sender.mainFrame && isOwnPage(senderFrame.url);
  }

  function endSession(id: number): void {
    sessions.get(id)?.close();
    sessions.delete(id);
  }

  /** A page that reloads starts again from nothing: its earlier subscriptions end when it leaves. */
  function sessionOf(sender: IpcSender): DispatcherSession {
    const existing = sessions.get(sender.id);
    if (existing !== undefined) return existing;
    const session = dispatcher.openSession((update) => {
      if (!sender.isDestroyed()) sender.send(CHANNELS.update, update);
    });
    sessions.set(sender.id, session);
    return session;
  }

  const watched = new Set<number>();
  function watch(sender: IpcSender): void {
    if (watched.has(sender.id)) return;
    watched.add(sender.id);
    const end = (): void => endSession(sender.id);
    sender.on('did-start-navigation', ({ isMainFrame, isSameDocument }) => {
      if (isMainFrame && !isSameDocument) end();
    });
    sender.on('render-process-gone', end);
    sender.on('destroyed', () => {
      end();
      watched.delete(sender.id);
    });
  }

  ipc.handle(CHANNELS.call, (event, method, args): Promise<CallOutcome> | CallOutcome => {
    if (isTrusted(event)) return dispatcher.call(method, args);
    return {
      ok: false,
      error: { code: 'unknown-method', message: 'Only the page of Holdfast itself is answered.', details: null },
    };
  });
  ipc.on(CHANNELS.subscribe, (event, subscription, topic, args) => {
    if (!isTrusted(event)) return;
    watch(event.sender);
    sessionOf(event.sender).subscribe(subscription, topic, args);
  });
  ipc.on(CHANNELS.unsubscribe, (event, subscription) => {
    if (isTrusted(event)) sessions.get(event.sender.id)?.unsubscribe(subscription);
  });

  return () => {
    ipc.removeHandler(CHANNELS.call);
    ipc.removeAllListeners(CHANNELS.subscribe);
    ipc.removeAllListeners(CHANNELS.unsubscribe);
    for (const id of [...sessions.keys()]) endSession(id);
  };
}
