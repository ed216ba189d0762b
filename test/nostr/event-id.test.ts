import { hash } from 'node:crypto';
import { getEventHash } from 'nostr-tools/pure';
import { describe, expect, test } from 'vitest';
import { computeEventId, computeVerbatimEventId } from '../../main/nostr/event-id.ts';
import { alice, buildEvent } from '../relays/event-builder.ts';

describe('the ID of an event', () => {
  test.each([
    ['quotes and backslashes', 'she said "no\\yes"'],
    ['listed control characters', '\n\r\t\b\f'],
    ['other control characters', '\u0000\u0001\u001f\u007f'],
    ['line separators', 'a\u2028b\u2029c'],
    ['emoji', 'рыба 🐟 👩‍👩‍👧'],
    ['unpaired surrogates', '\ud83d and \udc1f'],
  ])('is that of another implementation for %s', (_, text) => {
    const event = buildEvent({ content: text, tags: [['t', text], [], ['']], createdAt: -5, kind: 65_535 });

    expect(computeEventId(event)).toBe(getEventHash(event));
    expect(computeEventId(event)).toBe(event.id);
  });

  test('by the letter of NIP-01 has every other control character as it is', () => {
    const event = { ...buildEvent(), tags: [['t', '\u0001"']], content: 'a\u0000b\u001f\n\\' };
    const serialised = `[0,"${alice.pubkey}",1700000000,1,[["t","\u0001\\""]],"a\u0000b\u001f\\n\\\\"]`;

    expect(computeVerbatimEventId(event)).toBe(hash('sha256', serialised));
    expect(computeVerbatimEventId(event)).not.toBe(computeEventId(event));
  });

  test('has one reading when there are no rare control characters', () => {
    const event = { ...buildEvent(), tags: [[], ['r', 'wss://x', '\u2028']], content: '"\\\n\r\t\b\f 🐟' };

    expect(computeVerbatimEventId(event)).toBe(computeEventId(event));
  });
});
