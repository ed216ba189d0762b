import { ThreadedEventVerifier } from '../../main/archive/event-verifier.ts';
import type { SignedEvent } from '../../preload/contract.ts';

/** Events that are on their way to the thread at any time: so many that it never waits for the next ones. */
const IN_FLIGHT = 400;
const STEP = 100;

/**
 * Checks events with the verifier alone, in the pool that Fetch uses, with one thread that is never without work. Waking
 * the thread and warming it up is not measured.
 *
 * @returns events per second.
 */
export async function verifyAlone(events: readonly SignedEvent[]): Promise<number> {
  const verifier = new ThreadedEventVerifier(1);
  try {
    await verifier.verify(events.slice(0, 2000));
    const startedMs = performance.now();
    const waiting: Promise<unknown>[] = [];
    for (let start = 0; start < events.length; start += STEP) {
      const check = verifier.verify(events.slice(start, start + STEP)).then((verdicts) => {
        if (verdicts.some((verdict) => verdict !== 'valid')) throw new Error('the benchmark has an invalid event');
      });
      waiting.push(check);
      if (waiting.length >= IN_FLIGHT / STEP) await waiting.shift();
    }
    await Promise.all(waiting);
    return (events.length * 1000) / (performance.now() - startedMs);
  } finally {
    await verifier.close();
  }
}
