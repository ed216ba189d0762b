import { Worker } from 'node:worker_threads';
import type { SignedEvent } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import type { EventVerdict } from './event-verdict.ts';
import { checkPure } from './signature-check.ts';
import type { VerifyAnswer, VerifyRequest } from './verify-worker.ts';

/** Checks IDs and signatures of events whose shape is right. */
export interface EventVerifier {
  /** Verdicts in the order of `events`. Rejects only with a Fault `cancelled`, when the verifier is closed meanwhile. */
  verify(events: readonly SignedEvent[]): Promise<EventVerdict[]>;
  close(): Promise<void>;
}

/** Small enough that a page spreads over threads and the first verdicts come early, large enough to be cheap to send. */
const BATCH_SIZE = 32;
/** One batch being checked and one waiting keep a thread busy without queueing everything in one place. */
const BATCHES_IN_FLIGHT = 2;

interface Batch {
  number: number;
  events: SignedEvent[];
  resolve: (verdicts: EventVerdict[]) => void;
  reject: (error: Error) => void;
}

interface Thread {
  worker: Worker;
  inFlight: Map<number, Batch>;
}

/** In a build the worker lies beside this chunk as JavaScript; from sources, beside this file as TypeScript. */
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './verify-worker.ts' : './verify-worker.js',
  import.meta.url,
);

function closedFault(): Fault {
  return new Fault('cancelled', 'Holdfast is closing; these events were not checked.');
}

/**
 * A pool of worker threads, started with the first request: most commands check nothing. When threads cannot run at all,
 * events are checked in this thread, slower but as strictly.
 */
export class ThreadedEventVerifier implements EventVerifier {
  readonly #threads: Thread[] = [];
  readonly #queue: Batch[] = [];
  #unstarted: number;
  #nextBatch = 1;
  #closed = false;

  constructor(threads: number) {
    this.#unstarted = threads;
  }

  async verify(events: readonly SignedEvent[]): Promise<EventVerdict[]> {
    if (this.#closed) throw closedFault();
    const batches: Promise<EventVerdict[]>[] = [];
    for (let start = 0; start < events.length; start += BATCH_SIZE) {
      const part = events.slice(start, start + BATCH_SIZE);
      batches.push(
        new Promise((resolve, reject) => {
          this.#queue.push({ number: this.#nextBatch++, events: part, resolve, reject });
        }),
      );
    }
    // Threads that died are not replaced; what kills one may well kill the next.
    for (; batches.length > 0 && this.#unstarted > 0; this.#unstarted -= 1) this.#start();
    this.#dispatch();
    return (await Promise.all(batches)).flat();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const unanswered = [...this.#threads.flatMap(({ inFlight }) => [...inFlight.values()]), ...this.#queue.splice(0)];
    const workers = this.#threads.splice(0).map(({ worker }) => worker);
    for (const batch of unanswered) batch.reject(closedFault());
    // Their end is waited for, and a process that has nothing else to do must not end before.
    for (const worker of workers) worker.ref();
    await Promise.all(
      workers.map((worker) => {
        // Its end is waited for, and a process that has nothing else to do must not end before.
        worker.ref();
        return worker.terminate();
      }),
    );
  }

  #start(): void {
    const worker = new Worker(WORKER_URL);
    const thread: Thread = { worker, inFlight: new Map() };
    worker.on('message', (answer: VerifyAnswer) => {
      const batch = thread.inFlight.get(answer.batch);
      thread.inFlight.delete(answer.batch);
      batch?.resolve(answer.verdicts);
      this.#dispatch();
      // While work is out the process must stay; an idle pool must not keep it alive.
      if (thread.inFlight.size === 0 && !this.#closed) worker.unref();
    });
    // A thread that dies gives its work back; the others, or this thread, do it.
    worker.on('error', () => this.#lose(thread));
    worker.on('exit', () => this.#lose(thread));
    worker.unref();
    this.#threads.push(thread);
  }

  #lose(thread: Thread): void {
    const index = this.#threads.indexOf(thread);
    if (index < 0) return;
    this.#threads.splice(index, 1);
    this.#queue.unshift(...thread.inFlight.values());
    thread.inFlight.clear();
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#threads.length === 0) {
      for (const batch of this.#queue.splice(0)) batch.resolve(batch.events.map(checkPure));
      return;
    }
    for (const thread of this.#threads) {
      while (thread.inFlight.size < BATCHES_IN_FLIGHT) {
        const batch = this.#queue.shift();
        if (batch === undefined) return;
        thread.inFlight.set(batch.number, batch);
        const request: VerifyRequest = { batch: batch.number, events: batch.events };
        thread.worker.postMessage(request);
        thread.worker.ref();
      }
    }
  }
}
