import { WebSocket } from 'ws';
import type { SignedEvent } from '../../preload/contract.ts';

/** How a page ended, as far as the wire shows. */
export interface RawPage {
  events: SignedEvent[];
  /** The frame that ended it: EOSE or CLOSED. */
  ending: unknown[];
}

/** A WebSocket without any cleverness, for looking at what a relay really says. */
export class RawClient {
  /** Everything received, in order; text that is no JSON array stands as it came. */
  readonly frames: (unknown[] | string)[] = [];
  /** Resolves when the connection is gone, with the code and reason of its end. */
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  #read = 0;
  #wake: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      this.frames.push(isBinary ? `binary ${data.toString()}` : readFrame(data.toString()));
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Connects; rejects when the relay does not take the connection. */
  static open(url: string, options: { rejectUnauthorized?: boolean } = {}): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, options);
      // Made before the first frame can arrive, so that a greeting is not lost.
      const client = new RawClient(socket);
      socket.on('error', reject);
      socket.on('open', () => resolve(client));
    });
  }

  send(...frame: unknown[]): void {
    this.#socket.send(JSON.stringify(frame));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** The next frame that was not read yet and starts with one of these types; frames before it count as read. */
  async next(...types: string[]): Promise<unknown[]> {
    for (;;) {
      while (this.#read < this.frames.length) {
        const frame = this.frames[this.#read++];
        if (Array.isArray(frame) && (types.length === 0 || types.includes(String(frame[0])))) return frame;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Sends a REQ and reads until its EOSE or CLOSED; the subscription stays open. */
  async request(subscription: string, ...filters: unknown[]): Promise<RawPage> {
    this.send('REQ', subscription, ...filters);
    const events: SignedEvent[] = [];
    for (;;) {
      const frame = await this.next('EVENT', 'EOSE', 'CLOSED');
      if (frame[1] !== subscription) continue;
      if (frame[0] !== 'EVENT') return { events, ending: frame };
      events.push(frame[2] as SignedEvent);
    }
  }

  close(): void {
    this.#socket.terminate();
  }
}

function readFrame(text: string): unknown[] | string {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as unknown[]) : text;
  } catch {
    return text;
  }
}
