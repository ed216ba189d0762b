// `npm start`: the desktop window where it can be had, else the same interface in the browser.
//   npm start -- [--data DIR] [--demo]
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { exitCodeOf, suitableNode } from './pinned-node.js';

/** How long Electron's binary may take to come; npm does not install it by itself. */
const DOWNLOAD_MS = 180_000;
/** What a shell, and so Electron's loader, exits with when a shared library is missing. */
const CANNOT_EXECUTE = 127;
/** How the host says that it was interrupted while it could have gone on: for a server, its usual end. */
const INTERRUPTED = 3;

const root = fileURLToPath(new URL('../', import.meta.url));
const electronDirectory = new URL('../node_modules/electron/', import.meta.url);

/** The path of Electron's binary, or null when it is not there. */
function electronBinary() {
  const pathFile = new URL('path.txt', electronDirectory);
  if (!existsSync(pathFile)) return null;
  const binary = new URL(`dist/${readFileSync(pathFile, 'utf8')}`, electronDirectory);
  return existsSync(binary) ? fileURLToPath(binary) : null;
}

/** Tries once to fetch Electron's binary; whether that worked is seen afterwards. */
async function fetchElectron(node) {
  const installer = new URL('install.js', electronDirectory);
  if (!existsSync(installer)) return;
  console.error("Fetching Electron's binary, once …");
  const child = spawn(node, [fileURLToPath(installer)], { stdio: 'ignore', timeout: DOWNLOAD_MS });
  await exitCodeOf(child);
}

function hasDisplay() {
  if (process.platform !== 'linux') return true;
  return Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/** Opens the window and resolves to its exit code, or to a sentence that says why there is no window. */
async function openWindow(node, options) {
  if (!hasDisplay()) return 'There is no display for a window';
  if (process.platform === 'linux' && process.getuid() === 0) return 'Electron keeps its sandbox, and root has none';
  if (electronBinary() === null) await fetchElectron(node);
  const binary = electronBinary();
  if (binary === null) return "Electron's binary cannot be had here";
  const code = await exitCodeOf(spawn(binary, [root, ...options], { stdio: 'inherit' }));
  return code === CANNOT_EXECUTE ? 'Electron lacks a library of the system' : code;
}

/** Serves the interface, opens the browser at its address, and resolves to the exit code of the host. */
async function serveToBrowser(node, { data, demo }) {
  const command = [...(data === undefined ? [] : ['--data', data]), demo ? 'demo' : 'serve'];
  const host = spawn(node, [fileURLToPath(new URL('holdfast.js', import.meta.url)), ...command], {
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  let output = '';
  host.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    if (output === null) return;
    output += chunk;
    const address = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/.exec(output);
    if (address === null) return;
    output = null;
    openBrowser(address[0]);
  });
  const code = await exitCodeOf(host);
  return code === INTERRUPTED ? 0 : code;
}

/** Asks the system to open `address`. Nothing is lost when it cannot: the host has printed the address. */
function openBrowser(address) {
  if (!hasDisplay()) return;
  const commands = {
    darwin: ['open', address],
    win32: ['rundll32', 'url.dll,FileProtocolHandler', address],
  };
  const [command, ...args] = commands[process.platform] ?? ['xdg-open', address];
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  child.once('error', () => {});
  child.unref();
}

async function start() {
  const { values } = parseArgs({ options: { data: { type: 'string' }, demo: { type: 'boolean', default: false } } });
  const node = suitableNode();
  if (node === null) throw new Error(`Holdfast needs Node 22 or newer; this is ${process.version}.`);
  const options = [...(values.data === undefined ? [] : ['--data', values.data]), ...(values.demo ? ['--demo'] : [])];
  const outcome = await openWindow(node, options);
  if (typeof outcome === 'number') return outcome;
  console.error(`${outcome}, so Holdfast opens in the browser instead.`);
  return serveToBrowser(node, values);
}

try {
  process.exitCode = await start();
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
