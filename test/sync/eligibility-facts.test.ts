import { expect, test } from 'vitest';
import { eligibilityFacts } from '../../main/sync/eligibility-facts.ts';
import { alice } from '../relays/event-builder.ts';

const facts = (kind: number, tags: string[][]) => eligibilityFacts({ pubkey: alice.pubkey, kind, tags });

test.each([
  ['1700000000', 1_700_000_000],
  [' 1700000000', 1_700_000_000],
  ['+1700000000', 1_700_000_000],
  ['1700000000.0', 1_700_000_000],
  ['1700000000.9', 1_700_000_000],
  ['-1', 0],
  ['', 0],
  ['tomorrow', 0],
  ['0x10', 0],
  ['9'.repeat(400), null],
])('an expiration of %j comes at %j', (value, at) => {
  expect(facts(1, [['expiration', value]]).expiresAt).toBe(at);
});

test('the earliest of several expirations counts, and one without a value has come', () => {
  const expiring = ['expiration', '30'];
  expect(facts(1, [['expiration', '20'], expiring]).expiresAt).toBe(20);
  expect(facts(1, [expiring, ['expiration']]).expiresAt).toBe(0);
  expect(facts(1, [['e', '5']]).expiresAt).toBeNull();
});

test("an invitation to an encrypted group is no relay's business", () => {
  expect(facts(444, []).exclusion).toBe('never-sent');
});
