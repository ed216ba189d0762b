// The crash trial at full size: `npm run test:crash:full [-- --seed TEXT] [-- --events N] [-- --kills N]`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCrashTrial } from './crash-trial.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now()) },
    events: { type: 'string', default: '50000' },
    kills: { type: 'string', default: '20' },
  },
});

const directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
console.log(`seed: ${values.seed}`);
try {
  const report = await runCrashTrial({
    events: Number(values.events),
    kills: Number(values.kills),
    seed: values.seed,
    directory,
    log: (line) => console.log(line),
  });
  console.log(JSON.stringify(report, null, 2));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
