import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { ThreadedEventVerifier } from '../../main/archive/event-verifier.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { withBadSignature, withChangedContent } from '../relays/behaviours/corruption.ts';
import { buildEvent, buildHistory } from '../relays/event-builder.ts';
import { HARD_TEXTS } from './event-texts.ts';

const history = buildHistory({ count: 400, from: 1, to: 400 });
/** Every third has a bad signature, every fifth a changed text. */
const mixed: SignedEvent[] = history.map((event, index) =>
  index % 3 === 0 ? withBadSignature(event) : index % 5 === 0 ? withChangedContent(event) : event,
);
const verdicts = history.map((_, index) =>
  index % 3 === 0 ? 'bad-signature' : index % 5 === 0 ? 'wrong-id' : 'valid',
);

/** A pool, with the worker threads that it has started. */
function startPool(threads: number): { pool: ThreadedEventVerifier; workers: Worker[] } {
  const workers: Worker[] = [];
  const note = (worker: Worker): unknown => workers.push(worker);
  process.on('worker', note);
  const pool = new ThreadedEventVerifier(threads);
  onTestFinished(async () => {
    process.off('worker', note);
    await pool.close();
  });
  return { pool, workers };
}

/** Node tells of a new thread in a later turn, long before the thread can have answered. */
function untilStarted(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('verdicts come in the order of the events, whichever thread gave them', async () => {
  const { pool } = startPool(3);

  expect(await Promise.all([pool.verify(mixed), pool.verify(mixed.slice(7, 50)), pool.verify([])])).toEqual([
    verdicts,
    verdicts.slice(7, 50),
    [],
  ]);
});

test('no thread starts before there is something to check', async () => {
  const { pool, workers } = startPool(2);
  expect(await pool.verify([])).toEqual([]);
  await untilStarted();
  expect(workers).toHaveLength(0);

  await pool.verify(mixed.slice(0, 1));

  expect(workers).toHaveLength(2);
});

test('text that is no valid Unicode reaches the threads unchanged', async () => {
  const { pool } = startPool(1);
  const events = HARD_TEXTS.map((text) => buildEvent({ content: text, tags: [[text]] }));

  expect(new Set(await pool.verify(events))).toEqual(new Set(['valid']));
});

test('a thread that dies gives its work back to the others', async () => {
  const { pool, workers } = startPool(2);
  const asked = pool.verify(mixed);
  await untilStarted();
  expect(workers).toHaveLength(2);

  await workers[0]?.terminate();

  expect(await asked).toEqual(verdicts);
  expect(await pool.verify(mixed)).toEqual(verdicts);
});

test('without any thread left, events are checked all the same', async () => {
  const { pool, workers } = startPool(2);
  const asked = pool.verify(mixed);
  await untilStarted();
  expect(workers).toHaveLength(2);

  await Promise.all(workers.map((worker) => worker.terminate()));

  expect(await asked).toEqual(verdicts);
  expect(await pool.verify(mixed.slice(0, 10))).toEqual(verdicts.slice(0, 10));
});

test('a pool that never had a thread checks events all the same', async () => {
  const { pool } = startPool(0);

  expect(await pool.verify(mixed.slice(0, 40))).toEqual(verdicts.slice(0, 40));
});

test('closing refuses what is not checked yet, and everything after it', async () => {
  const { pool } = startPool(1);
  const asked = pool.verify(mixed);
  const outcome = expect(asked).rejects.toMatchObject({ code: 'cancelled' });

  await pool.close();

  await outcome;
  await expect(pool.verify(mixed)).rejects.toMatchObject({ code: 'cancelled' });
});
