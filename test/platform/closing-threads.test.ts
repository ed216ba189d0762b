import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

const moduleUrl = (path: string): string => JSON.stringify(new URL(`../../main/${path}`, import.meta.url).href);

/** What a process prints that has nothing else to do than to work with a thread and to close it. */
async function printed(script: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  return stdout;
}

it('closing a thread that answers requests ends before the process does', async () => {
  const script = `
    const { Reconciler } = await import(${moduleUrl('fetch/reconciler.ts')});
    const reconciler = new Reconciler('/nowhere/at/all.db');
    await reconciler.open('', { since: null, until: 1 }).catch(() => {});
    await reconciler.close();
    console.log('closed');`;
  expect(await printed(script)).toBe('closed\n');
});

it('closing the threads that check events ends before the process does', async () => {
  const script = `
    const { ThreadedEventVerifier } = await import(${moduleUrl('archive/event-verifier.ts')});
    const hex = (length) => '0'.repeat(length);
    const event = { id: hex(64), pubkey: hex(64), created_at: 1, kind: 1, tags: [], content: '', sig: hex(128) };
    const verifier = new ThreadedEventVerifier(2);
    console.log(await verifier.verify([event]));
    await verifier.close();
    console.log('closed');`;
  expect(await printed(script)).toBe("[ 'wrong-id' ]\nclosed\n");
});
