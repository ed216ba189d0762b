import { parentPort } from 'node:worker_threads';
import type { SignedEvent } from '../../preload/contract.ts';
import type { EventVerdict } from './event-verdict.ts';
import { loadSignatureCheck } from './signature-check.ts';

/** A batch of events to check, and its verdicts in the same order. */
export interface VerifyRequest {
  batch: number;
  events: SignedEvent[];
}
export interface VerifyAnswer {
  batch: number;
  verdicts: EventVerdict[];
}

const port = parentPort;
if (port === null) throw new Error('verify-worker runs in a worker thread only');
const check = await loadSignatureCheck();
port.on('message', (request: VerifyRequest) => {
  const answer: VerifyAnswer = { batch: request.batch, verdicts: request.events.map(check) };
  port.postMessage(answer);
});
