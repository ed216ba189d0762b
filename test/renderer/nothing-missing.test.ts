import { describe, expect, it } from 'vitest';
import type { CandidateRelay, CandidateTree, CoverageRelay } from '../../preload/contract.ts';
import { claimOf, coverageByUrl, groundOf } from '../../renderer/sync/nothing-missing.ts';
import { sampleRange, sampleRelay } from './coverage-samples.ts';

const [A, B] = ['wss://a.example', 'wss://b.example'];

function relay(url: string, part: Partial<CandidateRelay> = {}): CandidateRelay {
  const nothing = { comparison: 'compared' as const, kinds: [], refused: 0, refusedKinds: [], undetermined: 0 };
  return { url, count: 0, observedAt: null, ...nothing, ...part };
}

function tree(relays: CandidateRelay[], part: Partial<CandidateTree> = {}): CandidateTree {
  return { account: 'a'.repeat(64), total: 0, relays, excluded: [], computedAt: 0, ...part };
}

const walked = (url: string): CoverageRelay => sampleRelay([sampleRange({ checkedAt: 100 })], { url });
const both = coverageByUrl([walked(A), walked(B)]);

describe('that nothing is missing', () => {
  it('is said when every write relay told about every event', () => {
    expect(claimOf(tree([relay(A), relay(B)]), both)).toEqual({
      title: 'Nothing is missing',
      sentence: 'Each of the 2 write relays had every archived event that may be sent, when it was checked last.',
    });
    expect(claimOf(tree([relay(A)]), both).sentence).toMatch(/^The write relay had every/);
  });

  it.each<[string, CandidateTree, ReturnType<typeof coverageByUrl>, string]>([
    ['a copy is undetermined', tree([relay(A), relay(B, { undetermined: 1 })]), both, 'Of 1 copy it is not known'],
    ['copies are being counted', tree([relay(A), relay(B, { undetermined: null })]), both, 'is being counted'],
    [
      'a relay has not answered',
      tree([relay(A), relay(B)]),
      coverageByUrl([walked(A)]),
      '1 relay has not answered yet.',
    ],
    ['events are unchecked', tree([relay(A)], { unchecked: 3 }), both, 'Of 3 events it is not checked yet'],
  ])('is not said while %s', (_, candidates, coverage, why) => {
    const claim = claimOf(candidates, coverage);
    expect(claim.title).toBe('Nothing is known to be missing');
    expect(claim.sentence).toContain(why);
  });

  it('is not said where no relay has answered', () => {
    const failed = sampleRelay([sampleRange({ status: 'failed', checkedAt: null })], { url: A });
    for (const coverage of [coverageByUrl([]), coverageByUrl([failed])]) {
      expect(claimOf(tree([relay(A)]), coverage).title).toBe('No relay has answered yet');
    }
  });

  it('is not said of what relays refused, known or not', () => {
    expect(claimOf(tree([relay(A, { refused: 2 })]), both)).toEqual({
      title: 'Nothing is missing but what was refused',
      sentence: 'The write relays lack 2 copies that they refused, and no other that may be sent.',
    });
    const unsure = claimOf(tree([relay(A, { refused: 2, undetermined: 5 })]), both);
    expect(unsure.title).toBe('Nothing is known to be missing');
    expect(unsure.sentence).toContain('but 2 copies that relays refused');
  });
});

describe('what it rests on', () => {
  it('is said of each relay: how its history was looked at, when, and what is open', () => {
    expect(groundOf(relay(A), walked(A))).toEqual({
      history: 100,
      newer: null,
      sentence: 'Its whole history was walked to the end, page by page.',
    });
    const compared = sampleRelay([sampleRange({ strategy: 'negentropy' })], { url: A });
    expect(groundOf(relay(A), compared).sentence).toBe('Its whole history was compared with the archive (NIP-77).');
    expect(groundOf(relay(A, { undetermined: 1, refused: 2 }), walked(A)).sentence).toMatch(
      /1 event that it may or may not have is undetermined\. It lacks 2 that it refused\.$/,
    );
  });

  it('is little where the history was not walked to its end, and nothing where nobody answered', () => {
    const partial = sampleRelay([sampleRange({ status: 'partial', checkedAt: 7 })], { url: A });
    expect(groundOf(relay(A), partial)).toMatchObject({ history: 7 });
    expect(groundOf(relay(A), partial).sentence).toMatch(/^Its history was not walked to the end/);
    const failed = sampleRelay([sampleRange({ status: 'failed', checkedAt: null })], { url: A });
    expect(groundOf(relay(A), failed).sentence).toMatch(/^It has not answered yet/);
    expect(groundOf(relay(A), undefined).sentence).toMatch(/^It was never asked/);
  });
});
