import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runWindowsTrial } from './windows-trial.ts';

const SEED = process.env['HOLDFAST_CRASH_SEED'] ?? 'every window, until it is answered';

describe('going on with old windows while it is killed', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it(
    'loses no window, asks at most one again per kill and relay, and concludes nothing',
    { timeout: 120_000 },
    async () => {
      const lines = [`seed: ${SEED}`];
      try {
        const report = await runWindowsTrial({
          events: 2000,
          kills: 6,
          seed: SEED,
          directory,
          log: (line) => lines.push(line),
        });
        // Where a kill was to fall after the end, there is one less.
        expect(report.kills).toBeGreaterThanOrEqual(3);
      } catch (error) {
        console.error(lines.join('\n'));
        throw error;
      }
    },
  );
});
