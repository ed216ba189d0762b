// The whole suite: `npm test`. Prints each step as it ends, then why anything was skipped, then one line of counts.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import type { Counts } from './counting-reporter.ts';

interface Step {
  name: string;
  /** An executable of node_modules/.bin with its arguments. */
  command: [string, ...string[]];
  /** Test files are counted by themselves; every other step counts as one. */
  isTestRun?: boolean;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = join(root, 'node_modules', '.bin');
const countsDirectory = mkdtempSync(join(tmpdir(), 'holdfast-counts-'));
const countsFile = join(countsDirectory, 'counts.json');

const build: Step = { name: 'build', command: ['electron-vite', 'build', '--logLevel', 'warn'] };

/** What only reads the sources, one after the other on one core … */
const checks: Step[] = [
  // It checks every TypeScript file, and knows what a Svelte file exports.
  { name: 'types', command: ['svelte-check', '--tsconfig', 'tsconfig.json', '--fail-on-warnings'] },
  { name: 'lint', command: ['eslint', '.'] },
  { name: 'format', command: ['prettier', '--check', '--log-level', 'warn', '.'] },
  {
    name: 'layers',
    command: ['depcruise', '--config', '.dependency-cruiser.js', 'main', 'preload', 'renderer', 'migrations'],
  },
];

/** … while the tests run on the others. */
const tests: Step = {
  name: 'tests',
  command: ['vitest', 'run', '--reporter=dot', '--reporter=./test/suite/counting-reporter.ts'],
  isTestRun: true,
};

const countsSchema = v.object({ passed: v.number(), failed: v.number(), skipped: v.array(v.string()) });
const total: Counts = { passed: 0, failed: 0, skipped: [] };

async function run(step: Step): Promise<boolean> {
  const startedMs = performance.now();
  const { code, output } = await execute(step.command);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const isGood = code === 0;
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)`);
  if (!isGood) console.log(output.trimEnd());
  const counts = step.isTestRun === true ? readCounts(isGood) : { passed: Number(isGood), failed: Number(!isGood) };
  total.passed += counts.passed;
  total.failed += counts.failed;
  if ('skipped' in counts) total.skipped.push(...counts.skipped);
  return isGood;
}

function execute([command, ...args]: Step['command']): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(join(bin, command), args, {
      cwd: root,
      env: {
        ...process.env,
        HOLDFAST_TEST_COUNTS: countsFile,
        ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    child.once('error', (error) => resolve({ code: 1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** The counts that the reporter left; a run that ended badly has failed even where no test has. */
function readCounts(isGood: boolean): Counts {
  try {
    const counts = v.parse(countsSchema, JSON.parse(readFileSync(countsFile, 'utf8')));
    return isGood ? counts : { ...counts, failed: Math.max(1, counts.failed) };
  } catch {
    return { passed: 0, failed: 1, skipped: [] };
  }
}

/** Each reason once, with how many tests it kept from running. */
function skipLines(reasons: string[]): string[] {
  const byReason = Map.groupBy(reasons, (reason) => reason);
  return [...byReason].map(([reason, tests]) => `skipped ${tests.length} of ${reason}`);
}

async function runAll(): Promise<void> {
  const buildAndTests = async (): Promise<void> => {
    // The end-to-end and packaging tests look at what was built, not at what was built some time ago.
    if (await run(build)) await run(tests);
  };
  const allChecks = async (): Promise<void> => {
    for (const step of checks) await run(step);
  };
  await Promise.all([buildAndTests(), allChecks()]);
  rmSync(countsDirectory, { recursive: true, force: true });
  for (const line of skipLines(total.skipped)) console.log(line);
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped.length} skipped`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

await runAll();
