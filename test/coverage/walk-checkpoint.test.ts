import { expect, test } from 'vitest';
import { readCheckpoint } from '../../main/coverage/walk-checkpoint.ts';
import { CHECKPOINT } from './coverage-rig.ts';

test('a checkpoint comes back as it was written', () => {
  expect(readCheckpoint(JSON.stringify(CHECKPOINT))).toEqual(CHECKPOINT);
});

test.each([
  'null',
  '{}',
  'half of {',
  JSON.stringify({ ...CHECKPOINT, version: 'windows-1' }),
  JSON.stringify({ ...CHECKPOINT, pages: '3' }),
])('what is no checkpoint of paging is never resumed as one: %s', (text) => {
  expect(readCheckpoint(text)).toBeNull();
});
