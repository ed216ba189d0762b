import { expect, test } from 'vitest';
import { isPlausibleTime } from '../../main/nostr/plausible-time.ts';

const NOW = 1_700_000_000;

test.each([
  [0, true],
  [-1, false],
  [NOW, true],
  [NOW + 86_400, true],
  [NOW + 86_401, false],
  [NOW * 1000, false],
  [Number.MAX_SAFE_INTEGER, false],
])('a created_at of %d may move a cursor: %s', (createdAt, plausible) => {
  expect(isPlausibleTime(createdAt, NOW)).toBe(plausible);
});
