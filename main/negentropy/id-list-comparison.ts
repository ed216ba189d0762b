import { ID_SIZE } from './bound.ts';
import { LIMBS } from './fingerprint.ts';
import type { IdCollector } from './id-collector.ts';
import { identityOrder, radixPass, sortTies } from './item-order.ts';
import type { ItemSet } from './item-set.ts';

/** Lists within these sizes, nearly all there are, are compared without sorting, in memory that they share. */
const SHORT_OURS = 32;
const SHORT_THEIRS = 64;
const sharedLimbs = new Int32Array(SHORT_THEIRS * LIMBS);
const sharedBytes = new Uint8Array(sharedLimbs.buffer);

/** From this size on passes over all digits are faster than comparisons. */
const RADIX_FROM = 4096;

/** IDs as limbs, of which a range counts: those with the indices `from … from + count - 1`. */
interface Ids {
  readonly limbs: Int32Array;
  readonly from: number;
  readonly count: number;
}

/**
 * Compares the items `from … to - 1` with a list of IDs (32 bytes each, in any order; repeats count once): IDs that
 * only the items have go to `have`, IDs that only the list has to `need`, each in the order of its side. The time grows
 * as n log n whatever the IDs are.
 */
export function compareWithList(
  items: ItemSet,
  from: number,
  to: number,
  list: Uint8Array,
  have: IdCollector,
  need: IdCollector,
): void {
  const ours = { limbs: items.limbs, from, count: to - from };
  const count = list.length / ID_SIZE;
  const short = ours.count <= SHORT_OURS && count <= SHORT_THEIRS;
  // Copied, because limbs need an alignment that the list may not have.
  const theirs = { limbs: short ? sharedLimbs : new Int32Array(count * LIMBS), from: 0, count };
  (short ? sharedBytes : new Uint8Array(theirs.limbs.buffer)).set(list);
  if (short) compareShort(ours, theirs, items.idBytes(from, to), list, have, need);
  else compareSorted(ours, theirs, items.idBytes(from, to), list, have, need);
}

/** Looks for each ID of theirs where the order of both sides suggests it, right after the one found before. */
function compareShort(
  ours: Ids,
  theirs: Ids,
  ourBytes: Uint8Array,
  theirBytes: Uint8Array,
  have: IdCollector,
  need: IdCollector,
): void {
  let found = 0;
  let next = 0;
  for (let their = 0; their < theirs.count; their += 1) {
    let tries = 0;
    while (tries < ours.count && !isSameId(ours, next, theirs, their)) {
      next = next + 1 < ours.count ? next + 1 : 0;
      tries += 1;
    }
    if (tries < ours.count) {
      found |= 1 << next;
      next = next + 1 < ours.count ? next + 1 : 0;
    } else if (!isRepeat(theirs, their)) {
      need.add(theirBytes, their);
    }
  }
  for (let our = 0; our < ours.count; our += 1) if ((found & (1 << our)) === 0) have.add(ourBytes, our);
}

function isRepeat(ids: Ids, index: number): boolean {
  for (let before = 0; before < index; before += 1) if (isSameId(ids, before, ids, index)) return true;
  return false;
}

/** Sorts both sides by ID and merges them. */
function compareSorted(
  ours: Ids,
  theirs: Ids,
  ourBytes: Uint8Array,
  theirBytes: Uint8Array,
  have: IdCollector,
  need: IdCollector,
): void {
  const ourOrder = orderById(ours);
  const theirOrder = orderById(theirs);
  const onlyOurs = new Uint8Array(ours.count);
  const onlyTheirs = new Uint8Array(theirs.count);
  let i = 0;
  let j = 0;
  while (i < ours.count || j < theirs.count) {
    const our = ourOrder[i] as number;
    const their = theirOrder[j] as number;
    const order = i === ours.count ? 1 : j === theirs.count ? -1 : compareIds(ours, our, theirs, their);
    if (order < 0) onlyOurs[our] = 1;
    if (order > 0) onlyTheirs[their] = 1;
    if (order <= 0) i += 1;
    if (order >= 0) {
      j += 1;
      while (j < theirs.count && compareIds(theirs, their, theirs, theirOrder[j] as number) === 0) j += 1;
    }
  }
  for (let index = 0; index < ours.count; index += 1) if (onlyOurs[index] === 1) have.add(ourBytes, index);
  for (let index = 0; index < theirs.count; index += 1) if (onlyTheirs[index] === 1) need.add(theirBytes, index);
}

/** Written out, because most of the time of a comparison is spent here. */
function isSameId(a: Ids, aIndex: number, b: Ids, bIndex: number): boolean {
  const left = a.limbs;
  const right = b.limbs;
  const i = (a.from + aIndex) * LIMBS;
  const j = (b.from + bIndex) * LIMBS;
  return (
    left[i] === right[j] &&
    left[i + 1] === right[j + 1] &&
    left[i + 2] === right[j + 2] &&
    left[i + 3] === right[j + 3] &&
    left[i + 4] === right[j + 4] &&
    left[i + 5] === right[j + 5] &&
    left[i + 6] === right[j + 6] &&
    left[i + 7] === right[j + 7]
  );
}

/** Any total order serves to find equal IDs; this one compares the 32-bit limbs in turn. */
function compareIds(a: Ids, aIndex: number, b: Ids, bIndex: number): number {
  const aLimb = (a.from + aIndex) * LIMBS;
  const bLimb = (b.from + bIndex) * LIMBS;
  for (let limb = 0; limb < LIMBS; limb += 1) {
    const left = a.limbs[aLimb + limb] as number;
    const right = b.limbs[bLimb + limb] as number;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

function orderById(ids: Ids): Uint32Array {
  const order = identityOrder(ids.count);
  const compare = (a: number, b: number): number => compareIds(ids, a, ids, b);
  if (ids.count < RADIX_FROM) return order.sort(compare);
  const limbs = ids.limbs.subarray(ids.from * LIMBS, (ids.from + ids.count) * LIMBS);
  const target = new Uint32Array(ids.count);
  radixPass(order, target, limbs, LIMBS, 0);
  radixPass(target, order, limbs, LIMBS, 16);
  sortTies(order, (a, b) => limbs[a * LIMBS] === limbs[b * LIMBS], compare);
  return order;
}
