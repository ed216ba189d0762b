import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RecordedRequest } from './scripted-relay.ts';

export interface RelayProcessOptions {
  /** A JSONL file of signed events. */
  events?: string;
  port?: number;
  /** The most events in a page, applied silently. */
  cap?: number;
  eoseHints?: boolean;
  /** A file to which every REQ is appended as it arrives. */
  log?: string;
  /** Compares by NIP-77, in messages of so many bytes at the most; 0: of any length. */
  negentropy?: number;
  /** Told the type of every message that the relay receives, such as `NEG-MSG`. */
  onMessage?: (type: string) => void;
}

export interface RelayProcess {
  url: string;
  port: number;
  pid: number;
  /** The REQs received so far, in order. */
  requests(): Promise<RecordedRequest[]>;
  close(): Promise<void>;
}

/** Starts the scripted relay in a process of its own. Rejects when it does not come up. */
export async function startRelayProcess(options: RelayProcessOptions = {}): Promise<RelayProcess> {
  const args = [fileURLToPath(new URL('./relay-process.ts', import.meta.url))];
  if (options.events !== undefined) args.push('--events', options.events);
  if (options.port !== undefined) args.push('--port', String(options.port));
  if (options.cap !== undefined) args.push('--cap', String(options.cap));
  if (options.eoseHints) args.push('--hints');
  if (options.log !== undefined) args.push('--log', options.log);
  if (options.negentropy !== undefined) args.push('--negentropy', String(options.negentropy));
  if (options.onMessage !== undefined) args.push('--tell');

  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    const lines = createInterface(child.stdout);
    lines.once('line', (first) => {
      resolve(first);
      lines.on('line', (type) => options.onMessage?.(type));
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the relay process did not start: ${complaints}`)));
  });
  const { url, port } = JSON.parse(line) as { url: string; port: number };
  return {
    url,
    port,
    pid: child.pid ?? 0,
    async requests() {
      const response = await fetch(`http://127.0.0.1:${port}/requests`);
      return (await response.json()) as RecordedRequest[];
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
