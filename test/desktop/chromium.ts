import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const CANDIDATES = [
  process.env['HOLDFAST_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The browser of this machine that the end-to-end tests use, or null. */
export const chromiumPath = CANDIDATES.find((path) => path !== undefined && existsSync(path)) ?? null;

let running: Promise<Browser> | null = null;

/** One Chromium for all tests of a file; it keeps to itself and talks to nobody. */
export function sharedChromium(): Promise<Browser> {
  if (chromiumPath === null) throw new Error('There is no Chromium on this machine');
  running ??= chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return running;
}

/** Ends the shared Chromium, if it was started. */
export async function closeSharedChromium(): Promise<void> {
  const closing = running;
  running = null;
  await (await closing)?.close();
}
