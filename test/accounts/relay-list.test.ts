import { describe, expect, test } from 'vitest';
import { isNewerVersion, readRelayList } from '../../main/accounts/relay-list.ts';
import { buildEvent } from '../relays/event-builder.ts';

function read(...tags: string[][]): string[] {
  return readRelayList(buildEvent({ kind: 10_002, tags })).map(
    ({ url, read: reads, write, extra }) =>
      `${url} ${[reads && 'read', write && 'write', extra && 'extra'].filter(Boolean).join('+')}`,
  );
}

describe('a relay list', () => {
  test('gives both roles without a marker, else the one that is marked', () => {
    expect(
      read(
        ['r', 'wss://a.example'],
        ['r', 'wss://b.example', 'read'],
        ['r', 'wss://c.example', 'write'],
        ['r', 'wss://d.example', ''],
      ),
    ).toEqual([
      'wss://a.example read+write',
      'wss://b.example read',
      'wss://c.example write',
      'wss://d.example read+write',
    ]);
  });

  test('names a relay once, in its first spelling, with all its roles', () => {
    expect(
      read(
        ['r', 'wss://A.example/', 'read'],
        ['r', 'wss://b.example'],
        ['r', 'WSS://a.example:443', 'write'],
        ['r', 'wss://b.example', 'read'],
      ),
    ).toEqual(['wss://A.example/ read+write', 'wss://b.example read+write']);
  });

  test('passes over what is no relay, or is marked in an unknown way', () => {
    expect(
      read(
        ['r'],
        [],
        ['r', ''],
        ['r', 'https://a.example'],
        ['r', 'no URL at all'],
        ['r', 'wss://x.example', 'both'],
        ['r', 'wss://user:secret@x.example'],
        ['R', 'wss://x.example'],
        ['relay', 'wss://x.example'],
        ['r', ' wss://kept.example ', 'write'],
      ),
    ).toEqual(['wss://kept.example write']);
  });

  test('may be empty', () => {
    expect(read()).toEqual([]);
  });
});

test('the later version is the newer one, of two in one second the one with the lower ID', () => {
  const [early, late] = [buildEvent({ createdAt: 10 }), buildEvent({ createdAt: 11 })];
  const [low, high] = ['a', 'b'].map((content) => buildEvent({ content })).sort((a, b) => (a.id < b.id ? -1 : 1));
  if (low === undefined || high === undefined) throw new Error('two events');

  expect([isNewerVersion(late, early), isNewerVersion(early, late)]).toEqual([true, false]);
  expect([isNewerVersion(low, high), isNewerVersion(high, low)]).toEqual([true, false]);
});
