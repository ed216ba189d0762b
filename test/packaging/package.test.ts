import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Marks the fuses in Electron's binary: then a version, a length, and one character for each fuse. */
const FUSE_SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const FUSES = ['RunAsNode', 'CookieEncryption', 'NodeOptions', 'NodeCliInspect', 'AsarIntegrity', 'OnlyAsar'] as const;

let directory: string;
let resources: string;
let packed: string[];

/** As much of an Electron distribution as the packager looks at. */
async function writeStandInElectron(electron: string): Promise<void> {
  await mkdir(join(electron, 'resources'), { recursive: true });
  await mkdir(join(electron, 'locales'));
  await writeFile(join(electron, 'electron'), `stand-in ${FUSE_SENTINEL}\x01\x0810110001`);
  await chmod(join(electron, 'electron'), 0o755);
  await writeFile(join(electron, 'LICENSE'), '');
  await writeFile(join(electron, 'version'), '0.0.0');
}

const whyNot = process.platform === 'linux' ? null : 'the stand-in for Electron looks like the one for Linux';

describe('the package for Linux', () => {
  beforeEach(({ skip }) => skip(whyNot !== null, whyNot ?? undefined));

  beforeAll(async () => {
    if (whyNot !== null) return;
    directory = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
    const electron = join(directory, 'electron');
    await writeStandInElectron(electron);
    await run(
      process.execPath,
      [
        join(root, 'node_modules/electron-builder/cli.js'),
        '--dir',
        '--linux',
        `-c.electronDist=${electron}`,
        `-c.directories.output=${join(directory, 'release')}`,
      ],
      { cwd: root },
    );
    const unpacked = (await readdir(join(directory, 'release'))).find((name) => name.endsWith('unpacked')) ?? '';
    resources = join(directory, 'release', unpacked, 'resources');
    const asar = join(root, 'node_modules/.bin/asar');
    const { stdout } = await run(process.execPath, [asar, 'list', join(resources, 'app.asar')], { maxBuffer: 1 << 24 });
    packed = stdout.split('\n').filter((line) => line !== '');
  });

  afterAll(async () => {
    if (whyNot === null) await rm(directory, { recursive: true, force: true });
  });

  it('holds what was built', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        '/package.json',
        '/dist/main/desktop.js',
        '/dist/main/verify-worker.js',
        '/dist/preload/bridge.cjs',
        '/dist/renderer/index.html',
      ]),
    );
  });

  it('holds nothing of the sources, the tests or the tools', () => {
    const topLevel = new Set(packed.map((path) => path.split('/')[1]));
    expect([...topLevel].sort()).toEqual(['dist', 'node_modules', 'package.json']);
    expect(
      packed.filter((path) => /^\/node_modules\/(electron|vite|vitest|typescript|svelte|node)\//.test(path)),
    ).toEqual([]);
  });

  it('holds every dependency that the built hosts import', async () => {
    const packages = new Set<string>();
    for (const name of await readdir(join(root, 'dist/main'))) {
      if (!name.endsWith('.js')) continue;
      const text = await readFile(join(root, 'dist/main', name), 'utf8');
      for (const [, specifier = ''] of text.matchAll(/^import (?:[^"']* from )?"([^."][^"]*)";$/gm)) {
        if (specifier.startsWith('node:') || specifier === 'electron') continue;
        packages.add(specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
      }
    }
    expect(packages).toContain('better-sqlite3');
    for (const name of packages) expect(packed).toContain(`/node_modules/${name}/package.json`);
  });

  it("keeps SQLite's library of this platform beside the archive, and no other platform's", async () => {
    const prebuilds = join(resources, 'app.asar.unpacked/node_modules/better-sqlite3/prebuilds');
    expect(existsSync(join(prebuilds, `linux-${process.arch}.node`))).toBe(true);
    expect((await readdir(prebuilds)).filter((name) => !name.startsWith('linux'))).toEqual([]);
  });

  it('sets the fuses of the binary', async () => {
    const binary = await readFile(join(resources, '..', 'holdfast'), 'latin1');
    const wire = binary.slice(binary.indexOf(FUSE_SENTINEL) + FUSE_SENTINEL.length + 2);
    const state = Object.fromEntries(FUSES.map((fuse, index) => [fuse, wire[index] === '1']));
    expect(state).toEqual({
      RunAsNode: false,
      CookieEncryption: true,
      NodeOptions: false,
      NodeCliInspect: false,
      AsarIntegrity: true,
      OnlyAsar: true,
    });
  });
});
