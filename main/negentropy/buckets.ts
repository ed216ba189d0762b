import type { Bound } from './bound.ts';
import type { ItemSet } from './item-set.ts';
import { BUCKETS } from './protocol.ts';

/** One part of a range: the items `from … to - 1` up to `upper`, which begins where the part before it ends. */
export interface Bucket {
  readonly upper: Bound;
  readonly from: number;
  readonly to: number;
}

/** Splits the items `from … to - 1` of the range up to `upper` into 16 parts of equal size, give or take one. */
export function buckets(items: ItemSet, from: number, to: number, upper: Bound): Bucket[] {
  const size = Math.floor((to - from) / BUCKETS);
  const larger = (to - from) % BUCKETS;
  const parts: Bucket[] = [];
  let start = from;
  for (let part = 0; part < BUCKETS; part += 1) {
    const end = start + size + (part < larger ? 1 : 0);
    parts.push({ upper: end === to ? upper : items.boundBefore(end), from: start, to: end });
    start = end;
  }
  return parts;
}
