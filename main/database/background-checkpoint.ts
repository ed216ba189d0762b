import { Worker } from 'node:worker_threads';
import type { CheckpointRequest } from './checkpoint-worker.ts';

/** About 300 pages of the file change with a page of 100 events; a few of those make a checkpoint worth its fsync. */
const COMMITS_PER_CHECKPOINT = 4;

/** In a build the worker lies beside this chunk as JavaScript; from sources, beside this file as TypeScript. */
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js',
  import.meta.url,
);

/**
 * Writes the write-ahead log back into the database file from a thread of its own, because that waits for the disk: for
 * tens of milliseconds, in which the main loop would answer nobody. The thread starts when there is something for it to do.
 */
export class BackgroundCheckpoint {
  readonly #path: string;
  #worker: Worker | null = null;
  /** Once the thread has failed, SQLite's own checkpoints have to do. */
  #failed = false;
  #busy = false;
  #commits = 0;

  /** `path`: the database file. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Takes note of a commit, and has the log written back after some of them. */
  committed(): void {
    this.#commits += 1;
    if (this.#commits < COMMITS_PER_CHECKPOINT || this.#busy || this.#failed) return;
    this.#commits = 0;
    this.#busy = true;
    this.#worker ??= this.#start();
    this.#ask(this.#worker, 'checkpoint');
  }

  /** Lets a checkpoint that is under way finish and ends the thread. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#failed = true;
    if (worker === null) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    // Waiting for it must keep the process, which it does not while there is nothing to wait for.
    worker.ref();
    this.#ask(worker, 'close');
    await ended;
  }

  #ask(worker: Worker, request: CheckpointRequest): void {
    worker.postMessage(request);
  }

  #start(): Worker {
    const worker = new Worker(WORKER_URL, { workerData: { path: this.#path } });
    worker.on('message', () => {
      this.#busy = false;
    });
    const lose = (): void => {
      this.#failed = true;
      this.#worker = null;
    };
    worker.on('error', lose);
    worker.on('exit', lose);
    worker.unref();
    return worker;
  }
}
