// The crash trials at full size: `npm run test:crash:full [-- --seed TEXT] [-- --events N] [-- --kills N] [-- --only paging|reconciliation|sync|legacy|windows]`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCrashTrial } from './crash-trial.ts';
import { runLegacyTrial } from './legacy-trial.ts';
import { runReconciliationTrial } from './reconciliation-trial.ts';
import { runSyncTrial } from './sync-trial.ts';
import { runWindowsTrial } from './windows-trial.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now()) },
    events: { type: 'string' },
    kills: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});

// After every kill of a comparison the whole projection is computed again, and a relay is sent fifty events a second, so
// fewer events make a trial as long.
const trials = {
  paging: { run: runCrashTrial, events: 50_000 },
  reconciliation: { run: runReconciliationTrial, events: 20_000 },
  sync: { run: runSyncTrial, events: 6_000 },
  legacy: { run: runLegacyTrial, events: 6_000 },
  windows: { run: runWindowsTrial, events: 50_000 },
};
if (values.only !== undefined && !Object.hasOwn(trials, values.only)) {
  console.error(`There is no trial “${values.only}”: ${Object.keys(trials).join(', ')}.`);
  process.exit(2);
}
const directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
console.log(`seed: ${values.seed}`);
try {
  for (const [name, { run, events }] of Object.entries(trials)) {
    if (values.only !== undefined && values.only !== name) continue;
    console.log(`${name}:`);
    mkdirSync(join(directory, name));
    const report = await run({
      events: values.events === undefined ? events : Number(values.events),
      kills: Number(values.kills),
      seed: values.seed,
      directory: join(directory, name),
      log: (line) => console.log(line),
    });
    console.log(JSON.stringify(report, null, 2));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
