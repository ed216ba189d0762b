// Runs on whatever Node the machine has, so it keeps to what Node 20 knows.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The oldest Node that better-sqlite3 runs on. */
const OLDEST_NODE = 22;

const PINNED_NODE = fileURLToPath(
  new URL(`../node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`, import.meta.url),
);

/** True when the running Node is too old for Holdfast, and the pinned one has to take over. */
export function requirePinnedNode() {
  return Number.parseInt(process.versions.node, 10) < OLDEST_NODE;
}

/** The Node to start child processes with: the running one when it will do, else the pinned one, else null. */
export function suitableNode() {
  if (!requirePinnedNode()) return process.execPath;
  return existsSync(PINNED_NODE) ? PINNED_NODE : null;
}

/**
 * Runs `args` on a Node that will do, in the same terminal, and passes signals on. Resolves to the exit code, with
 * 128 + number for a signal, as shells do; to 1 when there is no such Node.
 */
export function runOnPinnedNode(args, options = {}) {
  const node = suitableNode();
  if (node === null) {
    console.error(
      `Holdfast needs Node ${OLDEST_NODE} or newer; this is ${process.version}, and the pinned one is not installed.`,
    );
    return Promise.resolve(1);
  }
  return exitCodeOf(spawn(node, args, { stdio: 'inherit', ...options }));
}

/**
 * Resolves to the exit code of `child`; meanwhile signals to end go to it. In a terminal, Ctrl-C reaches the child by
 * itself, and passing it on would count as pressing it twice.
 */
export function exitCodeOf(child) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const forward = (signal) => {
    if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`Holdfast could not be started: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}
