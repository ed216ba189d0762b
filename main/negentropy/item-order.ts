const DIGITS = 1 << 16;

/** The positions 0 … count - 1. */
export function identityOrder(count: number): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i += 1) order[i] = i;
  return order;
}

/**
 * One stable pass of a radix sort: writes the positions of `order` to `target`, ascending by the 16 bits above `shift` of
 * `keys[position * stride]`.
 */
export function radixPass(
  order: Uint32Array,
  target: Uint32Array,
  keys: Uint32Array | Int32Array,
  stride: number,
  shift: number,
): void {
  const starts = new Uint32Array(DIGITS + 1);
  const count = order.length;
  for (let i = 0; i < count; i += 1) {
    const digit = ((keys[i * stride] as number) >>> shift) & 0xffff;
    starts[digit + 1] = (starts[digit + 1] as number) + 1;
  }
  for (let digit = 1; digit <= DIGITS; digit += 1) {
    starts[digit] = (starts[digit] as number) + (starts[digit - 1] as number);
  }
  for (let i = 0; i < count; i += 1) {
    const position = order[i] as number;
    const digit = ((keys[position * stride] as number) >>> shift) & 0xffff;
    const slot = starts[digit] as number;
    target[slot] = position;
    starts[digit] = slot + 1;
  }
}

/** Sorts `order` in place where neighbours have the same key, by a comparison that tells more than the key does. */
export function sortTies(
  order: Uint32Array,
  sameKey: (a: number, b: number) => boolean,
  compare: (a: number, b: number) => number,
): void {
  let start = 0;
  while (start < order.length) {
    let end = start + 1;
    while (end < order.length && sameKey(order[end - 1] as number, order[end] as number)) end += 1;
    if (end - start > 1) order.subarray(start, end).sort(compare);
    start = end;
  }
}
