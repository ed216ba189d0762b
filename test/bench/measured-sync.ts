import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createEngine } from '../../main/engine.ts';
import { Dispatcher } from '../../main/ipc/dispatcher.ts';
import { systemClock } from '../../main/platform/clock.ts';

/** How often the delay of the event loop is sampled; a sample counts the time by which it came later than this. */
const RESOLUTION_MS = 1;

export interface MeasuredSync {
  deliveriesPerSecond: number;
  /** By how much the main thread's samples came too late, in milliseconds. */
  delay: { p50: number; p99: number; max: number };
  /** Snapshots that the attached interface received. */
  snapshots: number;
  /** How long a window in the middle of the results took to read, in milliseconds. */
  windowMs: number;
}

/**
 * One sync of imported events to relays that hold nothing, by an engine of this process, while an interface is attached as a
 * window would be: it follows activity, the run, candidates, coverage and accounts, and reads what it gets as JSON. Measured is
 * from the command to the end of the run.
 *
 * @throws when not every delivery is verified.
 */
export async function measureSync(options: {
  relays: readonly string[];
  account: string;
  lines: readonly string[];
}): Promise<MeasuredSync> {
  const { relays, account, lines } = options;
  const expected = relays.length * lines.length;
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
    await engine.methods['accounts.add']({ key: account, write: [...relays] });
    await engine.importLines(lines);
    const fetched = await engine.methods['fetch.start']({ account, strategy: 'paging' });
    await engine.runEnded(fetched.run);
    await engine.methods['candidates.tree']({ account });
    session.subscribe(1, 'activity', {});
    session.subscribe(2, 'coverage', { account });
    session.subscribe(3, 'accounts', {});
    session.subscribe(4, 'candidates', { account });
    delay.enable();
    const startedMs = performance.now();
    const { run, copies } = await engine.methods['sync.start']({ account });
    session.subscribe(5, 'sync', { run });
    const summary = await engine.runEnded(run);
    const elapsedMs = performance.now() - startedMs;
    delay.disable();
    if (copies !== expected || summary.deliveries?.verified !== expected) {
      throw new Error(`of ${copies} copies ${summary.deliveries?.verified ?? 0} were verified instead of ${expected}`);
    }
    const askedMs = performance.now();
    await engine.methods['sync.deliveries']({ run, offset: Math.floor(expected / 2), limit: 100 });
    const windowMs = performance.now() - askedMs;
    // The histogram holds the time between samples; what exceeds the interval is delay.
    const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    return {
      deliveriesPerSecond: (expected * 1000) / elapsedMs,
      delay: { p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) },
      snapshots,
      windowMs,
    };
  } finally {
    session.close();
    await engine.close();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}
