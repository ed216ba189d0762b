import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SignedEvent } from '../../preload/contract.ts';
import { RawClient } from '../relays/raw-client.ts';

/** How many publications may wait for their OK. */
const PUBLISHING_WINDOW = 200;

export interface InteropRelay {
  url: string;
  /** What the relay is, with its version. */
  software: string;
  /** Publishes events over a WebSocket of its own. Rejects when the relay refuses one. */
  preload(events: readonly SignedEvent[]): Promise<void>;
  close(): Promise<void>;
}

/** The Python that has the foreign relay installed, or why there is none. */
export function interopPython(): { python: string } | { skipped: string } {
  const python = process.env['HOLDFAST_INTEROP_PYTHON'];
  if (python !== undefined && python !== '') return { python };
  return { skipped: 'HOLDFAST_INTEROP_PYTHON does not name a Python with nostr-sdk 0.45.1 installed' };
}

/** Starts the foreign relay; it carries at most `maxLimit` events in a page (500 unless told). */
export async function startInteropRelay(python: string, options: { maxLimit?: number } = {}): Promise<InteropRelay> {
  const args = [fileURLToPath(new URL('./local_relay.py', import.meta.url))];
  if (options.maxLimit !== undefined) args.push('--max-limit', String(options.maxLimit));
  const child = spawn(python, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the foreign relay did not start: ${complaints}`)));
  });
  const { url, software } = JSON.parse(line) as { url: string; software: string };
  return {
    url,
    software,
    preload: (events) => publishAll(url, events),
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

async function publishAll(url: string, events: readonly SignedEvent[]): Promise<void> {
  const client = await RawClient.open(url);
  try {
    for (let sent = 0; sent < events.length; sent += PUBLISHING_WINDOW) {
      const window = events.slice(sent, sent + PUBLISHING_WINDOW);
      for (const event of window) client.send('EVENT', event);
      for (let answered = 0; answered < window.length; answered++) {
        const [, id, accepted, message] = await client.next('OK');
        if (accepted !== true) throw new Error(`${String(id)} was refused: ${String(message)}`);
      }
    }
  } finally {
    client.close();
  }
}
