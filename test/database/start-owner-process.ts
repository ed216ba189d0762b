import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

export interface OwnerProcess {
  /** `open`, or the code of the Fault. */
  answer: string;
  process: ChildProcess;
  /** Kills it without a chance to clean up, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Another process that owns `directory`, or tried to. It is gone after the test. */
export async function startOwnerProcess(directory: string): Promise<OwnerProcess> {
  const script = new URL('./owner-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout });
  const [answer]: unknown[] = await Promise.race([once(lines, 'line'), gone.then(() => ['nothing was said'])]);
  return { answer: String(answer), process: child, kill };
}
