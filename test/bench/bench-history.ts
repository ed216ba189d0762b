import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SignedEvent } from '../../preload/contract.ts';
import { buildEvent } from '../relays/event-builder.ts';

/** Changes with everything below that changes the events, so that an old file is not taken for a new one. */
const VERSION = 1;
const FROM = 1_540_000_000;
const TO = 1_700_000_000;

const SENTENCES = [
  'Good morning, everyone.',
  'I have been reading about relays all day and I think I finally see how the pieces fit together.',
  'Agreed!',
  'Does anybody know whether this works with the new release, or do I have to build it from the sources?',
  'Заметки на полях: всё, что однажды подписано, можно переслать ещё раз.',
  'https://example.com/pictures/2024/the-view-from-the-hill-in-the-evening.jpg',
  '今日はいい天気ですね。',
  'The longer I use it, the less I miss what I used before; the people are what makes the difference 🙂',
];

/** A number in [0, below) that belongs to an event's index and a purpose. */
function draw(index: number, purpose: string, below: number): number {
  return createHash('sha256').update(`${purpose} of ${index}`).digest().readUInt32BE(0) % below;
}

function hexOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

/**
 * An event as people's histories hold them: notes, most of them answers with the tags of NIP-10, reactions, reposts that
 * carry the event they repeat, some articles. Answers name one of a few hundred people and an event of their own each.
 */
function benchEvent(index: number, count: number): SignedEvent {
  const createdAt = FROM + Math.floor((index / count) * (TO - FROM));
  const person = hexOf(`person ${draw(index, 'person', 400)}`);
  const parent = hexOf(`parent ${index}`);
  const text = Array.from(
    { length: 1 + draw(index, 'length', 3) },
    (_, part) => SENTENCES[draw(index, `part ${part}`, SENTENCES.length)],
  ).join(' ');
  const share = draw(index, 'kind', 100);
  if (share < 20) return buildEvent({ createdAt, content: text });
  if (share < 52) {
    const root = hexOf(`root ${draw(index, 'root', 5000)}`);
    const tags = [
      ['e', root, 'wss://relay.example.com', 'root'],
      ['e', parent, '', 'reply'],
      ['p', person],
      ...(share < 36 ? [['p', hexOf(`person ${draw(index, 'second person', 400)}`)]] : []),
    ];
    return buildEvent({ createdAt, content: text, tags });
  }
  if (share < 88) {
    const tags = [
      ['e', parent, 'wss://relay.example.com'],
      ['p', person],
      ['k', '1'],
    ];
    return buildEvent({ createdAt, kind: 7, content: '+', tags });
  }
  if (share < 98) {
    const repeated = {
      ...buildEvent({ createdAt: createdAt - 100, content: text, tags: [['t', 'nostr']] }),
      pubkey: person,
    };
    return buildEvent({
      createdAt,
      kind: 6,
      content: JSON.stringify(repeated),
      tags: [
        ['e', repeated.id, 'wss://relay.example.com'],
        ['p', person],
      ],
    });
  }
  const tags = [
    ['d', `article-${index}`],
    ['title', 'What I learned'],
    ['t', 'nostr'],
    ['published_at', String(createdAt)],
  ];
  return buildEvent({ createdAt, kind: 30_023, content: `${text}\n\n`.repeat(20), tags });
}

/** The path of a JSONL file with such a history by alice, oldest first; made once per machine and length. */
export function benchHistoryFile(count: number): string {
  const directory = join(tmpdir(), 'holdfast-test-histories');
  const path = join(directory, `bench-${VERSION}-${count}.jsonl`);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  const lines = Array.from({ length: count }, (_, index) => `${JSON.stringify(benchEvent(index, count))}\n`);
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, lines.join(''));
  renameSync(unfinished, path);
  return path;
}

/** The events of {@link benchHistoryFile}. */
export function benchHistory(count: number): SignedEvent[] {
  const lines = readFileSync(benchHistoryFile(count), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as SignedEvent);
}
