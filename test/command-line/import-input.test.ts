import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { commandLineRig } from './command-line-rig.ts';

const HEADLESS = fileURLToPath(new URL('../../main/headless.ts', import.meta.url));

test('an import from a closed standard input is wrong usage, in one message, and changes nothing', () => {
  const directory = join(scratchDirectory(), 'data');
  const command = '"$0" "$1" --data "$2" import - <&-';

  const { status, stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, HEADLESS, directory], {
    encoding: 'utf8',
  });

  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^holdfast: Standard input is closed.*\n$/);
  expect(existsSync(directory)).toBe(false);
});

test('an interrupted import takes whole lines only, and blames none that it cut in two itself', async () => {
  const lines: string[] = [];
  const rig = commandLineRig({
    engine: {
      importLines: async (source) => {
        for await (const line of source) {
          lines.push(line);
          if (lines.length === 2) rig.signals.emit('SIGINT');
        }
        return { read: lines.length, newlyArchived: lines.length, alreadyArchived: 0, problems: [], bad: 0 };
      },
    },
  });
  const file = join(rig.directory, 'events.jsonl');
  // No number of bytes that is read at once ends with such a line.
  writeFileSync(file, 'eleven byt\n'.repeat(500_000));

  expect(await rig.run('import', file)).toBe(3);

  expect(lines.length).toBeLessThan(500_000);
  expect(new Set(lines)).toEqual(new Set(['eleven byt']));
});
