import { describe, expect, it } from 'vitest';
import { checkedTimes } from '../../renderer/coverage/checked.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

const history = sampleRange({ checkedAt: 100 });

describe('the age of what is known of a relay', () => {
  it('is that of its whole history, however late a few minutes of it were asked for', () => {
    const newer = sampleRange({ id: 2, since: 1990, until: 3000, checkedAt: 900 });
    expect(checkedTimes(sampleRelay([history]))).toEqual({ history: 100, newer: null });
    expect(checkedTimes(sampleRelay([history, newer]))).toEqual({ history: 100, newer: 900 });
    const recheck = sampleRange({ id: 3, until: 4000, checkedAt: 950 });
    expect(checkedTimes(sampleRelay([history, newer, recheck]))).toEqual({ history: 950, newer: null });
  });

  it('is not changed by what did not come to its end', () => {
    const broken = sampleRange({ id: 2, until: 4000, status: 'partial', checkedAt: 900 });
    const failed = sampleRange({ id: 3, since: 1990, until: 4000, status: 'failed', checkedAt: 950 });
    expect(checkedTimes(sampleRelay([history, broken, failed]))).toEqual({ history: 100, newer: null });
  });

  it('is that of the last answer while no walk came to its end', () => {
    expect(checkedTimes(sampleRelay([sampleRange({ status: 'partial', checkedAt: 7 })]))).toEqual({
      history: 7,
      newer: null,
    });
    expect(checkedTimes(sampleRelay([]))).toEqual({ history: null, newer: null });
  });
});
