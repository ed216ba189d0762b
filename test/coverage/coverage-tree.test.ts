import { describe, expect, test } from 'vitest';
import { setAccountRelays } from '../../main/accounts/account-store.ts';
import { readAttempts } from '../../main/coverage/attempt-list.ts';
import { endAttempt, latestAttempt } from '../../main/coverage/range-history.ts';
import type { CoverageRelay } from '../../preload/contract.ts';
import { buildHistory } from '../relays/event-builder.ts';
import { CHECKPOINT, COMPLETE, CoverageRig, ONGOING, PARTIAL, START } from './coverage-rig.ts';

async function relayOf(rig: CoverageRig, name: string): Promise<CoverageRelay> {
  const relay = (await rig.tree()).relays.find(({ url }) => url === `wss://${name}.example`);
  if (relay === undefined) throw new Error(`no relay ${name}`);
  return relay;
}

describe('the coverage tree', () => {
  test('has every source in order with its role, and no read-only relay', async () => {
    const rig = await CoverageRig.open();

    const { relays, account } = await rig.tree();

    expect(account).toBe(rig.account.pubkey);
    expect(relays.map(({ url, role }) => [url, role])).toEqual([
      ['wss://write.example', 'write'],
      ['wss://extra.example', 'extra'],
      ['wss://both.example', 'write+extra'],
    ]);
    expect(relays[0]).toMatchObject({
      historyComplete: false,
      forwardBoundary: null,
      invalidObservations: 0,
      ranges: [],
    });
  });

  test('keeps a relay that has no role any more, when there is something to tell of it', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    for (const name of ['extra', 'read']) {
      const range = await rig.range(name);
      await rig.page(range, await rig.attempt(range, run), {}, COMPLETE);
    }
    await setAccountRelays(rig.db, rig.account.id, [
      { url: 'wss://write.example', read: false, write: true, extra: false },
    ]);

    expect((await rig.tree()).relays.map(({ url, role, historyComplete }) => [url, role, historyComplete])).toEqual([
      ['wss://write.example', 'write', false],
      ['wss://extra.example', 'former', true],
      ['wss://read.example', 'former', true],
    ]);
  });

  test('tells of a range by its latest attempt, and counts all of them', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const events = buildHistory({ count: 10, from: START - 100, to: START - 1, kinds: [1, 1, 7] });
    const first = await rig.attempt(range, await rig.run());
    await rig.page(range, first, { events, received: 12, invalid: 2 });
    await rig.page(range, first, { events: events.slice(0, 2) }, COMPLETE);
    const second = await rig.attempt(range, await rig.run({ type: 'refetch' }), { prior: first });
    await rig.page(
      range,
      second,
      { events: events.slice(0, 4), invalid: 1, completedAtMs: (START + 90) * 1000 },
      PARTIAL,
    );

    const { ranges, invalidObservations } = await relayOf(rig, 'write');

    expect(invalidObservations).toBe(3);
    expect(ranges).toEqual([
      expect.objectContaining({
        id: range.id,
        since: null,
        until: START,
        status: 'partial',
        found: 4,
        fetched: 4,
        notFetched: 0,
        checkedAt: START + 90,
        kinds: { '1': 3, '7': 1 },
        strategy: 'paging',
        reason: 'The relay went away.',
        saturatedSeconds: [],
        reachedEnd: false,
        cursor: START - 50,
        resumable: true,
        attemptCount: 2,
        queryCount: 3,
      }),
    ]);
  });

  test('counts the pages of a continued walk once', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const range = await rig.range('write');
    const [newer, older] = [
      buildHistory({ count: 3, from: START - 9, to: START }),
      buildHistory({ count: 2, from: 5, to: 9 }),
    ];
    const first = await rig.attempt(range, run);
    await rig.page(range, first, { events: newer });
    await rig.page(range, first, { events: newer }, PARTIAL);
    const prior = await latestAttempt(rig.db, range.id);
    const second = await rig.attempt(range, run, { prior, continued: true });
    await rig.page(range, second, { events: [...older, ...newer] }, COMPLETE);

    expect((await relayOf(rig, 'write')).ranges).toEqual([
      expect.objectContaining({
        status: 'complete',
        found: 5,
        kinds: { '1': 5 },
        attemptCount: 2,
        queryCount: 3,
        resumable: false,
      }),
    ]);
  });

  test('says checked only of a range for which the relay was asked', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const range = await rig.range('write');
    const first = await rig.attempt(range, run);
    await endAttempt(rig.db, first.id, 'failed', 'The name does not resolve.', START + 5);
    expect((await relayOf(rig, 'write')).ranges[0]).toMatchObject({
      status: 'failed',
      checkedAt: null,
      reason: 'The name does not resolve.',
    });

    const second = await rig.attempt(range, run, { prior: first });
    await rig.page(range, second, { completedAtMs: (START + 20) * 1000 }, PARTIAL);
    const third = await rig.attempt(range, run, { prior: await latestAttempt(rig.db, range.id), continued: true });
    await endAttempt(rig.db, third.id, 'partial', 'The name does not resolve.', START + 99);

    expect((await relayOf(rig, 'write')).ranges[0]).toMatchObject({ status: 'partial', checkedAt: START + 20 });
  });

  test('names saturated seconds of a walk that came to its end, and offers no resume where only another limit helps', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const checkpoint = { ...CHECKPOINT, saturatedSeconds: [START - 7], unpageable: true, reachedEnd: true };
    await rig.page(range, await rig.attempt(range, await rig.run()), {}, { ...PARTIAL, checkpoint });

    expect((await relayOf(rig, 'write')).ranges[0]).toMatchObject({
      saturatedSeconds: [START - 7],
      resumable: false,
      reachedEnd: true,
      cursor: null,
    });
    expect((await readAttempts(rig.db, range.id))[0]?.cursor).toBeNull();
  });

  test('says which later complete range closed an unfinished one, and keeps how that one ended', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const attempt = async (name: string, since: number | null, until: number, outcome: typeof PARTIAL) => {
      const range = await rig.range(name, since, until);
      await rig.page(range, await rig.attempt(range, run), {}, outcome);
      return range.id;
    };
    const saturated = { ...PARTIAL, checkpoint: { ...CHECKPOINT, saturatedSeconds: [START - 7], unpageable: true } };
    const narrow = await attempt('write', START - 20, START, saturated);
    const sticksOut = await attempt('write', START - 30, START + 5, PARTIAL);
    const elsewhere = await attempt('extra', START - 20, START, PARTIAL);
    const open = await attempt('write', null, START - 10, PARTIAL);
    const closing = await attempt('write', START - 25, START, COMPLETE);
    const afterwards = await attempt('write', START - 9, START, PARTIAL);

    expect((await relayOf(rig, 'write')).history).toBe('partial');
    const ranges = [...(await relayOf(rig, 'write')).ranges, ...(await relayOf(rig, 'extra')).ranges];
    expect(Object.fromEntries(ranges.map(({ id, closedBy }) => [id, closedBy]))).toEqual({
      [narrow]: closing,
      [sticksOut]: null,
      [elsewhere]: null,
      [open]: null,
      [closing]: null,
      [afterwards]: null,
    });
    expect(ranges.find(({ id }) => id === narrow)).toMatchObject({
      status: 'partial',
      reason: 'The relay went away.',
      saturatedSeconds: [START - 7],
    });
  });

  test('puts ranges in order of their end, and keeps relays apart', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    for (const [name, since, until] of [
      ['write', START - 10, START + 50],
      ['extra', null, START],
      ['write', null, START],
    ] as const) {
      const range = await rig.range(name, since, until);
      await rig.page(range, await rig.attempt(range, run), {}, ONGOING);
    }

    expect((await relayOf(rig, 'write')).ranges.map(({ since, until, status }) => [since, until, status])).toEqual([
      [null, START, 'active'],
      [START - 10, START + 50, 'active'],
    ]);
    expect((await relayOf(rig, 'extra')).ranges).toHaveLength(1);
  });
});
