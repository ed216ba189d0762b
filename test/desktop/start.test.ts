import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const start = fileURLToPath(new URL('../../bin/start.js', import.meta.url));

interface Started {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs what `npm start` runs, without a display; interrupts it once it has printed an address. */
function runStart(args: string[]): Promise<Started> {
  const child = spawn(process.execPath, [start, ...args], {
    env: { ...process.env, DISPLAY: '', WAYLAND_DISPLAY: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
    if (output.stdout.includes('token=')) child.kill('SIGINT');
  });
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })));
}

it('says in one line why there is no window, serves the browser instead, and ends well when interrupted', async ({
  skip,
}) => {
  skip(process.platform !== 'linux', 'only Linux can be without a display');
  const data = await mkdtemp(join(tmpdir(), 'holdfast-start-'));
  const { code, stdout, stderr } = await runStart(['--data', data]);
  expect(stderr.split('\n')[0]).toBe('There is no display for a window, so Holdfast opens in the browser instead.');
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+\n$/);
  expect(code).toBe(0);
  await rm(data, { recursive: true, force: true });
});

it.each([[['--colour']], [['--data']], [['extra']]])('refuses %j as wrong usage', async (args) => {
  const { code, stdout, stderr } = await runStart(args);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).not.toContain('    at ');
});
