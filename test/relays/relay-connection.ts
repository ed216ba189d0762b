import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { RelayFilter } from '../../main/demo/relay-filter.ts';
import type { FrameLog } from './frame-log.ts';
import type { NegentropySession } from './negentropy-responder.ts';
import type { AnswerStep } from './relay-behaviour.ts';

/** Events of an answer that leave before the others are ready. */
const FIRST_WRITE = 8;

/** The relay's end of one WebSocket. */
export class RelayConnection {
  readonly number: number;
  readonly subscriptions = new Map<string, readonly RelayFilter[]>();
  readonly sessions = new Map<string, NegentropySession>();
  /** Public keys that have authenticated (NIP-42). */
  readonly authenticated = new Set<string>();
  /** The challenge that was sent, if any. */
  challenge: string | null = null;
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #log: FrameLog | null;

  /** `log` is null for a relay that only serves and does not record what it sends. */
  constructor(number: number, socket: WebSocket, stream: Duplex, log: FrameLog | null) {
    this.number = number;
    this.#socket = socket;
    this.#stream = stream;
    this.#log = log;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  send(frame: readonly unknown[]): void {
    this.sendText(JSON.stringify(frame), String(frame[0]));
  }

  /** Sends any text; `type` is what the log calls it. */
  sendText(text: string, type = 'text'): void {
    if (!this.isOpen) return;
    this.#log?.add('sent', this.number, type, text);
    this.#socket.send(text);
  }

  sendBinary(bytes: Uint8Array): void {
    if (!this.isOpen) return;
    this.#log?.add('sent', this.number, 'binary', Buffer.from(bytes).toString('hex'));
    this.#socket.send(bytes);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  /** Cuts the connection without a closing handshake. */
  terminate(): void {
    // What was sent before the cut still arrives, as on a network.
    if (this.#stream.writableLength === 0) this.#stream.destroy();
    else this.#stream.end(() => this.#stream.destroy());
  }

  /** Plays an answer; it ends early when the connection or, as `stillWanted` says, the subscription is gone. */
  async play(steps: readonly AnswerStep[], stillWanted: () => boolean): Promise<void> {
    // One write for everything up to a pause, instead of one for every event; the first events leave at once, as from a
    // relay that sends while it searches.
    this.#stream.cork();
    try {
      for (const [index, step] of steps.entries()) {
        if (!this.isOpen || !stillWanted()) return;
        if (index === FIRST_WRITE) {
          this.#stream.uncork();
          this.#stream.cork();
        }
        if (step.type === 'wait') {
          this.#stream.uncork();
          await step.gate.wait();
          this.#stream.cork();
        } else this.#play(step);
      }
    } finally {
      this.#stream.uncork();
    }
  }

  #play(step: Exclude<AnswerStep, { type: 'wait' }>): void {
    switch (step.type) {
      case 'event':
        this.sendText(`["EVENT",${JSON.stringify(step.subscription)},${step.stored.json}]`, 'EVENT');
        break;
      case 'frame':
        this.send(step.frame);
        if (step.frame[0] === 'CLOSED') this.subscriptions.delete(String(step.frame[1]));
        break;
      case 'text':
        this.sendText(step.text);
        break;
      case 'binary':
        this.sendBinary(step.bytes);
        break;
      case 'raw':
        this.#stream.write(step.bytes);
        break;
      case 'close':
        this.close(step.code, step.reason);
        break;
      case 'terminate':
        this.#stream.uncork();
        this.terminate();
        this.#stream.cork();
        break;
    }
  }
}
