import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SignedEvent } from '../../preload/contract.ts';
import { RawClient } from '../relays/raw-client.ts';

/** The foreign relay cuts a connection that has published some thousands of events. */
const PER_CONNECTION = 1000;

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

/** Starts the foreign relay; it carries at most `maxLimit` events in a page (never more than 500). */
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
  for (let sent = 0; sent < events.length; sent += PER_CONNECTION) {
    await publishOnOneConnection(url, events.slice(sent, sent + PER_CONNECTION));
  }
}

async function publishOnOneConnection(url: string, events: readonly SignedEvent[]): Promise<void> {
  const client = await RawClient.open(url);
  const cut = client.closed.then(({ code }) => {
    throw new Error(`the foreign relay closed the connection with ${code}`);
  });
  const publishing = (async () => {
    for (const event of events) client.send('EVENT', event);
    for (let answered = 0; answered < events.length; answered++) {
      const [, id, accepted, message] = await client.next('OK');
      if (accepted !== true) throw new Error(`${String(id)} was refused: ${String(message)}`);
    }
  })();
  try {
    await Promise.race([publishing, cut]);
  } finally {
    client.close();
    cut.catch(() => undefined);
  }
}
