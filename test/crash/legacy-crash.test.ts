import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runLegacyTrial } from './legacy-trial.ts';

const SEED = process.env['HOLDFAST_CRASH_SEED'] ?? 'no row lost, no row twice';

describe('bringing the first version over while it is killed', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('loses no row, takes none twice, and completes when it is started again', { timeout: 120_000 }, async () => {
    const lines = [`seed: ${SEED}`];
    try {
      const report = await runLegacyTrial({
        events: 600,
        kills: 8,
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
  });
});
