import { describe, expect, it } from 'vitest';
import type { CopiesSummary, CoverageAttempt, CoverageQuery, RelayPresence } from '../../preload/contract.ts';
import { naddrEncode, neventEncode, noteEncode, npubEncode, nsecEncode } from 'nostr-tools/nip19';
import { eventIdOf } from '../../renderer/app/route.ts';
import { attemptStatus, relationPhrase, relationSentences } from '../../renderer/coverage/attempt-words.ts';
import { queryCounts, queryFound, queryPurpose, queryScope } from '../../renderer/coverage/query-words.ts';
import { notFetchedSentence, relationsOf, saturationOffers } from '../../renderer/coverage/rows.ts';
import {
  copiesParts,
  absentHint,
  copiesSentence,
  presentHint,
  countedBefore,
  formatShare,
  whereaboutsSentence,
} from '../../renderer/text/copies.ts';
import { copiesOnRelay } from '../../renderer/text/sentences.ts';

const NONE = { present: 0, absent: 0 };

const copies: CopiesSummary = {
  account: 'a',
  events: 100,
  none: 8,
  one: 12,
  two: 30,
  more: 50,
  undetermined: 5,
  past: 0,
  relays: [],
  computedAt: 1,
};

describe('copies per event', () => {
  it('stand apart where nothing is known, and add up to all events', () => {
    const parts = copiesParts(copies);
    expect(parts.find((part) => part.key === 'none')?.count).toBe(3);
    expect(parts.reduce((sum, part) => sum + part.count, 0)).toBe(copies.events);
  });

  it('are said in words that claim no more than is known', () => {
    expect(copiesSentence(copies)).toContain(
      '3 events were on none of the relays that were conclusively asked, as last seen',
    );
    expect(copiesSentence(copies)).toContain('For 5 events no source relay');
    expect(copiesSentence({ ...copies, none: 0, undetermined: 0 })).toBe('Every event is on a relay; 12 on one only.');
  });

  it('make no alarm of what relays are not meant to keep', () => {
    const replaced = { ...copies, none: 8, undetermined: 5, past: 3 };
    const parts = copiesParts(replaced);
    expect(parts.find((part) => part.key === 'none')?.count).toBe(0);
    expect(parts.find((part) => part.key === 'past')?.count).toBe(3);
    expect(parts.reduce((sum, part) => sum + part.count, 0)).toBe(copies.events);
    expect(copiesSentence(replaced)).not.toContain('only cop');
    expect(copiesSentence(replaced)).toContain('3 events on no relay were replaced by a newer version or deleted');
    expect(presentHint({ past: { present: 3, absent: 0 } })).toContain('may not hold them any more');
    expect(presentHint({ past: NONE })).toBeNull();
    expect(absentHint({ absent: 3, past: { present: 0, absent: 3 } })).toContain('All of them were replaced');
    expect(absentHint({ absent: 4, past: { present: 0, absent: 3 } })).toContain('3 of them were replaced');
    expect(absentHint({ absent: 4, past: NONE })).toBeNull();
  });

  it('say when they were counted before the archive came to hold what it holds', () => {
    expect(countedBefore(copies, 100)).toBeNull();
    expect(countedBefore(copies, 2207)).toBe(
      'Counted when 100 events were archived instead of 2,207; being counted again.',
    );
    const nothing = { ...copies, events: 0, none: 0, one: 0, two: 0, more: 0, undetermined: 0 };
    expect(copiesSentence(nothing)).toBe('');
  });

  it('do not claim that an event is on one relay only while another relay is not known', () => {
    const known = { ...copies, none: 0, undetermined: 0 };
    const relay = (url: string, present: number, undetermined: number) => ({
      url,
      present,
      absent: 0,
      undetermined,
      past: NONE,
    });
    const said = (...relays: CopiesSummary['relays']): string => copiesSentence({ ...known, relays });
    expect(said(relay('wss://a.example', 100, 0))).toBe('Every event is on a relay; 12 on one only.');
    expect(said(relay('wss://a.example', 100, 0), relay('wss://b.example', 0, 100))).toMatch(
      /^Every event is on a relay; 12 were seen on one only; .*b\.example.* is not known yet\.$/,
    );
    expect(said(relay('wss://b.example', 40, 60))).toContain('is not fully known yet');
    expect(said(...['a', 'b', 'c'].map((name) => relay(`wss://${name}.example`, 0, 100)))).toContain(
      '3 relays are not known yet',
    );
    expect(copiesSentence({ ...known, one: 100, relays: [relay('wss://b.example', 0, 100)] })).toContain(
      'Every event was seen on one relay only; ',
    );
  });

  it('never round a rest away', () => {
    expect([formatShare(1, 10_000), formatShare(9_999, 10_000), formatShare(10, 10), formatShare(0, 10)]).toEqual([
      'under 1 %',
      'over 99 %',
      '100 %',
      '0 %',
    ]);
  });

  it('say nothing of a relay that was never conclusively asked', () => {
    expect(copiesOnRelay({ url: 'r', present: 0, absent: 0, undetermined: 9, past: NONE })).toBe('all undetermined');
    expect(copiesOnRelay({ url: 'r', present: 0, absent: 9, undetermined: 0, past: NONE })).toBe(
      '0 present · 9 absent',
    );
  });
});

