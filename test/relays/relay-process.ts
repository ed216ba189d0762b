/**
 * The scripted relay as a process of its own, for benchmarks and crash tests:
 *
 *   node test/relays/relay-process.ts [--events FILE.jsonl] [--port N] [--cap N] [--hints] [--log FILE.jsonl]
 *     [--negentropy FRAMELIMIT] [--tell]
 *
 * Prints `{"url","port","events"}` as one line, serves until standard input ends or a signal comes, answers
 * `GET /requests` with the REQs received so far, and with `--log` also appends each to a file as it arrives. With
 * `--negentropy` it compares by NIP-77, in messages of so many bytes at the most (0: of any length). With `--tell` it
 * prints the type of every message it receives, one a line, before it answers.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readClientMessage } from '../../main/demo/client-message.ts';
import type { StoredEvent } from '../../main/demo/event-store.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { capPages } from './behaviours/paging.ts';
import { ownResponder } from './own-responder.ts';
import type { Behaviour } from './relay-behaviour.ts';
import { ScriptedRelay } from './scripted-relay.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string' },
    port: { type: 'string', default: '0' },
    cap: { type: 'string' },
    hints: { type: 'boolean', default: false },
    log: { type: 'string' },
    negentropy: { type: 'string' },
    tell: { type: 'boolean', default: false },
  },
});

const stored = values.events === undefined ? [] : readStored(values.events);
const behaviours: Behaviour[] = [];
if (values.cap !== undefined) behaviours.push(capPages(Number(values.cap)));
if (values.log !== undefined) behaviours.push(logRequests(values.log));
if (values.tell) behaviours.push(tellMessages());

const relay = await ScriptedRelay.start({
  stored,
  behaviours: [...behaviours, tellRequests()],
  port: Number(values.port),
  eoseHints: values.hints,
  ...(values.negentropy === undefined ? {} : { negentropy: ownResponder(Number(values.negentropy)) }),
  recordSent: false,
});
process.stdout.write(`${JSON.stringify({ url: relay.url, port: relay.port, events: relay.store.size })}\n`);

process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));

/** The lines stand as they are, so that nothing is serialised while pages are served. */
function readStored(path: string): StoredEvent[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((json) => ({ event: JSON.parse(json) as SignedEvent, json }));
}

function logRequests(path: string): Behaviour {
  return {
    name: 'logs requests',
    takeRequest({ number, subscription, sent, connection }) {
      appendFileSync(
        path,
        `${JSON.stringify({ number, connection: connection.number, subscription, filters: sent })}\n`,
      );
      return false;
    },
  };
}

function tellMessages(): Behaviour {
  return {
    name: 'tells its messages',
    takeFrame(text) {
      process.stdout.write(`${readClientMessage(text).type}\n`);
      return false;
    },
  };
}

function tellRequests(): Behaviour {
  return {
    name: 'tells its requests',
    answerHttp(request, response) {
      if (request.url !== '/requests') return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(relay.recordedRequests()));
      return true;
    },
  };
}
