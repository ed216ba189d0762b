import { createHash } from 'node:crypto';

/** Seconds between two fetches after the first one, and how many of those there were. */
export const FETCH_INTERVAL = 5 * 86_400;
export const LATER_FETCHES = 20;
/** T of the first fetch, Unix seconds; that of the others lies a multiple of the interval behind it. */
export const FIRST_BOUNDARY = 1_750_000_000 - LATER_FETCHES * FETCH_INTERVAL;

const FROM = 1_750_000_000 - 6 * 365 * 86_400;
const TO = 1_750_000_000;

export interface GeneratedRelay {
  url: string;
  strategy: 'negentropy' | 'paging';
  /** Share of the history that it lacks. */
  lacks: number;
  /** Kinds that it never shows, and refuses when asked for one alone. */
  hides: readonly number[];
  /** Into how many parts it has the first comparison split. */
  parts: number;
}

/** Ten relays, some of which compare by NIP-77, in the order in which a fetch reaches them. */
export const RELAYS: readonly GeneratedRelay[] = Array.from({ length: 10 }, (_, index) => {
  const compares = index % 2 === 1;
  return {
    url: `wss://relay-${index + 1}.example`,
    strategy: compares ? 'negentropy' : 'paging',
    lacks: 0.05 - 0.004 * index,
    hides: [...(compares ? [4] : []), ...(index === 6 || index === 7 ? [30_078] : [])],
    parts: index % 4 === 3 ? 4 : 1,
  };
});

/** Kinds with the share of a history, in percent, that is of them. */
const KINDS: readonly (readonly [kind: number, percent: number])[] = [
  [1, 44],
  [7, 30],
  [6, 8],
  [4, 5],
  [1111, 4],
  [5, 2.5],
  [9802, 1.5],
  [30_023, 1.5],
  [30_078, 1.5],
  [3, 1],
  [10_002, 0.5],
  [0, 0.5],
];
const ANSWERS = new Set([1, 4, 6, 7, 1111, 9802]);

const SENTENCES = [
  'Good morning, everyone.',
  'I have been reading about relays all day and I think I finally see how the pieces fit together.',
  'Agreed!',
  'Does anybody know whether this works with the new release, or do I have to build it from the sources?',
  'Заметки на полях: всё, что однажды подписано, можно переслать ещё раз.',
  '今日はいい天気ですね。',
];

/** A body without a valid ID and signature, which nobody checks any more once it is archived. */
export interface GeneratedBody {
  id: Buffer;
  sig: Buffer;
  tags: string[][];
  content: string;
}

/** Six years of one account, oldest first; what an event is follows from its index, the same on every machine. */
export class GeneratedHistory {
  readonly count: number;
  readonly createdAt: Uint32Array;
  readonly kinds: Uint16Array;
  /** One bit for each relay that has the event; none at all for what was imported from a file. */
  readonly #holders: Uint16Array;

  constructor(count: number) {
    this.count = count;
    this.createdAt = new Uint32Array(count);
    this.kinds = new Uint16Array(count);
    this.#holders = new Uint16Array(count);
    for (let index = 0; index < count; index += 1) {
      const kind = kindOf(draw(index, 0));
      this.kinds[index] = kind;
      // Some share a second with the one before.
      const own = FROM + Math.floor((index / count) * (TO - FROM));
      this.createdAt[index] = draw(index, 1) < 0.05 && index > 0 ? (this.createdAt[index - 1] ?? own) : own;
      if (draw(index, 2) < 0.001) continue;
      let holders = 0;
      for (const [place, relay] of RELAYS.entries()) {
        if (!relay.hides.includes(kind) && draw(index, 3 + place) >= relay.lacks) holders |= 1 << place;
      }
      this.#holders[index] = holders;
    }
  }

  /** Whether a relay, by its place in {@link RELAYS}, has an event. */
  isHeld(relay: number, index: number): boolean {
    return (((this.#holders[index] ?? 0) >> relay) & 1) === 1;
  }

  /** True for what no relay has. */
  isImported(index: number): boolean {
    return this.#holders[index] === 0;
  }

  /** Number of events from before a second; so also the index of the first one at or after it. */
  before(second: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.createdAt[middle] ?? 0) < second) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  idOf(index: number): Buffer {
    return idOf(index);
  }

  bodyOf(index: number): GeneratedBody {
    const kind = this.kinds[index] ?? 1;
    const sentences = 1 + Math.floor(draw(index, 20) * (kind === 30_023 ? 40 : 3));
    const text = Array.from(
      { length: sentences },
      (_, part) => SENTENCES[Math.floor(draw(index, 21 + part) * SENTENCES.length)],
    ).join(' ');
    return {
      id: this.idOf(index),
      sig: createHash('sha512').update(`signature ${index}`).digest(),
      tags: [...tagsOf(index, kind), ...restrictionsOf(index, kind)],
      content: kind === 7 ? '+' : text,
    };
  }
}

function idOf(index: number): Buffer {
  return createHash('sha256').update(`event ${index}`).digest();
}

/** One event in a thousand has expired, and as many are protected. */
function restrictionsOf(index: number, kind: number): string[][] {
  if (kind === 5) return [];
  const share = draw(index, 73);
  if (share < 0.001) return [['expiration', String(TO)]];
  return share < 0.002 ? [['-']] : [];
}

function tagsOf(index: number, kind: number): string[][] {
  // One request in three names an older event that is here.
  if (kind === 5) {
    const target =
      draw(index, 74) < 0.33 ? idOf(Math.floor(draw(index, 75) * index)).toString('hex') : personOf(index, 76);
    return [['e', target]];
  }
  if (kind === 30_023 || kind === 30_078)
    return [
      ['d', `entry-${index}`],
      ['title', 'What I learned'],
      ['t', 'nostr'],
    ];
  if (kind === 10_002) return RELAYS.map(({ url }) => ['r', url, 'write']);
  if (kind === 3) return Array.from({ length: 20 }, (_, place) => ['p', personOf(index, 80 + place)]);
  // One note in three begins a conversation of its own.
  if (!ANSWERS.has(kind) || (kind === 1 && draw(index, 70) < 0.33)) return [];
  const parent = createHash('sha256').update(`parent of ${index}`).digest('hex');
  const root = createHash('sha256')
    .update(`root ${Math.floor(draw(index, 71) * 5000)}`)
    .digest('hex');
  return [
    ...(kind === 1 ? [['e', root, 'wss://relay-1.example', 'root']] : []),
    ['e', parent, '', ...(kind === 1 ? ['reply'] : [])],
    ['p', personOf(index, 72)],
    ...(kind === 7 ? [['k', '1']] : []),
  ];
}

const people = Array.from({ length: 400 }, (_, place) => createHash('sha256').update(`person ${place}`).digest('hex'));

function personOf(index: number, purpose: number): string {
  return people[Math.floor(draw(index, purpose) * people.length)] ?? '';
}

function kindOf(share: number): number {
  let below = 0;
  for (const [kind, percent] of KINDS) {
    below += percent / 100;
    if (share < below) return kind;
  }
  return 1;
}

/** A number in [0, 1) that belongs to an event's index and a purpose; both are mixed well, none is kept. */
function draw(index: number, purpose: number): number {
  let mixed = Math.imul(index + 1, 0x9e37_79b1) ^ Math.imul(purpose + 1, 0x85eb_ca77);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb_352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846c_a68b);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}