describe('where an event is', () => {
  it('is one sentence', () => {
    const relay = (state: RelayPresence['state']): RelayPresence => ({
      url: state,
      role: 'write',
      state,
      observedAt: null,
      query: null,
      ground: '',
    });
    expect(whereaboutsSentence({ relays: [relay('present'), relay('undetermined')] })).toBe(
      'Present on 1 relay and undetermined on 1.',
    );
    expect(whereaboutsSentence({ relays: [] })).toContain('No relay is known');
  });

  it('takes an ID in any form and says what is wrong with anything else', () => {
    const id = 'ab'.repeat(32);
    expect(eventIdOf(noteEncode(id))).toEqual({ id });
    expect(eventIdOf(id)).toEqual({ id });
    expect(eventIdOf(npubEncode(id))).toHaveProperty('problem', expect.stringContaining('public key'));
    expect(eventIdOf(nsecEncode(new Uint8Array(32).fill(7)))).toHaveProperty(
      'problem',
      expect.stringContaining('secret key'),
    );
    expect(eventIdOf('note1damaged')).toHaveProperty('problem');
    for (const around of ['https://njump.me/#', 'https://viewer.example/e/#?relay=wss%3A%2F%2Fa.example', 'nostr:#']) {
      expect(eventIdOf(around.replace('#', neventEncode({ id })))).toEqual({ id });
    }
    expect(eventIdOf('https://njump.me/somebody')).toHaveProperty('problem');
    const address = naddrEncode({ kind: 30023, pubkey: id, identifier: 'x' });
    for (const text of [address, `https://njump.me/${address}`]) {
      expect(eventIdOf(text)).toHaveProperty('problem', expect.stringContaining('naddr'));
    }
  });
});

function attempt(part: Partial<CoverageAttempt>): CoverageAttempt {
  return {
    id: 1,
    run: 1,
    prior: null,
    continued: false,
    strategy: 'paging',
    status: 'complete',
    limit: 100,
    startedAt: 1,
    completedAt: 2,
    cursor: null,
    reason: null,
    found: 0,
    fetched: 0,
    received: 0,
    newlyArchived: 0,
    queryCount: 0,
    ...part,
  };
}

