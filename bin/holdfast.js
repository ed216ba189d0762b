#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { requirePinnedNode, runOnPinnedNode } from './pinned-node.js';

const host = new URL('../dist/main/headless.js', import.meta.url);

if (!existsSync(host)) {
  console.error('Holdfast is not built yet: run `npm ci` (or `npm run build`) in its directory first.');
  process.exitCode = 1;
} else if (requirePinnedNode()) {
  process.exitCode = await runOnPinnedNode([fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
} else {
  await import(host.href);
}
