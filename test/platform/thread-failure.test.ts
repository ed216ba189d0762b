import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Reconciler } from '../../main/fetch/reconciler.ts';
import { Fault } from '../../main/platform/fault.ts';
import { RequestThread } from '../../main/platform/request-thread.ts';
import { fromThreadFailure } from '../../main/platform/thread-failure.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import type { FailureRequest } from './failing-thread.ts';

function failingThread(): RequestThread<FailureRequest, string> {
  const thread = new RequestThread<FailureRequest, string>(new URL('./failing-thread.ts', import.meta.url));
  onTestFinished(() => thread.close());
  return thread;
}

describe('what a thread throws', () => {
  test('is the same Fault on the asking side', async () => {
    const fault = await thrownFault(() => failingThread().ask('fault'));
    expect(fault.code).toBe('database-damaged');
    expect(fault.message).toBe('The pages make no sense.');
    expect(fault.details).toEqual({ path: '/data/holdfast.db', pages: [3, 7] });
  });

  test.each<[FailureRequest, string]>([
    ['error', 'a defect'],
    ['text', 'words'],
  ])('that is no Fault (%s) does not become one', async (request, message) => {
    const thrown: unknown = await failingThread()
      .ask(request)
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(Fault);
    expect(thrown).toMatchObject({ message });
  });

  test('leaves the thread ready for the next request', async () => {
    const thread = failingThread();
    await expect(thread.ask('error')).rejects.toThrow();
    expect(await thread.ask('nothing')).toBe('done');
  });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['bare words', 'storage'],
  ['a code that the contract does not know', { code: 'toString', message: 'words', details: null }],
  ['a message that is none', { code: 'storage', message: 7, details: null }],
  ['details that are none', { code: 'storage', message: 'words', details: 'more words' }],
])('%s is no telling of a failure, and is told as a defect', (_what, told) => {
  const error = fromThreadFailure(told);
  expect(error).not.toBeInstanceOf(Fault);
  expect(error.message).toContain('did not tell why');
});

describe('an archive that cannot be read for a comparison', () => {
  async function fault(path: string): Promise<Fault> {
    const reconciler = new Reconciler(path);
    onTestFinished(() => reconciler.close());
    return thrownFault(() => reconciler.open('a'.repeat(64), { since: null, until: 1 }));
  }

  test('because it is not there, is a fault of storage', async () => {
    const path = join(scratchDirectory(), 'holdfast.db');
    expect(await fault(path)).toMatchObject({ code: 'storage', details: { path } });
  });

  test('because it is no database, is damage', async () => {
    const path = join(scratchDirectory(), 'holdfast.db');
    writeFileSync(path, 'no database at all, but long enough to look like something that might be one'.repeat(40));
    expect(await fault(path)).toMatchObject({ code: 'database-damaged', details: { path } });
  });
});
