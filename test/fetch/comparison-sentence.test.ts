import { expect, test } from 'vitest';
import { comparisonSentence } from '../../main/fetch/comparison-sentence.ts';

test('says of a comparison what was so when it was made, in numbers that can be read', () => {
  expect(comparisonSentence({ parts: 1, common: 0, remoteOnly: 1846, localOnly: 1_234_567 })).toBe(
    'Compared by NIP-77. When it was compared, 0 were in common, 1,846 only on the relay, 1,234,567 only here.',
  );
  expect(comparisonSentence({ parts: 3, common: 1, remoteOnly: 2, localOnly: 3 })).toContain(
    'Compared by NIP-77, in 3 parts because the relay called the whole too large. When it was compared,',
  );
});
