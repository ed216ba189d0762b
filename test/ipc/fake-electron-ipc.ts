import { EventEmitter } from 'node:events';
import type { IpcEvent, IpcPort, IpcSender } from '../../main/ipc/electron-transport.ts';
import type { CallOutcome, SubscriptionUpdate } from '../../preload/contract.ts';
import type { IpcRendererPort } from '../../preload/bridge-api.ts';

type Handler = Parameters<IpcPort['handle']>[1];

/** Electron's IPC inside one process: what crosses is cloned, as there, and arrives in a later turn. */
export class FakeElectronIpc {
  readonly handlers = new Map<string, Handler>();
  readonly #listeners = new EventEmitter();
  #lastSender = 0;

  readonly port: IpcPort = {
    handle: (channel, listener) => void this.handlers.set(channel, listener),
    on: (channel, listener) => this.#listeners.on(channel, listener),
    removeHandler: (channel) => void this.handlers.delete(channel),
    removeAllListeners: (channel) => this.#listeners.removeAllListeners(channel),
  };

  /** Opens a page: its `ipcRenderer`, and the sender as the main process sees it. */
  openPage(url: string): FakePage {
    return new FakePage(this, ++this.#lastSender, url);
  }

  emit(channel: string, event: IpcEvent, args: unknown[]): void {
    this.#listeners.emit(channel, event, ...args);
  }
}

/** One page; `event` can be changed to play a frame that is not the page's own. */
export class FakePage {
  readonly contents = new EventEmitter();
  readonly mainFrame: { url: string };
  /** The frame that sends; a test may put another one here. */
  frame: { url: string } | null;
  destroyed = false;
  readonly #ipc: FakeElectronIpc;
  readonly #id: number;
  readonly #updates = new EventEmitter();

  constructor(ipc: FakeElectronIpc, id: number, url: string) {
    this.#ipc = ipc;
    this.#id = id;
    this.mainFrame = { url };
    this.frame = this.mainFrame;
  }

  readonly renderer: IpcRendererPort = {
    invoke: async (channel, ...args) => {
      const handler = this.#ipc.handlers.get(channel);
      if (handler === undefined) throw new Error(`No handler for ${channel}`);
      const outcome: unknown = await handler(this.#event(), ...structuredClone(args));
      return structuredClone(outcome) as CallOutcome;
    },
    send: (channel, ...args) => {
      const sent = structuredClone(args);
      setImmediate(() => this.#ipc.emit(channel, this.#event(), sent));
    },
    on: (channel, listener) => this.#updates.on(channel, listener),
  };

  #event(): IpcEvent {
    const sender: IpcSender = {
      id: this.#id,
      mainFrame: this.mainFrame,
      isDestroyed: () => this.destroyed,
      send: (channel: string, update: SubscriptionUpdate) => {
        if (this.destroyed) throw new TypeError('Object has been destroyed');
        const sent = structuredClone(update);
        setImmediate(() => this.#updates.emit(channel, {}, sent));
      },
      on: (event: string, listener: (...args: never[]) => void) =>
        this.contents.on(event, listener as (...args: unknown[]) => void),
    };
    return { sender, senderFrame: this.frame };
  }
}
