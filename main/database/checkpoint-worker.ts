import BetterSqlite3 from 'better-sqlite3';
import { parentPort, workerData } from 'node:worker_threads';
import * as v from 'valibot';

/** What a background checkpoint asks of its thread. It answers `checkpoint` with `done`, and `close` by ending. */
export type CheckpointRequest = 'checkpoint' | 'close';
export type CheckpointAnswer = 'done';

const port = parentPort;
if (port === null) throw new Error('checkpoint-worker runs in a worker thread only');
const { path } = v.parse(v.object({ path: v.string() }), workerData);
const connection = new BetterSqlite3(path, { fileMustExist: true });
connection.pragma('synchronous = NORMAL');
port.on('message', (request: CheckpointRequest) => {
  if (request === 'close') {
    connection.close();
    port.close();
    return;
  }
  try {
    // Passive: it takes what it can get and never makes a writer or a reader wait.
    connection.pragma('wal_checkpoint(PASSIVE)');
  } finally {
    const answer: CheckpointAnswer = 'done';
    port.postMessage(answer);
  }
});
