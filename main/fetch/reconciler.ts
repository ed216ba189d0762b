import { Worker } from 'node:worker_threads';
import { Fault } from '../platform/fault.ts';
import type { ReconcileAnswer, ReconcileRequest } from './reconcile-worker.ts';

/** Our side of one NEG session, computed away from the main loop. */
export interface ReconcileSession {
  /** What NEG-OPEN carries (hex). */
  readonly initialMessageHex: string;
  readonly items: number;
  /** See `events.sequence`: the bodies up to this number are on our side. */
  readonly comparedUpTo: number;
  /** Where to cut the scope in two when it is too large: the last second of the lower part. Null: unknown. */
  readonly middle: number | null;
  /** Takes a message of the relay (hex). Rejects when it is flawed; the session is over then. */
  reconcile(messageHex: string): Promise<{ messageHex: string | null; have: string[]; need: string[] }>;
  close(): void;
}

const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './reconcile-worker.ts' : './reconcile-worker.js',
  import.meta.url,
);

interface Waiting {
  resolve: (answer: ReconcileAnswer) => void;
  reject: (error: Error) => void;
}

/** Opens sessions in one thread of its own, which is started with the first session. */
export class Reconciler {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #nextSession = 1;
  #closed = false;

  /** @param path the database file. */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Reads an author's archived events of a scope and begins a session over them.
   *
   * @param scope bounds in Unix seconds, both inclusive; `since: null` is Beginning.
   */
  async open(author: string, scope: { since: number | null; until: number }): Promise<ReconcileSession> {
    const session = this.#nextSession++;
    const opened = await this.#ask({ type: 'open', session, path: this.#path, author, ...scope });
    if (opened.type !== 'opened') throw new Error('the thread answered something else');
    return {
      initialMessageHex: opened.messageHex,
      items: opened.items,
      comparedUpTo: opened.comparedUpTo,
      middle: opened.middle,
      reconcile: async (messageHex) => {
        const answer = await this.#ask({ type: 'message', session, messageHex });
        if (answer.type !== 'reconciled') throw new Error('the thread answered something else');
        return answer;
      },
      close: () => this.#worker?.postMessage({ type: 'close', session } satisfies ReconcileRequest),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fail(new Fault('cancelled', 'Holdfast is closing.'));
    await this.#worker?.terminate();
  }

  #ask(request: Exclude<ReconcileRequest, { type: 'close' }>): Promise<ReconcileAnswer> {
    if (this.#closed) return Promise.reject(new Fault('cancelled', 'Holdfast is closing.'));
    const worker = this.#started();
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.session, { resolve, reject });
      worker.ref();
      worker.postMessage(request);
    });
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(WORKER_URL);
    worker.on('message', (answer: ReconcileAnswer) => {
      const waiting = this.#waiting.get(answer.session);
      this.#waiting.delete(answer.session);
      if (this.#waiting.size === 0) worker.unref();
      if (answer.type === 'failed') waiting?.reject(new Error(answer.reason));
      else waiting?.resolve(answer);
    });
    const lost = (): void => {
      if (this.#worker === worker) this.#worker = null;
      this.#fail(new Error('the thread that reconciles ended'));
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    this.#worker = worker;
    return worker;
  }

  #fail(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}
