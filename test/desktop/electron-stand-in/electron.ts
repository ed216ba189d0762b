import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import type { FetchedFile, FromMain, FromPage, Question } from './messages.ts';

/**
 * Stands in for the `electron` module where its binary cannot be had: the parts of it that the main process uses, with
 * the page in a Chromium that the parent process drives. The main process runs as it was built, in Node.
 */

function tell(message: FromMain): void {
  process.send?.(message);
}

/** An event whose default can be prevented, as Electron emits them. */
class PreventableEvent {
  defaultPrevented = false;
  preventDefault(): void {
    this.defaultPrevented = true;
  }
}

class App extends EventEmitter {
  readonly isPackaged = false;
  readonly #paths = new Map<string, string>([['userData', join(tmpdir(), 'holdfast-stand-in')]]);
  name = 'Electron';

  setName(name: string): void {
    this.name = name;
  }

  setPath(name: string, path: string): void {
    this.#paths.set(name, path);
  }

  getPath(name: string): string {
    return this.#paths.get(name) ?? tmpdir();
  }

  /** The parent starts one at a time; a second one meets the lock of the data directory. */
  requestSingleInstanceLock(): boolean {
    return true;
  }

  whenReady(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  quit(): void {
    const event = new PreventableEvent();
    this.emit('before-quit', event);
    if (!event.defaultPrevented) this.exit(0);
  }

  exit(code: number): void {
    // What was told last, such as an error box, has to arrive.
    if (process.connected) process.disconnect();
    process.exitCode = code;
    setImmediate(() => process.exit(code));
  }
}

export const app = new App();

type IpcHandler = (event: unknown, ...args: unknown[]) => unknown;

class IpcMain extends EventEmitter {
  readonly handlers = new Map<string, IpcHandler>();
  handle(channel: string, handler: IpcHandler): void {
    this.handlers.set(channel, handler);
  }
  removeHandler(channel: string): void {
    this.handlers.delete(channel);
  }
}

export const ipcMain = new IpcMain();

class WebContents extends EventEmitter {
  readonly id: number;
  readonly mainFrame = { url: '' };
  windowOpenHandler: (details: { url: string }) => { action: string } = () => ({ action: 'allow' });
  destroyed = false;

  constructor(id: number) {
    super();
    this.id = id;
  }

  send(channel: string, payload: unknown): void {
    if (this.destroyed) throw new TypeError('Object has been destroyed');
    tell({ type: 'send', window: this.id, channel, payload });
  }

  isDestroyed(): boolean {
    return this.destroyed;
  }

  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.windowOpenHandler = handler;
  }
}

interface WindowOptions {
  x: number;
  y: number;
  width: number;
  height: number;
  backgroundColor: string;
  webPreferences: { preload: string; contextIsolation: boolean; sandbox: boolean; nodeIntegration: boolean };
}

const windows = new Map<number, BrowserWindow>();

export class BrowserWindow extends EventEmitter {
  static #last = 0;
  readonly webContents: WebContents;
  readonly #options: WindowOptions;
  #loading: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #maximized = false;

