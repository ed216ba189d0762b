import { describe, expect, test } from 'vitest';
import { readAttempts } from '../../main/coverage/attempt-list.ts';
import {
  isResumable,
  latestAttempt,
  rangesOfRun,
  rangesWithLatestAttempt,
  readRange,
} from '../../main/coverage/range-history.ts';
import {
  cancelRequests,
  finishRun,
  readRun,
  reopenRun,
  requestCancel,
  settleInterrupted,
  warnRun,
} from '../../main/coverage/run-history.ts';
import { listRuns, readRunSummary } from '../../main/coverage/run-list.ts';
import { unfinishedRanges } from '../../main/coverage/unfinished-ranges.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { buildHistory } from '../relays/event-builder.ts';
import { CHECKPOINT, COMPLETE, CoverageRig, ONGOING, PARTIAL, START } from './coverage-rig.ts';

const events = buildHistory({ count: 4, from: START - 9, to: START });

describe('what a crash left active', () => {
  test('becomes partial where something was kept, failed where nothing was, and everything else stays', async () => {
    const rig = await CoverageRig.open();
    const [crashed, done] = [await rig.run(), await rig.run()];
    const [kept, nothing, finished] = [await rig.range('write'), await rig.range('extra'), await rig.range('both')];
    await rig.page(kept, await rig.attempt(kept, crashed), { events });
    await rig.attempt(nothing, crashed);
    await rig.page(finished, await rig.attempt(finished, done), {}, COMPLETE);
    await finishRun(rig.db, done, 'complete', START + 1);

    await settleInterrupted(rig.db, START + 77);

    expect(await latestAttempt(rig.db, kept.id)).toMatchObject({ status: 'partial', cursor: ONGOING.cursor, found: 4 });
    expect(await latestAttempt(rig.db, nothing.id)).toMatchObject({ status: 'failed', cursor: null });
    expect(await latestAttempt(rig.db, finished.id)).toMatchObject({
      status: 'complete',
      reason: 'The end was reached.',
    });
    expect(await readRunSummary(rig.db, crashed)).toMatchObject({
      status: 'partial',
      finishedAt: START + 77,
      resumable: true,
    });
    expect(await readRunSummary(rig.db, done)).toMatchObject({
      status: 'complete',
      finishedAt: START + 1,
      resumable: false,
    });
    expect((await readAttempts(rig.db, kept.id))[0]).toMatchObject({
      completedAt: START + 77,
      reason: expect.stringContaining('Resume') as string,
    });
  });
});

describe('a run', () => {
  test('keeps its settings as they were when it began', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run({
      pageLimit: 7,
      boundary: START - 3,
      sources: ['wss://a.example', 'wss://b.example'],
      type: 'recheck',
      strategy: 'paging',
    });

    expect(await readRun(rig.db, run)).toEqual({
      id: run,
      accountId: rig.account.id,
      type: 'recheck',
      status: 'active',
      strategy: 'paging',
      pageLimit: 7,
      boundary: START - 3,
      sources: ['wss://a.example', 'wss://b.example'],
      warnings: [],
      checkpointId: null,
    });
    expect((await thrownFault(() => readRun(rig.db, run + 1))).code).toBe('unknown-run');
  });

  test('keeps a warning once', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run({ warnings: ['first'] });

    for (const warning of ['second', 'first', 'second']) await warnRun(rig.db, run, warning);

    expect((await readRun(rig.db, run)).warnings).toEqual(['first', 'second']);
  });

  test('can be asked to stop while it is active, and the request ends with it', async () => {
    const rig = await CoverageRig.open();
    const [first, second] = [await rig.run(), await rig.run()];
    await finishRun(rig.db, second, 'partial', START);

    await requestCancel(rig.db, first, START + 1);
    await requestCancel(rig.db, second, START + 1);
    expect(await cancelRequests(rig.db)).toEqual([first]);

    await finishRun(rig.db, first, 'cancelled', START + 2);
    expect(await cancelRequests(rig.db)).toEqual([]);
    await reopenRun(rig.db, first);
    expect(await cancelRequests(rig.db)).toEqual([]);
    expect(await readRunSummary(rig.db, first)).toMatchObject({ status: 'active', finishedAt: null, resumed: true });
    expect(await readRunSummary(rig.db, second)).toMatchObject({ resumed: false });
  });
});

