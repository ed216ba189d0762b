import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runSyncTrial } from './sync-trial.ts';

const SEED = process.env['HOLDFAST_CRASH_SEED'] ?? 'sent once, verified once';

describe('a sync that is killed', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('resumes with no delivery lost and no verified copy sent again', { timeout: 120_000 }, async () => {
    const lines = [`seed: ${SEED}`];
    try {
      const report = await runSyncTrial({
        events: 600,
        kills: 6,
        seed: SEED,
        directory,
        log: (line) => lines.push(line),
      });
      // Where a kill was to fall after the end, there is one less.
      expect(report.kills).toBeGreaterThanOrEqual(3);
      expect(report.copies).toBe(400);
    } catch (error) {
      console.error(lines.join('\n'));
      throw error;
    }
  });
});
