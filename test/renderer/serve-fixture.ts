import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { chromium, type Browser } from 'playwright-core';
import { build, preview } from 'vite';

export interface ServedFixture {
  /** Where the interface over the fixture world is served. */
  origin: string;
  browser: Browser;
  close(): Promise<void>;
}

/** Builds the interface over the fixture world and serves it on loopback, beside a Chromium to look at it with. */
export async function serveFixture(): Promise<ServedFixture> {
  const built = await mkdtemp(join(tmpdir(), 'holdfast-interface-'));
  await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'warn',
    plugins: [svelte({ configFile: false })],
    build: { outDir: built, emptyOutDir: true, modulePreload: { polyfill: false } },
  });
  const server = await preview({
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'warn',
    build: { outDir: built },
    preview: { port: 0, host: '127.0.0.1' },
  });
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return {
    origin: server.resolvedUrls?.local[0] ?? '',
    browser,
    async close() {
      await browser.close();
      await server.close();
      await rm(built, { recursive: true, force: true });
    },
  };
}