describe('the list of runs', () => {
  test('is newest first, and narrowed by account, number and count', async () => {
    const rig = await CoverageRig.open();
    const runs = [await rig.run(), await rig.run(), await rig.run()];

    const ids = async (selection: Parameters<typeof listRuns>[1]): Promise<number[]> =>
      (await listRuns(rig.db, selection)).map(({ id }) => id);

    expect(await ids({ limit: 10 })).toEqual(runs.toReversed());
    expect(await ids({ limit: 1 })).toEqual(runs.slice(2));
    expect(await ids({ limit: 10, before: runs[2] ?? 0 })).toEqual([runs[1], runs[0]]);
    expect(await ids({ limit: 10, accountId: rig.account.id + 1 })).toEqual([]);
    expect(await listRuns(rig.db, { limit: 0 })).toEqual([]);
  });

  test('tells per relay how the range stood, with what all attempts of the run brought', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const range = await rig.range('write');
    const first = await rig.attempt(range, run);
    await rig.page(range, first, { events: events.slice(0, 3) }, PARTIAL);
    const second = await rig.attempt(range, run, { prior: await latestAttempt(rig.db, range.id), continued: true });
    await rig.page(range, second, { events }, COMPLETE);
    await finishRun(rig.db, run, 'complete', START + 8);

    expect(await readRunSummary(rig.db, run)).toMatchObject({
      account: rig.account.pubkey,
      found: 4,
      newlyArchived: 4,
      resumable: false,
      relays: [
        {
          url: 'wss://write.example',
          range: range.id,
          status: 'complete',
          found: 4,
          fetched: 4,
          newlyArchived: 4,
          pages: 2,
        },
      ],
    });
    expect((await thrownFault(() => readRunSummary(rig.db, run + 9))).code).toBe('unknown-run');
  });

  test('offers resume while a source was not tried or a range is unfinished, until another run went on with it', async () => {
    const rig = await CoverageRig.open();
    const untried = await rig.run();
    await finishRun(rig.db, untried, 'cancelled', START);
    expect(await readRunSummary(rig.db, untried)).toMatchObject({ resumable: true });

    const run = await rig.run();
    const range = await rig.range('write');
    await rig.page(range, await rig.attempt(range, run), { events }, PARTIAL);
    expect(await readRunSummary(rig.db, run)).toMatchObject({ resumable: false, status: 'active' });
    await finishRun(rig.db, run, 'partial', START);
    expect(await readRunSummary(rig.db, run)).toMatchObject({ resumable: true });

    const later = await rig.run();
    await rig.page(
      range,
      await rig.attempt(range, later, { prior: await latestAttempt(rig.db, range.id), continued: true }),
      {},
      COMPLETE,
    );
    await finishRun(rig.db, later, 'complete', START);
    expect(await readRunSummary(rig.db, run)).toMatchObject({ resumable: false });
  });

  test('says of a run that it was resumed, not of one whose paging took over from a comparison', async () => {
    const rig = await CoverageRig.open();
    const [fellBack, resumed] = [await rig.run(), await rig.run()];
    const [first, second] = [await rig.range('write'), await rig.range('extra')];
    const comparison = await rig.attempt(first, fellBack, { strategy: 'negentropy' });
    await rig.attempt(first, fellBack, { prior: comparison });
    await rig.page(second, await rig.attempt(second, resumed), { events }, PARTIAL);
    expect((await readRunSummary(rig.db, resumed)).resumed).toBe(false);
    await rig.attempt(second, resumed, { prior: await latestAttempt(rig.db, second.id), continued: true });

    expect((await readRunSummary(rig.db, fellBack)).resumed).toBe(false);
    expect((await readRunSummary(rig.db, resumed)).resumed).toBe(true);
  });

  test('offers no resume of a range that a wider one covered later', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const range = await rig.range('write', START - 50, START);
    await rig.page(range, await rig.attempt(range, run), { events }, PARTIAL);
    await finishRun(rig.db, run, 'partial', START);
    expect(await readRunSummary(rig.db, run)).toMatchObject({ resumable: true });

    const wider = await rig.range('write', null, START + 9);
    await rig.page(wider, await rig.attempt(wider, await rig.run()), {}, COMPLETE);
    expect(await readRunSummary(rig.db, run)).toMatchObject({ resumable: false, status: 'partial' });
  });
});

