import { spawn, type ChildProcess } from 'node:child_process';
import { afterEach, expect, it } from 'vitest';

const pinnedNode = new URL('../../bin/pinned-node.js', import.meta.url).href;

let wrapper: ChildProcess | null = null;
afterEach(() => wrapper?.kill('SIGKILL'));

/** Runs a script on the Node that will do, by way of a process that only passes on. */
function runWrapped(script: string): { ready: Promise<void>; exitCode: Promise<number | null> } {
  const passOn = `
    import { runOnPinnedNode } from ${JSON.stringify(pinnedNode)};
    process.exitCode = await runOnPinnedNode(['-e', ${JSON.stringify(script)}]);`;
  const started = spawn(process.execPath, ['--input-type=module', '-e', passOn], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  wrapper = started;
  return {
    ready: new Promise((resolve) => started.stdout.once('data', () => resolve())),
    exitCode: new Promise((resolve) => started.once('exit', resolve)),
  };
}

it('passes the exit code on', async () => {
  expect(await runWrapped('process.exit(3)').exitCode).toBe(3);
});

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('passes %s on, once, and waits for the end', async (signal) => {
  const script = `
    let times = 0;
    process.on('${signal}', () => {
      times += 1;
      setTimeout(() => process.exit(40 + times), 50);
    });
    setInterval(() => {}, 1000);
    console.log('ready');`;
  const { ready, exitCode } = runWrapped(script);
  await ready;
  wrapper?.kill(signal);
  expect(await exitCode).toBe(41);
});

it('ends as a shell does when a signal ended the program', async () => {
  expect(await runWrapped("process.kill(process.pid, 'SIGKILL')").exitCode).toBe(128 + 9);
});
