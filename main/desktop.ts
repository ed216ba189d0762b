import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { app, BrowserWindow, dialog, ipcMain, Menu, nativeTheme, protocol, screen, session, shell } from 'electron';
import type { MenuItemConstructorOptions, WebContents } from 'electron';
import { contentSecurityPolicy } from './browser-host/content-security-policy.ts';
import { readRendererFile } from './browser-host/renderer-files.ts';
import { startDemo } from './demo/demo.ts';
import { openDemoDirectory, type DemoDirectory } from './demo/demo-directory.ts';
import { prepareSampleAccount } from './demo/sample-account.ts';
import { createEngine } from './engine.ts';
import type { Engine } from './engine-api.ts';
import { Dispatcher } from './ipc/dispatcher.ts';
import { serveElectron } from './ipc/electron-transport.ts';
import { withOpenExternal } from './ipc/open-external.ts';
import { systemClock } from './platform/clock.ts';
import { dataDirectory } from './platform/data-directory.ts';
import { createDirectory } from './platform/create-directory.ts';
import { Fault, toContractError } from './platform/fault.ts';
import { logFile } from './platform/log-file.ts';
import { keepFilesPrivate } from './platform/private-files.ts';
import { VERSION } from './platform/version.ts';
import { MINIMUM_SIZE, readWindowState, windowBounds, writeWindowState } from './platform/window-state.ts';

/** The page has a scheme of its own, so that it has an origin and no access to files. */
const SCHEME = 'holdfast';
const ORIGIN = `${SCHEME}://application`;
/** Set by the development server of the build tool; a packaged application does not listen to it. */
const DEVELOPMENT_ORIGIN = app.isPackaged ? undefined : process.env['ELECTRON_RENDERER_URL'];
const PAGE = DEVELOPMENT_ORIGIN ?? `${ORIGIN}/index.html`;

const RENDERER_DIRECTORY = join(import.meta.dirname, '..', 'renderer');
const PRELOAD = join(import.meta.dirname, '..', 'preload', 'bridge.cjs');

/** What has to be undone at the end, in the order in which it is to be undone. */
const endings: (() => void | Promise<void>)[] = [];
let window: BrowserWindow | null = null;
let isEnding = false;

function readArguments(): { data: string | undefined; demo: boolean } {
  const { values } = parseArgs({
    args: process.argv.slice(app.isPackaged ? 1 : 2),
    options: { data: { type: 'string' }, demo: { type: 'boolean' } },
    // Chromium's own switches come this way too.
    strict: false,
  });
  return { data: typeof values.data === 'string' ? values.data : undefined, demo: values.demo === true };
}

