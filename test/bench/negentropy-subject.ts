/*
 * What negentropy-bench.ts measures, in a process of its own so that nothing else counts: `holdfast`, `nostr-tools` or
 * `million` as the first argument, the number of runs as the second; the result goes to standard output as JSON.
 */
import { Initiator } from '../../main/negentropy/initiator.ts';
import { ItemSetBuilder } from '../../main/negentropy/item-set-builder.ts';
import type { ItemSet } from '../../main/negentropy/item-set.ts';
import { payloadFromHex, payloadToHex } from '../../main/negentropy/payload-hex.ts';
import { Responder } from '../../main/negentropy/responder.ts';
import { clientOf, emptyStorage } from '../negentropy/nostr-tools-client.ts';

export interface Comparison {
  /** CPU milliseconds of each run that counts. */
  cpu: number[];
  have: number;
  need: number;
}

export interface Million {
  buildMs: number;
  initiatorMs: number;
  responderMs: number;
  /** Growth of resident memory from before the set was built to the highest point seen. */
  peakBytes: number;
  have: number;
  need: number;
}

/** Runs that come first and do not count: the engine compiles what it finds hot. */
const WARM_UP = 10;

/** Rows as an archive gives them, sorted, the same in every process; of each hundred, one is ours alone and one theirs. */
function* rows(count: number, side: 'ours' | 'theirs'): Generator<[at: number, id: Buffer]> {
  let state = 0x9e3779b9;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  let at = 1_500_000_000;
  for (let index = 0; index < count + count / 100; index += 1) {
    at += 1 + (next() % 300);
    const id = Buffer.allocUnsafe(32);
    for (let offset = 0; offset < 32; offset += 4) id.writeUInt32LE(next(), offset);
    if (index % 101 === 0 ? side === 'ours' : index % 101 === 50 ? side === 'theirs' : true) yield [at, id];
  }
}

function builtFrom(list: Iterable<[number, Buffer]>): ItemSet {
  return new ItemSetBuilder().addAll(list).build();
}

/** CPU milliseconds that the whole process spends on `work`, the engine's helper threads included. */
function cpuOf(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** An initiator from its rows to the end of the conversation. It sends a message as hex and takes the answer as hex. */
type Conversation = (exchange: (message: string) => string) => { have: number; need: number };

/** The conversation is rehearsed once; the runs that count replay the answers, so that no responder counts. */
function compare(conversation: Conversation, runs: number): Comparison {
  const responder = new Responder(builtFrom(rows(100_000, 'theirs')));
  const answers: string[] = [];
  const result = conversation((message) => {
    const answer = payloadToHex(responder.respond(payloadFromHex(message)));
    answers.push(answer);
    return answer;
  });
  const cpu = Array.from({ length: WARM_UP + runs }, () => {
    let next = 0;
    return cpuOf(() => conversation(() => answers[next++] ?? ''));
  });
  return { cpu: cpu.slice(WARM_UP), ...result };
}

function holdfastConversation(): Conversation {
  const list = [...rows(100_000, 'ours')];
  const times = Float64Array.from(list, ([at]) => at);
  const ids = list.map(([, id]) => id);
  return (exchange) => {
    const builder = new ItemSetBuilder(ids.length);
    for (let index = 0; index < ids.length; index += 1) builder.add(times[index] ?? 0, ids[index] ?? Buffer.of());
    const initiator = new Initiator(builder.build());
    const result = { have: 0, need: 0 };
    let message: Uint8Array | null = initiator.initiate();
    while (message !== null) {
      const step = initiator.reconcile(payloadFromHex(exchange(payloadToHex(message))));
      result.have += step.have.toHex().length;
      result.need += step.need.toHex().length;
      message = step.message;
    }
    initiator.close();
    return result;
  };
}

function nostrToolsConversation(): Conversation {
  const list = [...rows(100_000, 'ours')];
  const times = Float64Array.from(list, ([at]) => at);
  const ids = list.map(([, id]) => id.toString('hex'));
  return (exchange) => {
    const storage = emptyStorage();
    for (let index = 0; index < ids.length; index += 1) storage.insert(times[index] ?? 0, ids[index] ?? '');
    storage.seal();
    const client = clientOf(storage, 100_000_000);
    const result = { have: 0, need: 0 };
    let message: string | null = client.initiate();
    while (message !== null) {
      message = client.reconcile(
        exchange(message),
        () => (result.have += 1),
        () => (result.need += 1),
      );
    }
    return result;
  };
}

function reconcileMillion(): Million {
  const count = 1_000_000;
  const responder = new Responder(builtFrom(rows(count, 'theirs')));
  const result: Million = { buildMs: 0, initiatorMs: 0, responderMs: 0, peakBytes: 0, have: 0, need: 0 };
  const resident = process.memoryUsage.rss();
  const look = (): void => {
    result.peakBytes = Math.max(result.peakBytes, process.memoryUsage.rss() - resident);
  };
  const builder = new ItemSetBuilder();
  // Rows are made in portions whose making does not count.
  let portion: [number, Buffer][] = [];
  const add = (): void => {
    const start = performance.now();
    for (const [at, id] of portion) builder.add(at, id);
    result.buildMs += performance.now() - start;
    portion = [];
    look();
  };
  for (const row of rows(count, 'ours')) {
    portion.push(row);
    if (portion.length === 5_000) add();
  }
  add();
  const built = performance.now();
  const initiator = new Initiator(builder.build());
  result.buildMs += performance.now() - built;
  look();
  const started = performance.now();
  let message: Uint8Array | null = initiator.initiate();
  result.initiatorMs += performance.now() - started;
  while (message !== null) {
    const asked = performance.now();
    const answer = responder.respond(message);
    const answered = performance.now();
    const step = initiator.reconcile(answer);
    result.responderMs += answered - asked;
    result.initiatorMs += performance.now() - answered;
    result.have += step.have.length;
    result.need += step.need.length;
    message = step.message;
    look();
  }
  return result;
}

function measure(subject: string | undefined, runs: number): Comparison | Million {
  if (subject === 'million') return reconcileMillion();
  return compare(subject === 'nostr-tools' ? nostrToolsConversation() : holdfastConversation(), runs);
}

process.stdout.write(JSON.stringify(measure(process.argv[2], Number(process.argv[3] ?? 1))));
