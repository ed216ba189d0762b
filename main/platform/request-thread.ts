import { Worker } from 'node:worker_threads';
import { Fault } from './fault.ts';
import { fromThreadFailure, type ThreadFailure } from './thread-failure.ts';

/** What travels to a thread and back: every request has a number, and every answer bears the number of its request. */
export interface ThreadRequest {
  number: number;
  body: unknown;
}
export type ThreadAnswer = { number: number; body: unknown } | { number: number; failure: ThreadFailure };

/**
 * Where a worker lies: beside the calling module as TypeScript when sources run, in the same flat folder as JavaScript
 * in a build.
 *
 * @param moduleUrl `import.meta.url` of the module that starts it.
 * @param name the worker's file without its ending.
 */
export function workerUrl(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl);
}

interface Waiting<Answer> {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

/**
 * One thread that answers requests, started with the first of them. It keeps the process alive only while it owes an
 * answer. When it dies, what it owed is rejected, and the next request starts another one.
 */
export class RequestThread<Request, Answer> {
  readonly #url: URL;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  #worker: Worker | null = null;
  #next = 1;
  #closed = false;

  constructor(url: URL) {
    this.#url = url;
  }

  /** Rejects with the Fault, or in the words, of the thread when it cannot answer, and with a Fault `cancelled` after `close`. */
  ask(request: Request): Promise<Answer> {
    if (this.#closed) return Promise.reject(closing());
    const worker = this.#started();
    const number = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      worker.ref();
      worker.postMessage({ number, body: request } satisfies ThreadRequest);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#fail(closing());
    const worker = this.#worker;
    // Its end is waited for, and a process that has nothing else to do must not end before.
    worker?.ref();
    await worker?.terminate();
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(this.#url);
    worker.on('message', (answer: ThreadAnswer) => {
      const waiting = this.#waiting.get(answer.number);
      this.#waiting.delete(answer.number);
      if (this.#waiting.size === 0 && !this.#closed) worker.unref();
      if ('failure' in answer) waiting?.reject(fromThreadFailure(answer.failure));
      // The worker is ours and typed by the same request and answer.
      else waiting?.resolve(answer.body as Answer);
    });
    const lost = (): void => {
      if (this.#worker === worker) this.#worker = null;
      this.#fail(new Error('The thread that was working on this ended.'));
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #fail(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

function closing(): Fault {
  return new Fault('cancelled', 'Holdfast is closing.');
}
