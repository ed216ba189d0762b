import { fork, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Frame, Page, Route } from 'playwright-core';
import type { FetchedFile, FromMain, FromPage, Question } from './messages.ts';

/** Chromium takes no scheme of ours, so the page has this origin, and nothing of it ever reaches a network. */
const PAGE_ORIGIN = 'https://application.holdfast.invalid';
const SCHEME_ORIGIN = 'holdfast://application';

const REGISTER = fileURLToPath(new URL('./register.ts', import.meta.url));

export interface StandInOptions {
  /** The built main process. */
  main: string;
  args: string[];
  environment: NodeJS.ProcessEnv;
  context: BrowserContext;
}

/** The page's half of the stand-in: gives the main process a window in Chromium. */
export class StandIn {
  readonly errorBoxes: { title: string; content: string }[] = [];
  /** What the main process printed. */
  output = '';
  readonly exited: Promise<number>;
  readonly #context: BrowserContext;
  readonly #child: ChildProcess;
  readonly #pages = new Map<number, Page>();
  readonly #answers = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  readonly #firstPage = Promise.withResolvers<Page>();
  #lastQuestion = 0;

  constructor(options: StandInOptions) {
    this.#context = options.context;
    this.#child = fork(options.main, options.args, {
      execArgv: ['--import', REGISTER],
      env: options.environment,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Structured cloning, as in Electron.
      serialization: 'advanced',
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.#child.on('message', (message: FromMain) => void this.#receive(message));
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code) => resolve(code ?? -1));
    });
    // Nobody may be waiting for a page that never comes.
    this.#firstPage.promise.catch(() => undefined);
    void this.exited.then((code) => {
      const why = this.errorBoxes[0]?.content ?? this.output;
      this.#firstPage.reject(new Error(`Holdfast ended with exit code ${code}: ${why}`));
      for (const { reject } of this.#answers.values()) reject(new Error('Holdfast has ended'));
    });
  }

  /** The first window, when its page has loaded. */
  firstPage(): Promise<Page> {
    return this.#firstPage.promise;
  }

  /** Quits as the menu does, and resolves to the exit code. */
  quit(): Promise<number> {
    this.#tell({ type: 'quit' });
    return this.exited;
  }

  /** Ends the process at once, as a crash does. */
  kill(): Promise<number> {
    this.#child.kill('SIGKILL');
    return this.exited;
  }

  #tell(message: FromPage): void {
    if (this.#child.connected) this.#child.send(message);
  }

  #ask(question: Question): Promise<unknown> {
    const id = ++this.#lastQuestion;
    return new Promise((resolve, reject) => {
      this.#answers.set(id, { resolve, reject });
      this.#tell({ type: 'ask', id, question });
    });
  }

  async #receive(message: FromMain): Promise<void> {
    switch (message.type) {
      case 'load':
        await this.#load(message);
        break;
      case 'send':
        await this.#pages
          .get(message.window)
          ?.evaluate(([channel, payload]) => standInReceive(channel, payload), [
            message.channel,
            message.payload,
          ] as const)
          // The page may be on its way to another document, or gone.
          .catch(() => undefined);
        break;
      case 'answer': {
        const waiting = this.#answers.get(message.id);
        this.#answers.delete(message.id);
        if (message.error === undefined) waiting?.resolve(message.result);
        else waiting?.reject(new Error(message.error));
        break;
      }
      case 'close-window':
        await this.#pages.get(message.window)?.close();
        break;
      case 'error-box':
        this.errorBoxes.push({ title: message.title, content: message.content });
        break;
    }
  }

  async #load({ window, url, width, height, preload }: Extract<FromMain, { type: 'load' }>): Promise<void> {
    const page = await this.#context.newPage();
    this.#pages.set(window, page);
    await page.setViewportSize({ width, height });
    const pageUrl = url.replace(SCHEME_ORIGIN, PAGE_ORIGIN);
    page.on('close', () => this.#tell({ type: 'window-closed', window }));
    try {
      await this.#prepare(page, window, pageUrl, preload);
      await page.goto(pageUrl);
      this.#tell({ type: 'loaded', window });
      this.#firstPage.resolve(page);
    } catch (error) {
      this.#tell({ type: 'loaded', window, error: String(error) });
      this.#firstPage.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #prepare(page: Page, window: number, firstUrl: string, preload: string): Promise<void> {
    const address = (frame: Frame): string => frame.url().replace(PAGE_ORIGIN, SCHEME_ORIGIN);
    await page.exposeBinding('standInInvoke', ({ frame }, channel: string, args: unknown[]) =>
      this.#ask({ type: 'invoke', window, url: address(frame), channel, args }),
    );
    await page.exposeBinding('standInPost', ({ frame }, channel: string, args: unknown[]) =>
      this.#tell({ type: 'post', window, url: address(frame), channel, args }),
    );
    await page.addInitScript({ content: await preloadScript(preload) });
    let isFirst = true;
    const pass = async (route: Route): Promise<void> => {
      const request = route.request();
      if (request.isNavigationRequest()) {
        const isOwn = isFirst && request.url() === firstUrl;
        isFirst = false;
        const isReload = request.url() === page.url();
        if (!isOwn && !isReload && !(await this.#ask({ type: 'may-navigate', window, url: request.url() }))) {
          return route.abort('aborted');
        }
        this.#tell({ type: 'navigation', window });
      }
      return this.#fulfil(route);
    };
    // A main process that ends answers no more, and its page goes with it.
    await page.route('**/*', (route) => pass(route).catch(() => route.abort().catch(() => undefined)));
    page.on('popup', (popup) => {
      void this.#ask({ type: 'may-open', window, url: popup.url() })
        .then((isAllowed) => (isAllowed === true ? undefined : popup.close()))
        .catch(() => undefined);
    });
  }

  async #fulfil(route: Route): Promise<void> {
    const url = route.request().url();
    if (!url.startsWith(`${PAGE_ORIGIN}/`)) return route.abort('blockedbyclient');
    const file = (await this.#ask({ type: 'fetch', url: url.replace(PAGE_ORIGIN, SCHEME_ORIGIN) })) as FetchedFile;
    return route.fulfill({
      status: file.status,
      headers: file.headers,
      body: Buffer.from(file.bodyBase64, 'base64'),
    });
  }
}

/** The built preload, with what a sandboxed preload can require. */
async function preloadScript(file: string): Promise<string> {
  return `(${installPreload.toString()})((require, module, exports) => {\n${await readFile(file, 'utf8')}\n});`;
}

declare const standInReceive: (channel: string, payload: unknown) => void;
declare const standInInvoke: (channel: string, args: unknown[]) => Promise<unknown>;
declare const standInPost: (channel: string, args: unknown[]) => void;

/** Runs in the page, before anything else there; it is sent as text and must use nothing from around it. */
function installPreload(preload: (require: unknown, module: unknown, exports: unknown) => void): void {
  if (window.top !== window) return;
  const listeners = new Map<string, ((event: unknown, payload: unknown) => void)[]>();
  const electron = {
    contextBridge: {
      exposeInMainWorld: (name: string, api: unknown) => Object.defineProperty(window, name, { value: api }),
    },
    ipcRenderer: {
      invoke: (channel: string, ...args: unknown[]) => standInInvoke(channel, args),
      send: (channel: string, ...args: unknown[]) => void standInPost(channel, args),
      on: (channel: string, listener: (event: unknown, payload: unknown) => void) => {
        listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
      },
    },
  };
  Object.defineProperty(window, 'standInReceive', {
    value: (channel: string, payload: unknown) => {
      for (const listener of listeners.get(channel) ?? []) listener({}, payload);
    },
  });
  const module = { exports: {} };
  const require = (name: string): unknown => {
    if (name === 'electron') return electron;
    throw new Error(`A sandboxed preload cannot require ${name}`);
  };
  preload(require, module, module.exports);
}