describe('how attempts stand to each other', () => {
  const list = [
    attempt({ id: 14, run: 3, prior: 13, continued: true }),
    attempt({ id: 13, run: 2, prior: 12, status: 'partial' }),
    attempt({ id: 12, run: 2, prior: 11, strategy: 'negentropy', status: 'failed' }),
    attempt({ id: 11, run: 1 }),
  ];
  const relations = relationsOf(list);
  const of = (id: number) => relations.get(id) ?? { prior: null, replacedBy: null };

  it('is told by their recorded numbers', () => {
    expect([14, 13, 12, 11].map((id) => relationPhrase(of(id)))).toEqual([
      'continues attempt 13',
      'instead of attempt 12',
      'attempt 13 paged instead',
      null,
    ]);
    expect(relationSentences(of(12))).toHaveLength(2);
  });

  it('makes a fallback no failure', () => {
    expect(attemptStatus({ status: 'failed', strategy: 'paging' }, of(12))).toMatchObject({
      word: 'Fell back',
      tone: 'quiet',
    });
    expect(attemptStatus({ status: 'failed', strategy: 'paging' }, of(11)).word).toBe('Failed');
  });

  it('takes a later paging run for a repetition', () => {
    const later = relationsOf([
      attempt({ id: 2, run: 9, prior: 1 }),
      attempt({ strategy: 'negentropy', status: 'partial' }),
    ]);
    expect(later.get(2)?.prior?.how).toBe('repeats');
    expect(later.get(1)?.replacedBy).toBeNull();
  });
});

describe('queries in words', () => {
  const query = (part: Partial<CoverageQuery>): CoverageQuery => ({
    id: 1,
    type: 'REQ',
    request: { authors: ['a'], until: 100, limit: 100 },
    sentAt: 1,
    completedAt: 2,
    ending: 'eose',
    message: null,
    received: 10,
    valid: 9,
    unique: 8,
    new: 7,
    ...part,
  });

  it('tell a comparison, bodies, a probe and a page apart', () => {
    const purpose = (part: Partial<CoverageQuery>) => queryPurpose(query(part), { strategy: 'negentropy' });
    expect(purpose({ type: 'NEG' })).toBe('Comparison');
    expect(purpose({ request: { ids: ['a', 'b'], limit: 2 } })).toBe('Bodies of 2 IDs');
    expect(purpose({ request: { authors: ['a'], kinds: [1059], limit: 1 } })).toBe('Kind 1059 alone');
    expect(purpose({})).toBe('Page');
  });

  it('do not call a broken comparison established', () => {
    expect(queryCounts(query({ type: 'NEG', ending: 'neg-complete' }))).toBe('9 events on the relay');
    expect(queryCounts(query({ type: 'NEG', ending: 'timeout' }))).toBe('9 events named so far');
  });

  it('say what came in a few words, and find nothing where bodies were asked for', () => {
    expect(queryCounts(query({}))).toBe('10 received · 1 not valid · 7 new');
    expect(queryCounts(query({ valid: 10 }))).toBe('10 received · 7 new');
    expect(queryFound(query({}))).toBe('8');
    expect(queryFound(query({ request: { ids: ['a'] }, unique: 0 }))).toBe('–');
    expect(queryFound(query({ type: 'NEG', unique: 9 }))).toBe('9');
  });

  it('name the stretch that was asked about', () => {
    expect(queryScope(query({}), 'UTC')).toBe('Beginning → 1 Jan 1970 00:01');
    expect(queryScope(query({ request: { ids: [] } }))).toBeNull();
  });
});

describe('offers', () => {
  it('ask for more than the range was asked with, or compare', () => {
    expect(saturationOffers({ limit: 500, strategy: 'paging' })).toEqual(['larger-page', 'compare']);
    expect(saturationOffers({ limit: 5000, strategy: 'paging' })).toEqual(['compare']);
  });

  it('keep bodies that did not come apart from completeness', () => {
    expect(notFetchedSentence({ notFetched: 12 })).toMatch(/^Not fetched 12: /);
    expect(notFetchedSentence({ notFetched: 1 })).toMatch(/^Not fetched 1: the relay named this event/);
  });
});
