import { describe, expect, test } from 'vitest';
import { readSignedEvent } from '../../main/nostr/signed-event.ts';
import { buildEvent } from '../relays/event-builder.ts';

const event = buildEvent({ tags: [['e', 'x'], []] });

describe('reading a foreign value as an event', () => {
  test('takes over the seven fields and nothing else', () => {
    expect(readSignedEvent({ ...event, extra: 1, seen: ['wss://x'] })).toEqual(event);
    expect(Object.keys(readSignedEvent({ extra: 1, ...event }))).toHaveLength(7);
  });

  test.each([
    ['nothing', null],
    ['a list', [event]],
    ['an upper-case ID', { ...event, id: event.id.toUpperCase() }],
    ['a short ID', { ...event, id: event.id.slice(1) }],
    ['a line end after the ID', { ...event, id: `${event.id}\n` }],
    ['a short key', { ...event, pubkey: '' }],
    ['a short signature', { ...event, sig: event.sig.slice(2) }],
    ['a time as text', { ...event, created_at: '1700000000' }],
    ['a broken second', { ...event, created_at: 1.5 }],
    ['a time beyond whole numbers', { ...event, created_at: 2 ** 53 }],
    ['a kind below zero', { ...event, kind: -1 }],
    ['a kind above 65535', { ...event, kind: 65_536 }],
    ['content that is no text', { ...event, content: null }],
    ['tags that are no list', { ...event, tags: {} }],
    ['a tag that is no list', { ...event, tags: ['e'] }],
    ['a tag with a number', { ...event, tags: [['e', 1]] }],
    ['a missing field', { ...event, sig: undefined }],
  ])('refuses %s, in words', (_, value) => {
    expect(readSignedEvent(value)).toMatch(/\w+ is/);
  });

  test.each([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, -1])('takes any whole number as time: %d', (time) => {
    expect(readSignedEvent({ ...event, created_at: time })).toMatchObject({ created_at: time });
  });
});
