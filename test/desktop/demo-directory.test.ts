import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { it } from './holdfast-test.ts';
import { desktopKind, newContext, startStandIn } from './open-holdfast.ts';

const NPUB = 'npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6';

const command = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const holdfast = (...args: string[]) => promisify(execFile)(process.execPath, [command, ...args]);

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-demo-test-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('a demo in a directory of its own, in the window', () => {
  it('goes on with its account and its relays another time', async ({ open, skip }) => {
    expect(open).toBeDefined();
    skip(desktopKind === 'electron', 'what is looked at is the host, which is the same on the stand-in');
    const data = join(directory, 'demo');
    const marks: string[] = [];
    const context = await newContext();
    for (let start = 0; start < 2; start += 1) {
      const standIn = startStandIn(context, ['--demo', '--data', data]);
      const page = await standIn.firstPage();
      await page.getByRole('heading', { name: 'mira' }).waitFor();
      expect(await standIn.quit()).toBe(0);
      marks.push(await readFile(join(data, 'demo.json'), 'utf8'));
    }
    await context.close();
    expect(marks[1]).toBe(marks[0]);
    const { stdout } = await holdfast('--data', data, '--json', 'account', 'list');
    const ports = (JSON.parse(marks[0] ?? '') as { ports: number[] }).ports;
    expect(JSON.parse(stdout)).toMatchObject([
      { label: 'mira', relays: ports.map((port) => ({ url: `ws://127.0.0.1:${port}`, write: true })) },
    ]);
  });

  it('refuses a directory with an archive that is not a demo’s, with exit code 2', async ({ open, skip }) => {
    expect(open).toBeDefined();
    skip(desktopKind === 'electron', 'an error box of Electron waits for a click');
    const data = join(directory, 'archive');
    await holdfast('--data', data, 'account', 'add', NPUB, '--write', 'ws://127.0.0.1:9');
    const context = await newContext();
    const standIn = startStandIn(context, ['--demo', '--data', data]);
    expect(await standIn.exited).toBe(2);
    expect(standIn.errorBoxes.map(({ content }) => content)).toEqual([expect.stringContaining('not a demo’s')]);
    await context.close();
    expect(existsSync(join(data, 'demo.json'))).toBe(false);
    expect(existsSync(join(data, 'desktop'))).toBe(false);
  });
});
