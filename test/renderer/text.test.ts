import { describe, expect, it } from 'vitest';
import { kindName, sortedKinds } from '../../renderer/text/event-kinds.ts';
import { accountInitials, accountName, relayName, shorten } from '../../renderer/text/names.ts';
import { countOf, formatBytes, formatCount, formatRate, sayList } from '../../renderer/text/numbers.ts';
import {
  formatBounds,
  formatBoundsAmong,
  formatDuration,
  formatRelative,
  formatSecond,
  formatSpan,
} from '../../renderer/text/times.ts';

const zone = 'Europe/Berlin';
const at = (iso: string): number => Date.parse(iso) / 1000;
const now = at('2026-11-30T19:00:00Z');

describe('numbers', () => {
  it('separates thousands and keeps the noun in step', () => {
    expect(formatCount(12_431)).toBe('12,431');
    expect(countOf(1, 'event')).toBe('1 event');
    expect(countOf(0, 'event')).toBe('0 events');
    expect(countOf(2, 'query', 'queries')).toBe('2 queries');
  });

  it('keeps a slow rate apart from none', () => {
    expect(formatRate(412.4)).toBe('412/s');
    expect(formatRate(0.34)).toBe('0.3/s');
    expect(formatRate(0)).toBe('0/s');
    expect(formatRate(412.4, 'found')).toBe('412 found/s');
  });

  it('names sizes and lists', () => {
    expect(formatBytes(999)).toBe('999 bytes');
    expect(formatBytes(1_540_000)).toBe('1.5 MB');
    expect(sayList([])).toBe('');
    expect(sayList(['a', 'b', 'c'])).toBe('a, b and c');
  });
});

describe('times', () => {
  it('says how long ago in the unit that fits', () => {
    const ago = (seconds: number): string => formatRelative(now - seconds, now, zone);
    expect(ago(3)).toBe('just now');
    expect(ago(42)).toBe('42 s ago');
    expect(ago(59.4)).toBe('59 s ago');
    expect(ago(61)).toBe('1 min ago');
    expect(ago(3 * 3600)).toBe('3 h ago');
    expect(ago(30 * 3600)).toBe('yesterday');
    expect(ago(5 * 86_400)).toBe('5 days ago');
    expect(ago(400 * 86_400)).toBe('26 Oct 2025');
    expect(ago(-1)).toBe('just now');
    expect(ago(-41)).toBe('in 41 s');
  });

  it('shows lengths in their two largest units', () => {
    expect(formatDuration(41)).toBe('41 s');
    expect(formatDuration(192)).toBe('3 min 12 s');
    expect(formatDuration(7500)).toBe('2 h 5 min');
    expect(formatDuration(4 * 86_400)).toBe('4 days');
    expect(formatDuration(-5)).toBe('0 s');
  });

  it('shows the exact local time with seconds', () => {
    expect(formatSecond(now, zone)).toBe('30 Nov 2026 20:00:00');
    expect(formatSecond(at('2026-09-01T00:00:00Z'), zone)).toBe('1 Sep 2026 02:00:00');
  });

  it('never invents a date for Beginning', () => {
    expect(formatBounds(null, now, zone)).toBe('Beginning → 30 Nov 2026 20:00');
  });

  it('shows seconds of a range only where they decide', () => {
    expect(formatBounds(now - 90 * 86_400, now, zone)).toBe('1 Sep 21:00 → 30 Nov 2026 20:00');
    expect(formatBounds(now - 3600, now, zone)).toBe('30 Nov 2026 19:00 → 20:00');
    expect(formatBounds(now + 1, now + 12, zone)).toBe('30 Nov 2026 20:00:01 → 20:00:12');
  });

  it('shows seconds of ranges that would read alike without them', () => {
    const one = { since: null, until: now + 5 };
    const other = { since: null, until: now + 17 };
    const newer = { since: now, until: now + 86_400 };
    expect(formatBoundsAmong(one, [one, other, newer], zone)).toBe('Beginning → 30 Nov 2026 20:00:05');
    expect(formatBoundsAmong(other, [one, other, newer], zone)).toBe('Beginning → 30 Nov 2026 20:00:17');
    expect(formatBoundsAmong(newer, [one, other, newer], zone)).toBe(formatBounds(newer.since, newer.until, zone));
    expect(formatBoundsAmong(one, [one, newer], zone)).toBe('Beginning → 30 Nov 2026 20:00');
    const later = { since: now + 30, until: now + 86_410 };
    expect(formatBoundsAmong(newer, [newer, later], zone)).toBe('30 Nov 2026 20:00:00 → 1 Dec 2026 20:00:00');
  });

  it('survives seconds that no calendar holds', () => {
    expect(formatSecond(1e15, zone)).toBe('second 1000000000000000');
    expect(formatSecond(Number.NaN, zone)).toBe('second NaN');
  });

  it('names the span of an archive', () => {
    expect(formatSpan(at('2022-03-05T12:00:00Z'), now - 60, now, zone)).toBe('Mar 2022 – today');
    expect(formatSpan(at('2022-03-05T12:00:00Z'), at('2024-01-09T12:00:00Z'), now, zone)).toBe('Mar 2022 – Jan 2024');
    expect(formatSpan(now - 3600, now, now, zone)).toBe('today');
  });
});

describe('names', () => {
  it('keeps an unencrypted scheme visible', () => {
    expect(relayName('wss://relay.example/')).toBe('relay.example');
    expect(relayName('ws://relay.example:7777')).toBe('ws://relay.example:7777');
    expect(relayName('ws://localhost.example')).toBe('ws://localhost.example');
    expect(relayName('ws://127.0.0.1:7777/')).toBe('127.0.0.1:7777');
  });

  it('prefers the label of an account', () => {
    const initials = (label: string | null): string => accountInitials({ label, npub: 'npub1meedx90mklt' });
    expect([initials('alice'), initials('dora with a name'), initials('é'), initials(' '), initials(null)]).toEqual([
      'al',
      'dw',
      'é',
      '',
      'me',
    ]);
    expect(initials('👩‍🚀 Ada')).toBe('👩‍🚀A');
    expect(accountName({ label: 'alice', npub: 'npub1xyz' })).toBe('alice');
    expect(accountName({ label: null, npub: 'npub1qqqqqqqqqqqqqqqqqqqqqqqqqqqqabcd' })).toBe('npub1qqqqq…qqabcd');
    expect(shorten('short')).toBe('short');
  });

  it('orders kinds by how often they occur', () => {
    expect(sortedKinds({ 7: 3, 1: 10, 6: 3, x: 99 })).toEqual([
      { kind: 1, count: 10 },
      { kind: 6, count: 3 },
      { kind: 7, count: 3 },
    ]);
    expect(kindName(10002)).toBe('Relay list');
    expect(kindName(54321)).toBeNull();
  });
});
