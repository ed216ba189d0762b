import { existsSync, globSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'electron-vite';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * The hosts, and every worker thread: a worker is a file `main/<service>/<name>-worker.ts`. All of them land flat in
 * `dist/main`, so that `new URL('./<name>-worker.js', import.meta.url)` is right from whichever chunk asks.
 */
function mainEntries(): Record<string, string> {
  const hosts = ['main/desktop.ts', 'main/headless.ts'].filter((file) => existsSync(resolve(root, file)));
  const files = [...hosts, ...globSync('main/*/*-worker.ts', { cwd: root }).sort()];
  return Object.fromEntries(files.map((file) => [basename(file, '.ts'), resolve(root, file)]));
}

const rendererEntry = resolve(root, 'renderer/index.html');

export default defineConfig({
  main: {
    build: {
      outDir: 'dist/main',
      emptyOutDir: true,
      sourcemap: true,
      rolldownOptions: {
        input: mainEntries(),
        checks: { bundlerTimings: false },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: 'dist/preload',
      emptyOutDir: true,
      sourcemap: true,
      // A sandboxed preload has no module loader: one CommonJS file with everything in it.
      externalizeDeps: false,
      rolldownOptions: {
        input: { bridge: resolve(root, 'preload/bridge.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  ...(existsSync(rendererEntry)
    ? {
        renderer: {
          root: resolve(root, 'renderer'),
          plugins: [svelte()],
          build: {
            outDir: 'dist/renderer',
            emptyOutDir: true,
            sourcemap: true,
            minify: true,
            rolldownOptions: { input: { index: rendererEntry }, checks: { bundlerTimings: false } },
          },
        },
      }
    : {}),
});
