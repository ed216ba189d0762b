import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createEngine } from '../../main/engine.ts';
import BetterSqlite3 from 'better-sqlite3';
import type { SignedEvent } from '../../preload/contract.ts';
import type { BenchRow } from './bench-row.ts';
import { largeFirstVersion } from './large-first-version.ts';
import { verifyAlone } from './verifier-alone.ts';

const RESOLUTION_MS = 1;
const MEGABYTE = 1024 * 1024;
const MEMORY_INTERVAL_MS = 100;
/** What carrying over may take of memory beside what the program itself needs. */
const LARGEST_GROWTH_MB = 400;
/** With the sightings, of which there are twice as many as events. */
const LONGEST_RATIO = 2.5;
const SAMPLE = 20_000;

/** A first-version database of so many events is brought over: time, memory, and whether the main loop stays free. */
export async function benchLegacy(count: number): Promise<BenchRow[]> {
  const source = largeFirstVersion(count);
  const dataDirectory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    copyFileSync(source, join(dataDirectory, 'holdfast.db'));
    const sample = firstEvents(source);
    const aloneBefore = await verifyAlone(sample);
    const memoryBefore = process.memoryUsage.rss();
    let largest = memoryBefore;
    const watch = setInterval(() => (largest = Math.max(largest, process.memoryUsage.rss())), MEMORY_INTERVAL_MS);
    const startedMs = performance.now();
    const engine = await createEngine({
      dataDirectory,
      host: 'browser',
      version: '0.0.0',
      mode: 'owner',
      verifierThreads: 1,
    });
    const readyMs = performance.now() - startedMs;
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    try {
      await engine.firstVersionBroughtOver();
      const seconds = (performance.now() - startedMs) / 1000;
      delay.disable();
      clearInterval(watch);
      const { sources } = await engine.methods['legacy.overview']({});
      const events = sources[0]?.tables.find(({ table }) => table === 'events');
      if (sources[0]?.state !== 'done' || events?.carried !== count)
        throw new Error('not all events were brought over');
      const late = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS);
      const rows = sources[0].total;
      const alone = (aloneBefore + (await verifyAlone(sample))) / 2;
      const plain = { spread: null };
      return [
        {
          ...plain,
          name: `first version, ${count} events: brought over`,
          measured: seconds,
          unit: 's',
          bar: null,
          note: `${rows} rows, one verifier`,
        },
        {
          ...plain,
          name: 'the same: time against checking the signatures alone',
          measured: (seconds * alone) / count,
          unit: '×',
          bar: { atMost: LONGEST_RATIO },
          note: `${Math.round(alone)} signatures a second, measured before and after`,
        },
        {
          ...plain,
          name: 'the same: copied, migrated, ready to answer',
          measured: readyMs / 1000,
          unit: 's',
          bar: null,
          note: 'before rows are brought over',
        },
        {
          ...plain,
          name: 'the same: event-loop delay, p99',
          measured: late(delay.percentile(99)),
          unit: 'ms',
          bar: { atMost: 25 },
          note: `p50 ${late(delay.percentile(50)).toFixed(1)} ms, at most ${late(delay.max).toFixed(0)} ms`,
        },
        {
          ...plain,
          name: 'the same: memory beside the program',
          measured: (largest - memoryBefore) / MEGABYTE,
          unit: 'MB',
          bar: { atMost: LARGEST_GROWTH_MB },
          note: 'resident set, at its largest',
        },
      ];
    } finally {
      clearInterval(watch);
      await engine.close();
    }
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

function firstEvents(path: string): SignedEvent[] {
  const database = new BetterSqlite3(path, { readonly: true });
  try {
    const rows = database.prepare('select json from events order by rowid limit ?').pluck().all(SAMPLE);
    // Written by the generator.
    return rows.map((json) => JSON.parse(String(json)) as SignedEvent);
  } finally {
    database.close();
  }
}
