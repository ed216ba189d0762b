import { describe, expect, it } from 'vitest';
import type { AccountRelay } from '../../preload/contract.ts';
import { budgetProblem, limitProblem } from '../../renderer/state/limits.ts';
import {
  completedList,
  listProblem,
  relayIdentity,
  relayUrl,
  rowProblems,
  resetChanges,
  sameRelays,
} from '../../renderer/state/relay-list.ts';
import { mergeRuns } from '../../renderer/state/run-history.ts';
import type { RunSummary } from '../../preload/contract.ts';

const relay = (url: string, roles: string): AccountRelay => ({
  url,
  read: roles.includes('r'),
  write: roles.includes('w'),
  extra: roles.includes('x'),
});

describe('a relay list being edited', () => {
  it('completes a bare host and refuses what is no relay address', () => {
    expect(relayUrl(' relay.example/path ')).toBe('wss://relay.example/path');
    expect(relayUrl('ws://localhost:7777')).toBe('ws://localhost:7777');
    for (const wrong of [
      'https://relay.example',
      'not a relay',
      '',
      'wss://',
      'javascript://x',
      'relay',
      'localhost:7777',
      'path/with.dot',
    ]) {
      expect(relayUrl(wrong)).toBeNull();
    }
  });

  it('knows the same relay in another spelling', () => {
    expect(relayIdentity('WSS://Relay.Example:443/')).toBe(relayIdentity('wss://relay.example'));
    expect(relayIdentity('wss://relay.example/a')).not.toBe(relayIdentity('wss://relay.example/A'));
  });

  it('says what stands in the way of saving', () => {
    expect(listProblem([relay('wss://a.example', 'rw')])).toBeNull();
    expect(listProblem([relay('', 'rw')])).toContain('no address');
    expect(listProblem([relay('https://a.example', 'rw')])).toContain('not a relay address');
    expect(listProblem([relay('a.example', '')])).toContain('no role');
    expect(listProblem([relay('a.example', 'r'), relay('wss://A.example/', 'w')])).toContain('twice');
    expect(completedList([relay('a.example', 'r')])[0]?.url).toBe('wss://a.example');
  });

  it('marks exactly the rows that are wrong', () => {
    const rows = [relay('a.example', 'r'), relay('nonsense', 'w'), relay('wss://A.example', 'w')];
    expect(rowProblems(rows).map((problem) => problem !== null)).toEqual([false, true, true]);
  });

  it('compares lists without regard to order', () => {
    const left = [relay('wss://a.example', 'rw'), relay('wss://b.example', 'x')];
    expect(sameRelays(left, [...left].reverse())).toBe(true);
    expect(sameRelays(left, [relay('wss://a.example', 'r'), relay('wss://b.example', 'x')])).toBe(false);
  });

  it('tells every change that a reset makes, and that extra sources stay', () => {
    const local = [
      relay('wss://a.example', 'rw'),
      relay('wss://b.example', 'w'),
      relay('wss://c.example', 'wx'),
      relay('wss://d.example', 'x'),
    ];
    const published = [relay('wss://a.example', 'r'), relay('wss://new.example', 'rw')];
    expect(resetChanges(local, published)).toEqual([
      'Changes a.example from read and write to read.',
      'Adds new.example (read and write).',
      'Removes b.example (write).',
      'Keeps c.example as an extra source only.',
    ]);
    expect(resetChanges(published, published)).toEqual([]);
  });
});

describe('limits', () => {
  it('takes whole numbers in range and nothing else', () => {
    expect(limitProblem(100)).toBeNull();
    for (const wrong of [0, 1, -1, 1.5, 5001, null, undefined, Number.NaN]) expect(limitProblem(wrong)).not.toBeNull();
    expect(budgetProblem(8)).toBeNull();
    expect(budgetProblem(101)).not.toBeNull();
  });
});

describe('the run history', () => {
  it('lets the live account of a run win over an earlier one, newest first', () => {
    const run = (id: number, found: number): RunSummary => ({
      id,
      type: 'fetch',
      account: 'a',
      status: 'complete',
      startedAt: id,
      finishedAt: id,
      resumed: false,
      reverification: null,
      boundary: id,
      limit: 100,
      strategy: 'auto',
      found,
      newlyArchived: 0,
      resumable: false,
      warnings: [],
      relays: [],
      deliveries: null,
    });
    const merged = mergeRuns([run(3, 30), run(2, 20)], [run(2, 1), run(1, 10)]);
    expect(merged.map((each) => [each.id, each.found])).toEqual([
      [3, 30],
      [2, 20],
      [1, 10],
    ]);
  });
});
