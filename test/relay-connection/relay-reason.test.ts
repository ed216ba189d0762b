import { describe, expect, it } from 'vitest';
import {
  isLastingRefusal,
  meaningOf,
  mentionsNegentropy,
  noticeMeaning,
  parseReason,
  saysItHasTheEvent,
} from '../../main/relays/relay-reason.ts';

describe('the prefix of a reason', () => {
  it.each([
    ['auth-required: log in', 'auth-required'],
    ['restricted: no', 'restricted'],
    ['rate-limited: slow', 'rate-limited'],
    ['duplicate: have it', 'duplicate'],
    ['pow: 25 bits', 'pow'],
    ['blocked: you', 'blocked'],
    ['invalid: created_at too early', 'invalid'],
    ['unsupported: filter', 'unsupported'],
    ['mute: nobody', 'mute'],
    ['error: database', 'error'],
    ['ERROR: bad req', 'error'],
    ['  blocked : spaced', 'blocked'],
    ['something: else', null],
    ['blocked', null],
    ['', null],
  ])('of %j is %s, and the whole text is kept', (text, prefix) => {
    expect(parseReason(text)).toEqual({ prefix, text });
  });
});

describe('the meaning of a reason', () => {
  it.each([
    ['rate-limited: too many concurrent REQs', 'rate-limited'],
    ['noting too much', 'chatter'],
    ['Too Many Requests', 'rate-limited'],
    ['You are posting too fast', 'rate-limited'],
    ['slow down', 'rate-limited'],
    ['429', 'rate-limited'],
    ['error: too many messages per minute', 'rate-limited'],
    ['too many concurrent REQs', 'too-many-requests'],
    ['blocked: too many subscriptions', 'too-many-requests'],
    ['subscription limit reached', 'too-many-requests'],
    ['rate limit exceeded', 'rate-limited'],
    ['invalid: limitation.max_limit 300', 'limit-too-large'],
    ['filter limit too large', 'limit-too-large'],
    ['limit exceeds maximum', 'limit-too-large'],
    ['limit must be <= 100', 'limit-too-large'],
    ['invalid: event too large: 70000', 'frame-too-large'],
    ['message size limit exceeded', 'frame-too-large'],
    ['max message length is 16384', 'frame-too-large'],
    ['authentication required', 'auth-required'],
    ['ERROR: bad msg: negentropy disabled', 'unsupported'],
    ['ERROR: bad msg: unknown cmd', 'unsupported'],
    ['failed to decode envelope: unknown envelope label', 'unsupported'],
    ['Unrecognised event', 'unsupported'],
    ['could not parse command', 'error'],
    ['bad message', 'unsupported'],
    ['invalid: created_at too early', 'error'],
    ['restricted: too many requests', 'error'],
    ['welcome', 'chatter'],
    ['There is no limit to friendship', 'chatter'],
    ['Our messages are kept for 30 days', 'chatter'],
    ['duplicate: error', 'chatter'],
  ])('%j means %s', (text, meaning) => {
    expect(meaningOf(parseReason(text))).toBe(meaning);
  });
});

describe('the meaning of a NOTICE', () => {
  it.each([
    'info: event size is fine',
    'Our event size limit is 128 KB',
    'max message length is 16384',
    'max limit 500',
    'maximum number of subscriptions: 20',
  ])('%j refuses nothing', (text) => {
    expect(noticeMeaning(parseReason(text))).toBe('chatter');
  });

  it.each([
    ['message size limit exceeded', 'frame-too-large'],
    ['message too large', 'frame-too-large'],
    ['error: max message length is 16384', 'frame-too-large'],
    ['limit must be <= 100', 'limit-too-large'],
    ['too many concurrent REQs', 'too-many-requests'],
    ['subscription limit reached', 'too-many-requests'],
    ['slow down', 'rate-limited'],
  ])('%j means %s', (text, meaning) => {
    expect(noticeMeaning(parseReason(text))).toBe(meaning);
  });
});

describe('words that the relay has the event', () => {
  it.each([
    'duplicate: have it',
    'Event already exists',
    'error: duplicate key value violates unique constraint "events_pkey"',
    'UNIQUE constraint failed: events.id',
    'we have this event',
  ])('%j', (text) => {
    expect(saysItHasTheEvent(parseReason(text))).toBe(true);
  });

  it.each(['blocked: not on the list', 'invalid: unknown kind', 'you do not exist', ''])('not %j', (text) => {
    expect(saysItHasTheEvent(parseReason(text))).toBe(false);
  });
});

describe('a refused event', () => {
  it.each([
    'blocked: not on the list',
    'invalid: created_at too early',
    'invalid: event created later than allowed',
    'pow: difficulty 28 is required',
    'restricted: members only',
    'mute: no one was listening',
    'invalid: event too large',
    'error: message too large',
    'the frame was too large (1009)',
    'we do not want this',
    '',
  ])('stays refused for %j', (text) => {
    expect(isLastingRefusal(parseReason(text))).toBe(true);
  });

  it.each([
    'rate-limited: slow down',
    'error: could not connect to the database',
    'auth-required: log in',
    'too fast',
    'temporarily unavailable',
  ])('may be sent again after %j', (text) => {
    expect(isLastingRefusal(parseReason(text))).toBe(false);
  });
});

it('words about negentropy are recognised', () => {
  for (const text of ['negentropy disabled', 'unknown command: NEG-OPEN', 'NIP-77 is off', 'neg not allowed']) {
    expect(mentionsNegentropy(text)).toBe(true);
  }
  for (const text of ['negative limit', 'unknown command', 'renegotiate']) {
    expect(mentionsNegentropy(text)).toBe(false);
  }
});
