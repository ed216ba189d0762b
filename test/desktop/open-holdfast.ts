import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, type BrowserContext, type Page } from 'playwright-core';
import { chromiumPath, sharedChromium } from './chromium.ts';
import { StandIn } from './electron-stand-in/stand-in-window.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** `desktop`: the window of the built application. `browser`: the page that the headless host serves. */
export type HostName = 'desktop' | 'browser';

export interface OpenOptions {
  host?: HostName;
  /** With three relays of its own and a sample account. */
  demo?: boolean;
  theme?: 'light' | 'dark';
  /** A data directory that outlives the window; otherwise one that goes with it. */
  dataDirectory?: string;
  /** Size of the page; otherwise what the application chooses, or 1280 × 820 in a browser. */
  size?: { width: number; height: number };
}

export interface OpenHoldfast {
  page: Page;
  dataDirectory: string;
  /** Errors and warnings of the page, so far. */
  problems: string[];
  /** Writes `<name>.png` to the directory named by HOLDFAST_SCREENSHOTS, if it names one. */
  screenshot(name: string): Promise<void>;
  /** Quits as a person does, and resolves to the exit code. */
  close(): Promise<number>;
}

/** How long one action in the page may take before the test says which it was. */
const ACTION_MS = 15_000;

const electronBinary = findElectron();

/** How the desktop window is driven on this machine. */
export const desktopKind: 'electron' | 'stand-in' = electronBinary === null ? 'stand-in' : 'electron';

/** Why the end-to-end tests cannot run here, or null when they can. */
export const whyNot: string | null = chromiumPath === null ? 'there is no Chromium on this machine' : null;

/** Opens the built application. Rejects with its own words when it does not start. */
export async function openHoldfast(options: OpenOptions = {}): Promise<OpenHoldfast> {
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'holdfast-test-')));
  const discard = async (): Promise<void> => {
    if (options.dataDirectory === undefined) await rm(dataDirectory, { recursive: true, force: true, maxRetries: 3 });
  };
  const opened = await open(options, dataDirectory).catch(async (error: unknown) => {
    await discard();
    throw error;
  });
  const { page } = opened;
  page.setDefaultTimeout(ACTION_MS);
  await page.emulateMedia({ colorScheme: options.theme ?? 'light', reducedMotion: 'reduce' });
  if (options.size !== undefined) await page.setViewportSize(options.size);
  let closing: Promise<number> | null = null;
  return {
    page,
    dataDirectory,
    problems: opened.problems,
    async screenshot(name) {
      const directory = process.env['HOLDFAST_SCREENSHOTS'];
      if (directory === undefined || directory === '') return;
      await mkdir(directory, { recursive: true });
      await page.screenshot({ path: join(directory, `${name}.png`) });
    },
    close() {
      closing ??= (async () => {
        const code = await opened.close();
        await discard();
        return code;
      })();
      return closing;
    },
  };
}

interface Opened {
  page: Page;
  problems: string[];
  close(): Promise<number>;
}

function open(options: OpenOptions, dataDirectory: string): Promise<Opened> {
  if (options.host === 'browser') return openBrowser(options, dataDirectory);
  return electronBinary === null
    ? openStandIn(options, dataDirectory)
    : openElectron(electronBinary, options, dataDirectory);
}

function desktopArguments(options: OpenOptions, dataDirectory: string): string[] {
  return options.demo === true ? ['--demo'] : ['--data', dataDirectory];
}

async function openElectron(executablePath: string, options: OpenOptions, dataDirectory: string): Promise<Opened> {
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const args = [root, ...sandbox, ...desktopArguments(options, dataDirectory)];
  const electron = await _electron.launch({ executablePath, args });
  const exited = new Promise<number>((resolve) => electron.process().once('exit', (code) => resolve(code ?? -1)));
  const page = await electron.firstWindow();
  return {
    page,
    problems: watchForProblems(page),
    async close() {
      await electron.evaluate(({ app }) => app.quit()).catch(() => undefined);
      return exited;
    },
  };
}

async function openStandIn(options: OpenOptions, dataDirectory: string): Promise<Opened> {
  const context = await newContext(options);
  const problems: string[] = [];
  context.on('page', (page) => watchForProblems(page, problems));
  const standIn = startStandIn(context, desktopArguments(options, dataDirectory), options.theme);
  const page = await standIn.firstPage();
  return {
    page,
    problems,
    async close() {
      const code = await standIn.quit();
      await context.close();
      return code;
    },
  };
}

/** Starts the built main process on the stand-in, for tests that look at how it starts and ends. */
export function startStandIn(context: BrowserContext, args: string[], theme: OpenOptions['theme'] = 'light'): StandIn {
  return new StandIn({
    main: join(root, 'dist/main/desktop.js'),
    args,
    environment: { ...process.env, HOLDFAST_STAND_IN_THEME: theme },
    context,
  });
}

/** A browser profile of its own, with the theme. */
export async function newContext(options: OpenOptions = {}): Promise<BrowserContext> {
  const browser = await sharedChromium();
  return browser.newContext({
    colorScheme: options.theme ?? 'light',
    reducedMotion: 'reduce',
    viewport: options.size ?? { width: 1280, height: 820 },
  });
}

async function openBrowser(options: OpenOptions, dataDirectory: string): Promise<Opened> {
  const command = options.demo === true ? ['demo'] : ['--data', dataDirectory, 'serve'];
  const host = spawn(process.execPath, [join(root, 'bin/holdfast.js'), ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number>((resolve) => host.once('exit', (code) => resolve(code ?? -1)));
  const address = await new Promise<string>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/.exec(output);
      if (found !== null) resolve(found[0]);
    };
    host.stdout.on('data', read);
    host.stderr.on('data', read);
    void exited.then((code) => reject(new Error(`Holdfast ended with exit code ${code}: ${output}`)));
  });
  const context = await newContext(options);
  const page = await context.newPage();
  const problems = watchForProblems(page);
  await page.goto(address);
  return {
    page,
    problems,
    async close() {
      await context.close();
      host.kill('SIGINT');
      return exited;
    },
  };
}

function watchForProblems(page: Page, problems: string[] = []): string[] {
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  return problems;
}

/** Electron's binary, where it is installed and there is a display for it. */
function findElectron(): string | null {
  const hasDisplay = process.platform !== 'linux' || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']);
  const pathFile = join(root, 'node_modules/electron/path.txt');
  if (!hasDisplay || !existsSync(pathFile)) return null;
  const binary = join(root, 'node_modules/electron/dist', readFileSync(pathFile, 'utf8'));
  return existsSync(binary) ? binary : null;
}
