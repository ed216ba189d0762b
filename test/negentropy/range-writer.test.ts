import { describe, expect, it } from 'vitest';
import { INFINITE_BOUND } from '../../main/negentropy/bound.ts';
import { RangeWriter } from '../../main/negentropy/range-writer.ts';
import { hex, idOf, itemSet } from './conversation.ts';

const nothing = new Uint8Array(0);

describe('A message being written', () => {
  it('is as if a range that did not fit had never been tried', () => {
    const set = itemSet(Array.from({ length: 20 }, (_, index) => ({ at: index * 100, id: idOf(index) })));
    const write = (withAttempt: boolean): string => {
      const out = new RangeWriter(set);
      out.skip({ timestamp: 300, prefix: nothing });
      expect(out.list({ timestamp: 500, prefix: nothing }, 3, 5, 200)).toBe(true);
      out.skip({ timestamp: 900, prefix: nothing });
      if (withAttempt) expect(out.list({ timestamp: 1_500, prefix: nothing }, 9, 15, 200)).toBe(false);
      expect(out.fingerprint(INFINITE_BOUND, 9, 20, 200)).toBe(true);
      return hex(out.toBytes());
    };
    expect(write(true)).toBe(write(false));
  });

  it('merges skips, and leaves them out at the end', () => {
    const set = itemSet([{ at: 7, id: idOf(7) }]);
    const out = new RangeWriter(set);
    out.skip({ timestamp: 3, prefix: nothing });
    out.skip({ timestamp: 5, prefix: nothing });
    out.list({ timestamp: 9, prefix: nothing }, 0, 1, 100);
    out.skip(INFINITE_BOUND);
    // Up to second 5 skipped (1 + 5), then up to 9 (1 + 4) a list of one.
    expect(hex(out.toBytes())).toBe(`61060000${'050002'}01${idOf(7)}`);
  });
});
