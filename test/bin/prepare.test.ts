import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

it('what npx links is what was built: nothing is built again, and no file changes', () => {
  const host = pathOf('dist/main/headless.js');
  const before = statSync(host);
  const { status, stdout, stderr } = spawnSync(process.execPath, [pathOf('bin/prepare.js')], {
    env: { ...process.env, npm_command: 'exec' },
    encoding: 'utf8',
  });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
  expect(statSync(host).mtimeMs).toBe(before.mtimeMs);
});

it('the command is committed as npm installs it, so that installing it changes no file', () => {
  if (process.platform === 'win32') return;
  const { bin } = JSON.parse(readFileSync(pathOf('package.json'), 'utf8')) as { bin: Record<string, string> };
  for (const path of Object.values(bin)) expect(statSync(pathOf(path)).mode & 0o111).toBe(0o111);
});
