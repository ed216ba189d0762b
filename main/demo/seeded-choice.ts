import { createHash } from 'node:crypto';
import type { Random } from '../platform/random.ts';

/** A reproducible source of randomness: the same seed gives the same sequence everywhere. */
export function seededRandom(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    // mulberry32: small, fast and even enough for a story.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** One of the choices, evenly. Throws when there is none. */
export function choose<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new RangeError('nothing to choose from');
  return choice;
}

/** 64 hex characters that stand for something that is not here, such as another person's note. */
export function namedHex(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}
