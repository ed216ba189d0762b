import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer, ThreadRequest } from './request-thread.ts';
import { toThreadFailure } from './thread-failure.ts';

/** The thread's side of a {@link RequestThread}: answers every request, and tells of a failure instead of dying of it. */
export function serveRequests<Request, Answer>(handle: (request: Request) => Answer | Promise<Answer>): void {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a worker thread only');
  const answer = async ({ number, body }: ThreadRequest): Promise<void> => {
    let result: ThreadAnswer;
    try {
      // The asking side is ours and typed by the same request.
      result = { number, body: await handle(body as Request) };
    } catch (error) {
      result = { number, failure: toThreadFailure(error) };
    }
    port.postMessage(result);
  };
  port.on('message', (request: ThreadRequest) => void answer(request));
}
