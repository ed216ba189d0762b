import { npubEncode, neventEncode, noteEncode, nprofileEncode, nsecEncode } from 'nostr-tools/nip19';
import { describe, expect, it } from 'vitest';
import { formatRoute, parseRoute, recognise, type Route } from '../../renderer/app/route.ts';

const hex = '0123456789abcdef'.repeat(4);

describe('routes', () => {
  it('survive the way into the address and back', () => {
    const routes: Route[] = [
      { page: 'home' },
      { page: 'account', account: hex, tab: 'coverage' },
      { page: 'relays' },
      { page: 'activity' },
      { page: 'settings' },
      { page: 'event', id: hex },
      { page: 'account', account: hex, tab: 'sync' },
      { page: 'account', account: hex, tab: 'sync', review: true },
      { page: 'sync', run: 41 },
      { page: 'legacy', part: 'review', source: null },
      { page: 'legacy', part: 'report', source: null },
      { page: 'legacy', part: 'remarks', source: 2 },
      { page: 'legacy', part: 'runs', source: null },
    ];
    for (const route of routes) expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it('are home where there is no address, and say so where it leads nowhere', () => {
    for (const hash of ['', '#', '#/']) expect(parseRoute(hash)).toEqual({ page: 'home' });
    for (const address of [
      '#/nothing',
      '#/account/xyz',
      '#/event/../..',
      '#/account',
      '#/sync',
      '#/sync/0',
      '#/sync/x',
    ]) {
      expect(parseRoute(address)).toEqual({ page: 'unknown', address });
      expect(formatRoute(parseRoute(address))).toBe(address);
    }
    expect(parseRoute(`#/account/${hex}/runs/review`)).toEqual({ page: 'account', account: hex, tab: 'runs' });
    expect(parseRoute('#/legacy/nothing/x')).toEqual({ page: 'legacy', part: 'review', source: null });
    expect(parseRoute(`#/account/${hex}/unknown`)).toEqual({ page: 'account', account: hex, tab: 'overview' });
  });
});

describe('what a person pasted', () => {
  it('is recognised in every usual form', () => {
    expect(recognise(` nostr:${npubEncode(hex)} `)).toEqual({ type: 'key', pubkey: hex, relays: [] });
    expect(recognise(nprofileEncode({ pubkey: hex, relays: ['wss://r.example'] }))).toEqual({
      type: 'key',
      pubkey: hex,
      relays: ['wss://r.example'],
    });
    expect(recognise(noteEncode(hex))).toEqual({ type: 'event', id: hex });
    expect(recognise(neventEncode({ id: hex }))).toEqual({ type: 'event', id: hex });
    expect(recognise(hex.toUpperCase())).toEqual({ type: 'hex', value: hex });
  });

  it('is warned about when it is a secret key', () => {
    expect(recognise(nsecEncode(new Uint8Array(32).fill(7)))).toEqual({ type: 'secret' });
  });

  it('is left alone when it is a word or damaged', () => {
    expect(recognise('relay-b')).toBeNull();
    expect(recognise(`${npubEncode(hex).slice(0, -1)}x`)).toBeNull();
    expect(recognise('')).toBeNull();
  });
});