describe('ranges', () => {
  test('of the same scope are one, and another scope is another', async () => {
    const rig = await CoverageRig.open();

    const range = await rig.range('write', null, START);
    expect(await rig.range('write', null, START)).toEqual(range);
    for (const other of [
      await rig.range('write', 0, START),
      await rig.range('write', null, START + 1),
      await rig.range('extra', null, START),
    ]) {
      expect(other.id).not.toBe(range.id);
    }
    expect(await readRange(rig.db, range.id)).toEqual(range);
    expect((await thrownFault(() => readRange(rig.db, 99))).code).toBe('unknown-range');
    expect((await thrownFault(() => readAttempts(rig.db, 99))).code).toBe('unknown-range');
  });

  test('are listed with their latest attempts, per relay and per run', async () => {
    const rig = await CoverageRig.open();
    const [first, second] = [await rig.run(), await rig.run()];
    const [old, recent, untouched] = [
      await rig.range('write'),
      await rig.range('write', START, START + 9),
      await rig.range('write', 5, 6),
    ];
    await rig.attempt(old, first);
    const again = await rig.attempt(old, second);
    const other = await rig.attempt(recent, first);

    expect(await rangesWithLatestAttempt(rig.db, rig.account.id, rig.relay('write'))).toEqual([
      { range: old, attempt: again, closedBy: null },
      { range: recent, attempt: other, closedBy: null },
    ]);
    expect(await rangesOfRun(rig.db, first)).toEqual([{ range: recent, attempt: other, closedBy: null }]);
    expect(await rangesWithLatestAttempt(rig.db, rig.account.id, rig.relay('extra'))).toEqual([]);
    expect(await latestAttempt(rig.db, untouched.id)).toBeNull();
  });

  test('a continued attempt goes on with the counters of its walk, a repeated one begins anew', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const range = await rig.range('write');
    await rig.page(range, await rig.attempt(range, run), { events }, PARTIAL);
    const prior = await latestAttempt(rig.db, range.id);

    const continued = await rig.attempt(range, run, { prior, continued: true });
    const repeated = await rig.attempt(range, run, { prior, continued: false });

    expect(continued).toMatchObject({
      walkId: prior?.walkId,
      cursor: ONGOING.cursor,
      checkpoint: CHECKPOINT,
      pages: 1,
      found: 4,
      fetched: 4,
      status: 'active',
    });
    expect(repeated).toMatchObject({ walkId: repeated.id, cursor: null, checkpoint: null, pages: 0, found: 0 });
    expect(
      (await readAttempts(rig.db, range.id)).map(({ prior: before, continued: goesOn }) => [before, goesOn]),
    ).toEqual([
      [null, false],
      [prior?.id, true],
      [prior?.id, false],
    ]);
  });

  test('are resumable when unfinished or short of bodies, unless only another limit helps', () => {
    const counts = { found: 4, fetched: 4 };
    expect(isResumable({ ...counts, status: 'partial', checkpoint: CHECKPOINT })).toBe(true);
    expect(isResumable({ ...counts, status: 'failed', checkpoint: null })).toBe(true);
    expect(isResumable({ ...counts, status: 'partial', checkpoint: { ...CHECKPOINT, unpageable: true } })).toBe(false);
    expect(isResumable({ ...counts, status: 'complete', checkpoint: CHECKPOINT })).toBe(false);
    expect(isResumable({ found: 4, fetched: 3, status: 'complete', checkpoint: null })).toBe(true);
    expect(isResumable({ ...counts, status: 'active', checkpoint: CHECKPOINT })).toBe(false);
  });

  test('are no longer unfinished when a completed range covers them', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    for (const [since, until, outcome] of [
      [100, 200, PARTIAL],
      [null, 50, PARTIAL],
      [150, 300, PARTIAL],
      [90, 200, COMPLETE],
      [95, 190, PARTIAL],
    ] as const) {
      const range = await rig.range('write', since, until);
      await rig.page(range, await rig.attempt(range, run), {}, outcome);
    }

    const unfinished = unfinishedRanges(await rangesWithLatestAttempt(rig.db, rig.account.id, rig.relay('write')));

    // The last one was tried after the complete one, which therefore says nothing about it.
    expect(unfinished.map(({ range }) => [range.since, range.until])).toEqual([
      [null, 50],
      [150, 300],
      [95, 190],
    ]);
  });
});
