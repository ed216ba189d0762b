import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const report = v.object({
  summary: v.object({
    violations: v.array(v.object({ from: v.string(), rule: v.object({ name: v.string() }) })),
  }),
});

let project: string;

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'holdfast-layers-'));
  await writeFile(
    join(project, 'tsconfig.json'),
    '{"compilerOptions":{"allowImportingTsExtensions":true,"noEmit":true}}',
  );
});

afterEach(() => rm(project, { recursive: true, force: true }));

/** The rules that a project of these files breaks, as `rule: file`. */
async function broken(files: Record<string, string>): Promise<string[]> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const folders = [...new Set(Object.keys(files).map((path) => path.split('/')[0] ?? path))];
  const config = join(root, '.dependency-cruiser.js');
  const command = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const output = await new Promise<string>((resolve) => {
    const args = [command, '--config', config, '--output-type', 'json', ...folders];
    execFile(process.execPath, args, { cwd: project }, (_error, stdout) => resolve(stdout));
  });
  const { summary } = v.parse(report, JSON.parse(output));
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).sort();
}

const anything = 'export const thing = 1;\n';

it('lets every layer import from those below it, and everything import the contract', async () => {
  const files = {
    'preload/contract.ts': anything,
    'main/platform/clock.ts': anything,
    'main/database/file.ts': "import '../platform/clock.ts';\n",
    'main/archive/store.ts': "import '../database/file.ts';\nimport '../../preload/contract.ts';\n",
    'main/fetch/walk.ts': "import '../archive/store.ts';\n",
    'main/ipc/service-table.ts': "import '../../preload/contract.ts';\n",
    'main/engine.ts': "import './fetch/walk.ts';\nimport './ipc/service-table.ts';\n",
    'main/ipc/dispatcher.ts': "import './service-table.ts';\n",
    'main/browser-host/host.ts': "import '../ipc/dispatcher.ts';\n",
    'main/headless.ts': "import './engine.ts';\nimport './browser-host/host.ts';\n",
    'renderer/page.ts': "import '../preload/contract.ts';\n",
  };
  expect(await broken(files)).toEqual([]);
});

/** Wrong imports of every kind, each in a file of its own. */
const wrong = {
  'preload/bridge.ts': "import '../main/platform/clock.ts';\n",
  'main/platform/clock.ts': anything,
  'main/database/upwards.ts': "import '../fetch/walk.ts';\n",
  'main/fetch/walk.ts': anything,
  'main/relays/type-upwards.ts': "import type { Tree } from '../coverage/tree.ts';\nexport type Own = Tree;\n",
  'main/coverage/tree.ts': 'export interface Tree { size: number }\n',
  'main/engine.ts': "import './ipc/dispatcher.ts';\n",
  'main/ipc/dispatcher.ts': anything,
  'main/misc/thing.ts': "import '../platform/clock.ts';\n",
  'main/archive/window.ts': "import 'electron';\n",
  'node_modules/electron/index.js': anything,
  'renderer/reaches-main.ts': "import '../main/platform/clock.ts';\n",
  'renderer/uses-node.ts': "import 'node:fs';\n",
  'renderer/page.ts': anything,
  'main/fetch/reaches-renderer.ts': "import '../../renderer/page.ts';\n",
  'main/fetch/one.ts': "import './two.ts';\nexport const one = 1;\n",
  'main/fetch/two.ts': "import './one.ts';\nexport const two = 2;\n",
  'main/fetch/nowhere.ts': "import './nothing.ts';\n",
  'main/sync/sideways.ts': "import '../fetch/walk.ts';\nimport './beside.ts';\n",
  'main/sync/beside.ts': anything,
  'main/repositories/type-sideways.ts': "import type { Copy } from '../legacy/copy.ts';\nexport type Own = Copy;\n",
  'main/legacy/copy.ts': 'export interface Copy { size: number }\n',
};

it('refuses every kind of wrong import, and nothing beside', async () => {
  expect(await broken(wrong)).toEqual([
    'database-import-downwards: main/database/upwards.ts',
    'electron-only-in-the-desktop-host: main/archive/window.ts',
    'engine-import-downwards: main/engine.ts',
    'events-and-relays-import-downwards: main/relays/type-upwards.ts',
    'every-module-has-a-layer: main/misc/thing.ts',
    'main-does-not-know-interfaces: main/fetch/reaches-renderer.ts',
    'no-cycles: main/fetch/one.ts',
    'preload-knows-only-itself: preload/bridge.ts',
    'renderer-has-no-node: renderer/uses-node.ts',
    'renderer-knows-only-the-contract: renderer/reaches-main.ts',
    'resolvable: main/fetch/nowhere.ts',
    'services-do-not-import-each-other: main/repositories/type-sideways.ts',
    'services-do-not-import-each-other: main/sync/sideways.ts',
  ]);
});