/** Makes a directory, and in it the one that is the window's own. */
function prepareDataDirectory(directory: string): void {
  try {
    createDirectory(join(directory, 'desktop'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault('data-directory-unusable', `The data directory ${directory} cannot be used: ${why}.`, null, error);
  }
}

/** The demo's directory; it is discarded with the process where it is there for this demo only. */
function prepareDemo(data: string | undefined): DemoDirectory {
  const directory = openDemoDirectory(data === undefined ? null : dataDirectory(data), systemClock.nowMs());
  process.once('exit', () => directory.discard());
  return directory;
}

async function startEngine(directory: string, demo: DemoDirectory | null): Promise<Engine> {
  const options = { dataDirectory: directory, host: 'desktop', version: VERSION, mode: 'owner' } as const;
  const log = logFile(directory, systemClock);
  if (demo === null) {
    const engine = await createEngine({ ...options, log });
    endings.push(() => engine.close());
    return engine;
  }
  const sample = await startDemo({ ports: demo.ports });
  endings.push(() => sample.close());
  const engine = await createEngine({ ...options, log, demo: true });
  endings.unshift(() => engine.close());
  demo.rememberPorts(sample.relays.map(({ port }) => port));
  await prepareSampleAccount(engine, sample);
  return engine;
}

function isOwnPage(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  return DEVELOPMENT_ORIGIN === undefined
    ? `${parsed.protocol}//${parsed.host}` === ORIGIN
    : parsed.origin === new URL(DEVELOPMENT_ORIGIN).origin;
}

function servePage(): void {
  protocol.handle(SCHEME, async (request) => {
    const url = new URL(request.url);
    const file = isOwnPage(request.url) ? await readRendererFile(RENDERER_DIRECTORY, url.pathname) : null;
    if (file === null) return new Response('Not found', { status: 404 });
    return new Response(file.body, {
      headers: {
        'Content-Type': file.contentType,
        'Content-Security-Policy': contentSecurityPolicy(),
        'X-Content-Type-Options': 'nosniff',
      },
    });
  });
}

/** A page may copy text when the user says so, and is allowed nothing else. */
function denyPermissions(): void {
  const mayCopy = (permission: string, url: string | undefined): boolean =>
    permission === 'clipboard-sanitized-write' && url !== undefined && isOwnPage(url);
  session.defaultSession.setPermissionRequestHandler((_contents, permission, answer, details) => {
    answer(mayCopy(permission, details.requestingUrl));
  });
  session.defaultSession.setPermissionCheckHandler((_contents, permission, origin) => mayCopy(permission, origin));
}

/** Nothing leads out of the page: no other page, no window, no embedded content. */
function confine(contents: WebContents): void {
  contents.on('will-navigate', (event) => event.preventDefault());
  contents.on('will-redirect', (event) => event.preventDefault());
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
}

function openWindow(stateFile: string): void {
  const remembered = readWindowState(stateFile);
  const primary = screen.getPrimaryDisplay();
  const others = screen.getAllDisplays().filter(({ id }) => id !== primary.id);
  const opened = new BrowserWindow({
    ...windowBounds(
      remembered,
      [primary, ...others].map(({ workArea }) => workArea),
    ),
    minWidth: MINIMUM_SIZE.width,
    minHeight: MINIMUM_SIZE.height,
    show: false,
    title: 'Holdfast',
    // What shows until the page has drawn itself.
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#16181c' : '#ffffff',
    autoHideMenuBar: true,
    webPreferences: {
      preload: PRELOAD,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webSecurity: true,
      spellcheck: false,
    },
  });
  window = opened;
  if (remembered?.maximized === true) opened.maximize();
  opened.once('ready-to-show', () => opened.show());
  opened.on('close', () => {
    writeWindowState(stateFile, { bounds: opened.getNormalBounds(), maximized: opened.isMaximized() });
  });
  opened.on('closed', () => {
    window = null;
  });
  opened.loadURL(PAGE).catch((error: unknown) => {
    // A window that was closed while it loaded is no failure.
    if (!isEnding && !opened.isDestroyed()) fail(error);
  });
}

function setMenu(): void {
  const template: MenuItemConstructorOptions[] = [
    ...(process.platform === 'darwin' ? [{ role: 'appMenu' as const }] : [{ role: 'fileMenu' as const }]),
    { role: 'editMenu' },
    {
      label: 'View',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        ...(app.isPackaged ? [] : [{ role: 'toggleDevTools' as const }]),
      ],
    },
    { role: 'windowMenu' },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}

function showWindow(): void {
  if (window === null) return;
  if (window.isMinimized()) window.restore();
  window.focus();
}

/** Stops everything cleanly, once, and leaves with the exit code. */
async function end(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  for (const ending of endings.splice(0)) {
    try {
      await ending();
    } catch (error) {
      process.stderr.write(`${toContractError(error).message}\n`);
      code = 1;
    }
  }
  app.exit(code);
}

/** Says what went wrong, in the one message that belongs to it, and leaves with the exit code that a command would have. */
function fail(thrown: unknown): void {
  const error = toContractError(thrown);
  dialog.showErrorBox('Holdfast cannot go on', error.message);
  void end(error.code === 'invalid-argument' ? 2 : 1);
}

async function start(): Promise<void> {
  app.setName('Holdfast');
  keepFilesPrivate();
  const { data, demo: isDemo } = readArguments();
  const demo = isDemo ? prepareDemo(data) : null;
  const directory = demo?.path ?? dataDirectory(data);
  prepareDataDirectory(directory);
  // Chromium's profile lies with the data, so that the lock below is one per data directory.
  app.setPath('userData', join(directory, 'desktop'));
  if (!app.requestSingleInstanceLock()) {
    app.exit(0);
    return;
  }
  protocol.registerSchemesAsPrivileged([
    { scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
  const stateFile = join(directory, 'desktop', 'window.json');
  app.on('second-instance', showWindow);
  app.on('web-contents-created', (_event, contents) => confine(contents));
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  app.on('activate', () => {
    if (window === null && !isEnding) openWindow(stateFile);
  });
  app.on('before-quit', (event) => {
    event.preventDefault();
    void end(0);
  });

  await app.whenReady();
  const engine = await startEngine(directory, demo);
  const dispatcher = new Dispatcher({
    methods: withOpenExternal(engine.methods, (url) => shell.openExternal(url)),
    topics: engine.topics,
    clock: systemClock,
    onDefect: (thrown) => process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  });
  endings.unshift(serveElectron({ ipc: ipcMain, dispatcher, isOwnPage }));
  setMenu();
  denyPermissions();
  servePage();
  openWindow(stateFile);
}

start().catch(fail);
