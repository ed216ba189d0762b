import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HEADLESS = fileURLToPath(new URL('../../main/headless.ts', import.meta.url));
const KILL_AT_STATEMENT = new URL('./kill-at-statement.ts', import.meta.url).href;

/**
 * How a process is killed: from outside while a relay serves it, or by itself at one statement of one page, around one of
 * the transactions that keep an answer until it is checked, or within one of those that move deliveries or carry rows of the
 * first version over.
 */
export type KillPoint =
  | { by: 'progress'; /** Calls `kill` when the time has come. */ arm: (kill: () => void) => void }
  | { by: 'statement'; page: number; statement: number }
  | { by: 'keeping'; answer: number; statement: number }
  | { by: 'delivering'; transaction: number; statement: number }
  | { by: 'carrying'; slice: number; statement: number };

export interface EndedCommand {
  /** True when SIGKILL ended it; false when it came to its own end before. */
  killed: boolean;
  code: number | null;
  stdout: string;
  stderr: string;
  /** The statement that was not run any more, when the process was killed by that. */
  at: string | null;
}

/** Runs one command of the command line in a process of its own, from the sources, to its end or its death. */
export async function runCommand(
  dataDirectory: string,
  argv: readonly string[],
  point?: KillPoint,
): Promise<EndedCommand> {
  const note = join(dataDirectory, '..', `kill-note-${process.pid}`);
  rmSync(note, { force: true });
  const environment = { ...process.env };
  const options: string[] = [];
  if (point !== undefined && point.by !== 'progress') {
    options.push('--import', KILL_AT_STATEMENT);
    environment['HOLDFAST_KILL_AT'] = nameOf(point);
    environment['HOLDFAST_KILL_NOTE'] = note;
  }
  const child = spawn(process.execPath, [...options, HEADLESS, '--data', dataDirectory, '--json', '--quiet', ...argv], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  if (point?.by === 'progress') point.arm(() => child.kill('SIGKILL'));
  const { code, signal } = await ended;
  const at = existsSync(note) ? readFileSync(note, 'utf8') : null;
  rmSync(note, { force: true });
  return { killed: signal === 'SIGKILL', code, stdout, stderr, at };
}

/** The point as `kill-at-statement.ts` reads it. */
function nameOf(point: Exclude<KillPoint, { by: 'progress' }>): string {
  switch (point.by) {
    case 'statement':
      return `${point.page}:${point.statement}`;
    case 'keeping':
      return `keeping:${point.answer}:${point.statement}`;
    case 'delivering':
      return `delivering:${point.transaction}:${point.statement}`;
    case 'carrying':
      return `carrying:${point.slice}:${point.statement}`;
  }
}
