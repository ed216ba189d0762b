import { startRelayProcess } from '../relays/start-relay-process.ts';
import { alice } from '../relays/event-builder.ts';
import { benchHistory, benchHistoryFile } from './bench-history.ts';
import { median, spreadOf, type BenchRow } from './bench-row.ts';
import { measureFetch, type MeasuredFetch } from './measured-fetch.ts';
import { verifyAlone } from './verifier-alone.ts';

const DEFAULT_PAGE_LIMIT = 100;
/** Measured beside the default, without a bar: it shows how much of what is missing there is the fixed cost of a page. */
const LARGER_PAGE_LIMIT = 500;

/**
 * Throughput of a fetch from a loopback relay in a process of its own against the verifier alone, each with one thread,
 * and the delay of the event loop meanwhile. Every fetch stands between two measurements of the verifier, so that a
 * machine whose speed changes does not change the ratio.
 */
export async function benchFetch({ events: count, rounds }: { events: number; rounds: number }): Promise<BenchRow[]> {
  const relay = await startRelayProcess({ events: benchHistoryFile(count) });
  const events = benchHistory(count);
  const ratios = new Map<number, number[]>([
    [DEFAULT_PAGE_LIMIT, []],
    [LARGER_PAGE_LIMIT, []],
  ]);
  const fetches = new Map<number, MeasuredFetch[]>();
  const alone: number[] = [];
  try {
    const measureAlone = async (): Promise<number> => {
      const perSecond = await verifyAlone(events);
      alone.push(perSecond);
      return perSecond;
    };
    const fetch = (pageLimit: number): Promise<MeasuredFetch> =>
      measureFetch({ relay: relay.url, account: alice.pubkey, pageLimit, expected: count });
    await fetch(LARGER_PAGE_LIMIT); // warms up the relay and this process
    let before = await measureAlone();
    for (let round = 0; round < rounds; round++) {
      for (const [pageLimit, own] of ratios) {
        const measured = await fetch(pageLimit);
        const after = await measureAlone();
        own.push((measured.eventsPerSecond * 100) / ((before + after) / 2));
        fetches.set(pageLimit, [...(fetches.get(pageLimit) ?? []), measured]);
        before = after;
      }
    }
  } finally {
    await relay.close();
  }
  return [DEFAULT_PAGE_LIMIT, LARGER_PAGE_LIMIT].flatMap((pageLimit) =>
    rowsOf(pageLimit, count, fetches.get(pageLimit) ?? [], ratios.get(pageLimit) ?? [], alone),
  );
}

function rowsOf(
  pageLimit: number,
  count: number,
  fetches: readonly MeasuredFetch[],
  ratios: readonly number[],
  alone: readonly number[],
): BenchRow[] {
  const perSecond = Math.round(median(fetches.map((fetch) => fetch.eventsPerSecond)));
  const aloneNote = `the verifier alone ${Math.round(median(alone))}/s (${Math.round(Math.min(...alone))} – ${Math.round(Math.max(...alone))})`;
  const p99 = fetches.map((fetch) => fetch.delay.p99);
  const p50 = median(fetches.map((fetch) => fetch.delay.p50));
  const max = Math.max(...fetches.map((fetch) => fetch.delay.max));
  const snapshots = median(fetches.map((fetch) => fetch.snapshots));
  return [
    {
      name: `fetch of ${count} events by paging, page limit ${pageLimit}, against the verifier alone`,
      measured: median(ratios),
      unit: '%',
      bar: pageLimit === DEFAULT_PAGE_LIMIT ? { atLeast: 85 } : null,
      spread: spreadOf(ratios),
      note: `${perSecond} events/s; ${aloneNote}; ${ratios.length} rounds`,
    },
    {
      name: `event-loop delay meanwhile, p99, page limit ${pageLimit}`,
      measured: median(p99),
      unit: 'ms',
      bar: { atMost: 25 },
      spread: spreadOf(p99),
      note: `p50 ${p50.toFixed(1)} ms, max ${max.toFixed(1)} ms; ${snapshots} snapshots sent to an attached interface`,
    },
  ];
}
