import { describe, expect, it } from 'vitest';
import { attemptStatus, oldWindowsStatus } from '../../renderer/coverage/attempt-words.ts';
import { checkedTimes } from '../../renderer/coverage/checked.ts';
import { oldWindows, walkedRanges } from '../../renderer/coverage/old-windows.ts';
import { coverageRows, saturationOffers, type RowSources } from '../../renderer/coverage/rows.ts';
import { attentionItems } from '../../renderer/state/attention.ts';
import { unfinishedFetch } from '../../renderer/state/run-history.ts';
import { undeterminedRelays } from '../../renderer/sync/undetermined.ts';
import { countsOnRelay } from '../../renderer/text/sentences.ts';
import { historyStatus, standing } from '../../renderer/text/status.ts';
import { sampleAccount, sampleRange, sampleRelay } from './coverage-samples.ts';

const URL = 'wss://relay.example';
const old = (id: number, part: Parameters<typeof sampleRange>[0] = {}) =>
  sampleRange({ id, since: 1000 * id, until: 1000 * id + 500, strategy: 'legacy-windows', limit: 500, ...part });

const sources = (...open: string[]): RowSources => ({
  isOpen: (key) => open.includes(key),
  attempts: () => undefined,
  query: () => undefined,
  months: () => null,
  gaps: () => null,
});

describe('windows of the first version in Coverage', () => {
  const dozens = Array.from({ length: 40 }, (_, index) => old(index + 10));

  it('stand under one row, however many they are, beside the ranges that were walked', () => {
    const relay = sampleRelay([sampleRange(), ...dozens]);
    const rows = coverageRows([relay], sources(`relay ${URL}`));
    expect(rows.filter(({ type }) => type === 'range')).toHaveLength(1);
    expect(rows.filter(({ type }) => type === 'windows')).toHaveLength(1);
    const open = coverageRows([relay], sources(`relay ${URL}`, `windows ${URL}`));
    expect(open.filter(({ type, level }) => type === 'range' && level === 3)).toHaveLength(40);
    expect(open.some((row) => row.type === 'note' && row.text.includes('none of these stretches is covered'))).toBe(
      true,
    );
  });

  it('do not count as history that was asked for', () => {
    const rows = coverageRows([sampleRelay([old(1)], { historyComplete: false })], sources(`relay ${URL}`));
    expect(rows.some((row) => row.type === 'note' && row.text.startsWith('Its history was never asked for.'))).toBe(
      true,
    );
    const relay = sampleRelay([old(1)], { historyComplete: false });
    expect(historyStatus(relay).word).toBe('Never asked');
    expect(walkedRanges(relay.ranges)).toEqual([]);
    expect(oldWindows(relay.ranges)).toHaveLength(1);
  });

  it('never look complete', () => {
    expect(standing(old(1))).toMatchObject({ word: 'Asked', tone: 'quiet' });
    const relation = { prior: null, replacedBy: null };
    expect(attemptStatus({ status: 'complete', strategy: 'legacy-windows' }, relation).word).toBe('Asked');
    expect(oldWindowsStatus([old(1), old(2)])).toMatchObject({ word: 'All asked', tone: 'quiet' });
    expect(oldWindowsStatus([old(1), old(2, { status: 'failed' })])).toMatchObject({
      word: '1 unfinished',
      tone: 'warn',
    });
    expect(oldWindowsStatus([old(1), old(2, { status: 'active' })]).tone).toBe('busy');
  });

  it('are no check of the history, nor of newer seconds', () => {
    const history = sampleRange({ checkedAt: 100 });
    expect(checkedTimes(sampleRelay([history, old(2, { checkedAt: 900 })]))).toEqual({ history: 100, newer: null });
  });

  it('establish what they found and nothing else', () => {
    expect(countsOnRelay(sampleRelay([old(1, { found: 0, fetched: 0 })]), undefined)).toBeNull();
    expect(countsOnRelay(sampleRelay([old(1, { found: 7, fetched: 7 })]), undefined)).toEqual({
      found: 7,
      fetched: 7,
      exact: true,
    });
  });

  it('ask for attention as a whole, and Resume of a relay leaves them alone', () => {
    const relay = sampleRelay([old(1, { status: 'partial', resumable: true })], { historyComplete: false });
    const tree = { account: 'a'.repeat(64), archive: { events: 0, oldest: null, newest: null }, relays: [relay] };
    expect(attentionItems(sampleAccount(), tree)).toEqual([]);
    const candidate = {
      url: URL,
      count: 0,
      refused: 0,
      refusedKinds: [],
      observedAt: null,
      comparison: 'never-asked' as const,
      kinds: [],
      undetermined: 4,
    };
    expect(undeterminedRelays([candidate], [relay])).toMatchObject([{ help: 'fetch', range: null }]);
    expect(saturationOffers(old(1))).toEqual([]);
  });

  it('are gone on with where they are decided about, not by Resume all', () => {
    const run = {
      id: 4,
      type: 'legacy-resume' as const,
      account: 'a'.repeat(64),
      status: 'partial' as const,
      startedAt: 0,
      finishedAt: 1,
      resumed: false,
      boundary: 0,
      limit: 500,
      strategy: 'paging' as const,
      found: 0,
      newlyArchived: 0,
      resumable: true,
      warnings: [],
      relays: [],
      deliveries: null,
      reverification: null,
    };
    expect(unfinishedFetch([run])).toBeUndefined();
    expect(unfinishedFetch([run, { ...run, id: 3, type: 'fetch' }])?.id).toBe(3);
  });
});

describe('what the first version said of a relay', () => {
  const legacy = { status: 'complete', oldest: null, newest: null, events: 1204, updatedAt: null };

  it('stands in its rows as information', () => {
    const rows = coverageRows([sampleRelay([sampleRange()], { legacy })], sources(`relay ${URL}`));
    const said = rows.find((row) => row.type === 'note' && row.text.startsWith('The first version said'));
    expect(said).toMatchObject({ tone: 'quiet', range: null, offers: [] });
  });

  it('changes nothing about what is established', () => {
    const relay = sampleRelay([], { legacy, role: 'former' });
    expect(historyStatus(relay).word).toBe('Never asked');
    expect(countsOnRelay(relay, undefined)).toBeNull();
    const rows = coverageRows([relay], sources(`relay ${URL}`));
    expect(rows.some((row) => row.type === 'note' && row.text.startsWith('It is no source of this account'))).toBe(
      true,
    );
  });
});