  constructor(options: WindowOptions) {
    super();
    const { contextIsolation, sandbox, nodeIntegration } = options.webPreferences;
    // The stand-in's page is isolated whatever it is told; a window that asks for less would only be seen in Electron.
    if (!contextIsolation || !sandbox || nodeIntegration) throw new Error('The window is not isolated');
    this.#options = options;
    this.webContents = new WebContents(++BrowserWindow.#last);
    windows.set(this.webContents.id, this);
    app.emit('web-contents-created', {}, this.webContents);
  }

  loadURL(url: string): Promise<void> {
    this.webContents.mainFrame.url = url;
    return new Promise((resolve, reject) => {
      this.#loading = { resolve, reject };
      const { width, height, webPreferences } = this.#options;
      tell({ type: 'load', window: this.webContents.id, url, width, height, preload: webPreferences.preload });
    });
  }

  loaded(error: string | undefined): void {
    if (error === undefined) {
      this.#loading?.resolve();
      this.emit('ready-to-show');
    } else {
      this.#loading?.reject(new Error(error));
    }
  }

  /** The page is gone in Chromium. */
  closed(): void {
    this.emit('close', new PreventableEvent());
    this.webContents.destroyed = true;
    this.webContents.emit('destroyed');
    windows.delete(this.webContents.id);
    this.emit('closed');
    if (windows.size === 0) app.emit('window-all-closed');
  }

  close(): void {
    tell({ type: 'close-window', window: this.webContents.id });
  }

  show(): void {}
  focus(): void {}
  restore(): void {}
  isMinimized(): boolean {
    return false;
  }
  maximize(): void {
    this.#maximized = true;
  }
  isMaximized(): boolean {
    return this.#maximized;
  }
  isDestroyed(): boolean {
    return this.webContents.destroyed;
  }
  getNormalBounds(): { x: number; y: number; width: number; height: number } {
    const { x, y, width, height } = this.#options;
    return { x, y, width, height };
  }
}

export const dialog = {
  showErrorBox: (title: string, content: string): void => tell({ type: 'error-box', title, content }),
};

export const Menu = {
  buildFromTemplate: (template: unknown): unknown => template,
  setApplicationMenu: (): void => undefined,
};

export const nativeTheme = { shouldUseDarkColors: process.env['HOLDFAST_STAND_IN_THEME'] === 'dark' };

const schemes = new Map<string, (request: Request) => Promise<Response>>();
export const protocol = {
  registerSchemesAsPrivileged: (): void => undefined,
  handle: (scheme: string, handler: (request: Request) => Promise<Response>): void => {
    schemes.set(scheme, handler);
  },
};

const display = { id: 1, workArea: { x: 0, y: 0, width: 1600, height: 1000 } };
export const screen = { getPrimaryDisplay: () => display, getAllDisplays: () => [display] };

export const session = {
  defaultSession: {
    setPermissionRequestHandler: (): void => undefined,
    setPermissionCheckHandler: (): void => undefined,
  },
};

export const shell = {
  openExternal: (): Promise<void> => Promise.reject(new Error('The stand-in opens nothing outside')),
};

function ipcEvent(window: number, url: string): { sender: WebContents; senderFrame: { url: string } } | null {
  const contents = windows.get(window)?.webContents;
  if (contents === undefined) return null;
  contents.mainFrame.url = url;
  return { sender: contents, senderFrame: contents.mainFrame };
}

async function answer(question: Question): Promise<unknown> {
  switch (question.type) {
    case 'invoke': {
      const handler = ipcMain.handlers.get(question.channel);
      const event = ipcEvent(question.window, question.url);
      if (handler === undefined || event === null) throw new Error(`No handler registered for '${question.channel}'`);
      return handler(event, ...question.args);
    }
    case 'fetch': {
      const handler = schemes.get(new URL(question.url).protocol.replace(':', ''));
      if (handler === undefined) throw new Error(`Nobody serves ${question.url}`);
      return asFile(await handler(new Request(question.url)));
    }
    case 'may-navigate': {
      const event = new PreventableEvent();
      windows.get(question.window)?.webContents.emit('will-navigate', event, question.url);
      return !event.defaultPrevented;
    }
    case 'may-open':
      return windows.get(question.window)?.webContents.windowOpenHandler({ url: question.url }).action === 'allow';
  }
}

async function asFile(response: Response): Promise<FetchedFile> {
  const bodyBase64 = Buffer.from(await response.arrayBuffer()).toString('base64');
  return { status: response.status, headers: Object.fromEntries(response.headers), bodyBase64 };
}

process.on('message', (message: FromPage) => {
  switch (message.type) {
    case 'ask':
      answer(message.question).then(
        (result) => tell({ type: 'answer', id: message.id, result }),
        (error: unknown) => tell({ type: 'answer', id: message.id, error: String(error) }),
      );
      break;
    case 'post': {
      const event = ipcEvent(message.window, message.url);
      if (event !== null) ipcMain.emit(message.channel, event, ...message.args);
      break;
    }
    case 'loaded':
      windows.get(message.window)?.loaded(message.error);
      break;
    case 'navigation':
      windows
        .get(message.window)
        ?.webContents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
      break;
    case 'window-closed':
      windows.get(message.window)?.closed();
      break;
    case 'quit':
      app.quit();
      break;
  }
});
