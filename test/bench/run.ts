// The benchmarks: `npm run bench [-- --quick] [-- --json] [-- --only NAME]`. Ends with 1 when a bar is missed.
import { parseArgs } from 'node:util';
import { benchArchive } from './archive-bench.ts';
import { benchTable, isMet, type BenchRow } from './bench-row.ts';
import { benchDatabaseSize } from './database-size-bench.ts';
import { benchFetch } from './fetch-bench.ts';
import { benchLegacy } from './legacy-bench.ts';
import { benchManyDeliveries } from './many-deliveries-bench.ts';
import { benchNegentropy } from './negentropy-bench.ts';
import { benchSync } from './sync-bench.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const benches: Record<string, () => Promise<BenchRow[]>> = {
  fetch: () => benchFetch(values.quick ? { events: 10_000, rounds: 2 } : { events: 50_000, rounds: 3 }),
  size: () => benchDatabaseSize(values.quick ? 10_000 : 50_000),
  negentropy: () => (values.quick ? benchNegentropy(5, 3) : benchNegentropy()),
  sync: async () => [
    ...(await benchSync(values.quick ? 2_000 : 20_000)),
    await benchManyDeliveries(values.quick ? 20_000 : 100_000),
  ],
  legacy: () => benchLegacy(values.quick ? 20_000 : 1_000_000),
  archive: () => benchArchive(values.quick ? 100_000 : 1_000_000),
};

const rows: BenchRow[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (values.only !== undefined && values.only !== name) continue;
  if (!values.json) process.stderr.write(`measuring ${name} …\n`);
  rows.push(...(await bench()));
}
console.log(
  values.json
    ? JSON.stringify(
        rows.map((row) => ({ ...row, met: isMet(row) })),
        null,
        2,
      )
    : benchTable(rows),
);
process.exit(rows.every(isMet) ? 0 : 1);
