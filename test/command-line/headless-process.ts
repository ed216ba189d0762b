import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const HEADLESS = fileURLToPath(new URL('../../main/headless.ts', import.meta.url));

/** How a process of the command line ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON. */
  document: unknown;
}

/** A process of the command line, run from the sources. */
export class HeadlessProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ended>;
  #stderr = '';

  constructor(argv: readonly string[], input = '') {
    this.child = spawn(process.execPath, [HEADLESS, ...argv], { stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.child.stdin.on('error', () => undefined);
    this.child.stdin.end(input);
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code) => {
        const stderr = this.#stderr;
        resolve({
          code,
          stdout,
          stderr,
          get document() {
            return JSON.parse(stdout) as unknown;
          },
        });
      });
    });
  }

  /** Standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }
}

/** Runs one command to its end. */
export function holdfast(argv: readonly string[], input?: string): Promise<Ended> {
  return new HeadlessProcess(argv, input).ended;
}
