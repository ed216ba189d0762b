import { readFileSync } from 'node:fs';
import { alice } from '../relays/event-builder.ts';
import { startRelayProcess } from '../relays/start-relay-process.ts';
import { benchHistoryFile } from './bench-history.ts';
import type { BenchRow } from './bench-row.ts';
import { measureSync } from './measured-sync.ts';

const RELAYS = 4;

/**
 * The delay of the event loop during a sync of so many deliveries to loopback relays, processes of their own. How fast it
 * goes is not measured against anything: a relay is sent fifty events a second at the most.
 */
export async function benchSync(deliveries: number): Promise<BenchRow[]> {
  const events = Math.ceil(deliveries / RELAYS);
  const lines = readFileSync(benchHistoryFile(events), 'utf8').trimEnd().split('\n');
  const relays = await Promise.all(Array.from({ length: RELAYS }, () => startRelayProcess()));
  try {
    const { delay, deliveriesPerSecond, snapshots, windowMs } = await measureSync({
      relays: relays.map(({ url }) => url),
      account: alice.pubkey,
      lines,
    });
    return [
      {
        name: `event-loop delay during a sync of ${RELAYS * events} deliveries, p99`,
        measured: delay.p99,
        unit: 'ms',
        bar: { atMost: 25 },
        spread: null,
        note: `p50 ${delay.p50.toFixed(1)} ms, max ${delay.max.toFixed(1)} ms; ${Math.round(deliveriesPerSecond)} deliveries/s to ${RELAYS} relays; ${snapshots} snapshots sent to an attached interface`,
      },
      {
        name: 'a window of 100 results in the middle of that run',
        measured: windowMs,
        unit: 'ms',
        bar: null,
        spread: null,
        note: 'the first one after the run',
      },
    ];
  } finally {
    await Promise.all(relays.map((relay) => relay.close()));
  }
}
