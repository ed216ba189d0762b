import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createEngine } from '../../main/engine.ts';
import { Dispatcher } from '../../main/ipc/dispatcher.ts';
import { systemClock } from '../../main/platform/clock.ts';

/** How often the delay of the event loop is sampled; a sample counts the time by which it came later than this. */
const RESOLUTION_MS = 1;

export interface MeasuredFetch {
  eventsPerSecond: number;
  /** By how much the main thread's samples came too late, in milliseconds. */
  delay: { p50: number; p99: number; max: number };
  /** Snapshots that the attached interface received. */
  snapshots: number;
}

/**
 * One fetch of an account from one relay into a fresh archive, by an engine of this process with one verifier thread,
 * while an interface is attached as a window would be: it follows activity, coverage and accounts, and reads what it
 * gets as JSON. Measured is the time from the command to the end of the run.
 *
 * @throws when the fetch does not bring all `expected` events.
 */
export async function measureFetch(options: {
  relay: string;
  account: string;
  pageLimit: number;
  expected: number;
}): Promise<MeasuredFetch> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const engine = await createEngine({
    dataDirectory,
    host: 'browser',
    version: '0.0.0',
    mode: 'owner',
    verifierThreads: 1,
  });
  const dispatcher = new Dispatcher({ methods: engine.methods, topics: engine.topics, clock: systemClock });
  let snapshots = 0;
  const session = dispatcher.openSession((update) => {
    // What both transports do with an update: it leaves the process as bytes.
    if (JSON.stringify(update).length > 0) snapshots += 1;
  });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  try {
    await engine.methods['accounts.add']({ key: options.account, write: [options.relay] });
    session.subscribe(1, 'activity', {});
    session.subscribe(2, 'coverage', { account: options.account });
    session.subscribe(3, 'accounts', {});
    delay.enable();
    const startedMs = performance.now();
    const { run } = await engine.methods['fetch.start']({
      account: options.account,
      limit: options.pageLimit,
      strategy: 'paging',
    });
    const summary = await engine.runEnded(run);
    const elapsedMs = performance.now() - startedMs;
    delay.disable();
    if (summary.status !== 'complete' || summary.newlyArchived !== options.expected) {
      throw new Error(`the fetch ended ${summary.status} with ${summary.newlyArchived} of ${options.expected} events`);
    }
    // The histogram holds the time between samples; what exceeds the interval is delay.
    const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    return {
      eventsPerSecond: (options.expected * 1000) / elapsedMs,
      delay: { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) },
      snapshots,
    };
  } finally {
    session.close();
    await engine.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}
