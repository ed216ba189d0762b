import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runReconciliationTrial } from './reconciliation-trial.ts';

const SEED = process.env['HOLDFAST_CRASH_SEED'] ?? 'what was compared, and what was not';

describe('a comparison that is killed', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('resumes with nothing lost and at most one batch of bodies downloaded again', { timeout: 120_000 }, async () => {
    const lines = [`seed: ${SEED}`];
    try {
      const report = await runReconciliationTrial({
        events: 1800,
        kills: 4,
        seed: SEED,
        directory,
        log: (line) => lines.push(line),
      });
      // Both relays have all that they hold; the second lacks a third of it, and both lack what is only here.
      expect(report).toMatchObject({ kills: 4, archived: 1840, present: 1800 + 1200, absent: 600 + 2 * 40 });
    } catch (error) {
      console.error(lines.join('\n'));
      throw error;
    }
  });
});
