import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCrashTrial } from './crash-trial.ts';

const SEED = process.env['HOLDFAST_CRASH_SEED'] ?? 'every page, whole or not at all';

describe('a fetch that is killed', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('resumes with nothing lost and at most one page repeated per kill and relay', { timeout: 120_000 }, async () => {
    const lines = [`seed: ${SEED}`];
    try {
      const report = await runCrashTrial({
        events: 3000,
        kills: 8,
        seed: SEED,
        directory,
        log: (line) => lines.push(line),
      });
      expect(report).toMatchObject({ kills: 8, archived: 3000, found: 5000 });
    } catch (error) {
      console.error(lines.join('\n'));
      throw error;
    }
  });
});
