import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npubEncode } from 'nostr-tools/nip19';
import { initNostrWasm } from 'nostr-wasm';
import type { SignedEvent } from '../../preload/contract.ts';

const wasm = await initNostrWasm();
/** Fixed, so that the same event always has the same signature. */
const entropy = new Uint8Array(32);

/** A key pair for tests. */
export interface TestKey {
  name: string;
  pubkey: string;
  npub: string;
  secretKey: Uint8Array;
}

/** The key that belongs to a name; the same on every machine. */
export function keyOf(name: string): TestKey {
  const secretKey = createHash('sha256').update(`key of ${name} in the tests`).digest();
  const pubkey = Buffer.from(wasm.getPublicKey(secretKey)).toString('hex');
  return { name, pubkey, npub: npubEncode(pubkey), secretKey };
}

export const alice = keyOf('alice');
export const bob = keyOf('bob');
export const carol = keyOf('carol');

export interface EventFields {
  author?: TestKey;
  kind?: number;
  /** Unix seconds, or whatever else the test wants to be signed. */
  createdAt?: number;
  content?: string;
  tags?: string[][];
}

/** A validly signed event; what is not given is a note by alice at 1,700,000,000. */
export function buildEvent(fields: EventFields = {}): SignedEvent {
  const { author = alice, kind = 1, createdAt = 1_700_000_000, content = 'a note', tags = [] } = fields;
  const event = { id: '', pubkey: '', created_at: createdAt, kind, tags, content, sig: '' };
  wasm.finalizeEvent(event, author.secretKey, entropy);
  return event;
}

export interface HistoryFields {
  author?: TestKey;
  count: number;
  /** The oldest and the newest second, inclusive. */
  from: number;
  to: number;
  /** How many events share a second. */
  perSecond?: number;
  /** Taken in turn. */
  kinds?: readonly number[];
  /** Characters of content per event. */
  contentLength?: number;
}

/** Validly signed events spread evenly over a time, oldest first. About a third of a millisecond each. */
export function buildHistory(fields: HistoryFields): SignedEvent[] {
  const { author = alice, count, from, to, perSecond = 1, kinds = [1], contentLength = 0 } = fields;
  const seconds = Math.max(1, Math.ceil(count / perSecond));
  return Array.from({ length: count }, (_, index) => {
    const position = Math.floor(index / perSecond);
    const createdAt = seconds === 1 ? to : from + Math.floor((position * (to - from)) / (seconds - 1));
    const kind = kinds[index % kinds.length] ?? 1;
    return buildEvent({ author, kind, createdAt, content: `note ${index}`.padEnd(contentLength, ' and so on') });
  });
}

/** The path of a JSONL file with such a history; made once per machine and set of parameters. */
export function cachedHistoryFile(fields: HistoryFields): string {
  const { author = alice, ...rest } = fields;
  const parameters = JSON.stringify([author.pubkey, Object.entries(rest).sort()]);
  const directory = join(tmpdir(), 'holdfast-test-histories');
  const path = join(directory, `${createHash('sha256').update(parameters).digest('hex').slice(0, 24)}.jsonl`);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  // Written aside and renamed, so that a process that was killed half-way leaves nothing that looks whole.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, buildHistory(fields).map((event) => `${JSON.stringify(event)}\n`).join('')); // prettier-ignore
  renameSync(unfinished, path);
  return path;
}

/** {@link buildHistory} from the cache of {@link cachedHistoryFile}. */
export function cachedHistory(fields: HistoryFields): SignedEvent[] {
  const lines = readFileSync(cachedHistoryFile(fields), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as SignedEvent);
}

/** More events in one second than a page can carry (row 4). */
export function saturatedSecond(second: number, count: number, author: TestKey = alice): SignedEvent[] {
  return buildHistory({ author, count, from: second, to: second, perSecond: count });
}

/** Validly signed events whose time is no plausible second: far ahead, in milliseconds, negative, and zero. */
export function implausibleTimes(now: number, author: TestKey = alice): SignedEvent[] {
  const times = [now + 10 * 365 * 86_400, now * 1000, -now, 0, Number.MAX_SAFE_INTEGER, 253_402_300_800];
  return times.map((createdAt) => buildEvent({ author, createdAt, content: `created at ${createdAt}` }));
}
