import { expect, test } from 'vitest';
import { matchesFilter, type MatchableFilter } from '../../main/nostr/filter-match.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';

const event = buildEvent({ kind: 7, createdAt: 1000, tags: [['t', 'a', 'c'], ['p'], ['T', 'B']] });

test.each<[string, MatchableFilter, boolean]>([
  ['no condition', {}, true],
  ['its author', { authors: [bob.pubkey, alice.pubkey] }, true],
  ['another author', { authors: [bob.pubkey] }, false],
  ['an empty list of authors', { authors: [] }, false],
  ['its ID', { ids: [event.id] }, true],
  ['another ID', { ids: [event.pubkey] }, false],
  ['its kind', { kinds: [1, 7] }, true],
  ['another kind', { kinds: [1] }, false],
  ['bounds on its second', { since: 1000, until: 1000 }, true],
  ['bounds after it', { since: 1001 }, false],
  ['bounds before it', { until: 999 }, false],
  ['one of its tag values', { '#t': ['x', 'a'] }, true],
  ['a later element of its tag', { '#t': ['c'] }, false],
  ['a tag of another case', { '#t': ['B'] }, false],
  ['two tags, both there', { '#t': ['a'], '#T': ['B'] }, true],
  ['two tags, one missing', { '#t': ['a'], '#e': ['a'] }, false],
  ['a tag without value', { '#p': ['p'] }, false],
])('an event and a filter with %s', (_, filter, matches) => {
  expect(matchesFilter(filter, event)).toBe(matches);
});
