import { expect, test } from 'vitest';
import { readAccountSummary } from '../../main/coverage/account-summary.ts';
import { endAttempt, latestAttempt } from '../../main/coverage/range-history.ts';
import { alice, buildHistory } from '../relays/event-builder.ts';
import { COMPLETE, CoverageRig, PARTIAL, START } from './coverage-rig.ts';

test('an account that was never fetched has sources, and nothing is known of them', async () => {
  const rig = await CoverageRig.open();

  expect(await readAccountSummary(rig.db, rig.account, null)).toMatchObject({
    pubkey: alice.pubkey,
    npub: alice.npub,
    label: null,
    archive: { events: 0, oldest: null, newest: null },
    completeRelays: 0,
    sourceRelays: 3,
    history: 'never-asked',
    unfinishedRanges: 0,
    checkedAt: null,
    activeRun: null,
  });
});

test('an account is summed up over its sources of now', async () => {
  const rig = await CoverageRig.open();
  const run = await rig.run();
  const events = buildHistory({ count: 6, from: START - 60, to: START });
  const [complete, partial, readOnly] = [await rig.range('write'), await rig.range('extra'), await rig.range('read')];
  await rig.page(complete, await rig.attempt(complete, run), { events, completedAtMs: (START + 5) * 1000 }, COMPLETE);
  await rig.page(partial, await rig.attempt(partial, run), { events, completedAtMs: (START + 9) * 1000 }, PARTIAL);
  await rig.page(readOnly, await rig.attempt(readOnly, run), {}, PARTIAL);
  const unreached = await rig.attempt(partial, run, {
    prior: await latestAttempt(rig.db, partial.id),
    continued: true,
  });
  await endAttempt(rig.db, unreached.id, 'partial', 'The relay is down.', START + 500);

  expect(await readAccountSummary(rig.db, rig.account, 3)).toMatchObject({
    archive: { events: 6, oldest: START - 60, newest: START },
    completeRelays: 1,
    sourceRelays: 3,
    history: 'partial',
    unfinishedRanges: 1,
    checkedAt: START + 9,
    activeRun: 3,
  });
});

test('a query that was cancelled or failed has checked nothing', async () => {
  const rig = await CoverageRig.open();
  const run = await rig.run();
  const range = await rig.range('write');
  await rig.page(range, await rig.attempt(range, run), { completedAtMs: (START + 5) * 1000 }, COMPLETE);
  for (const ending of ['cancelled', 'timeout', 'neg-err', 'closed'] as const) {
    const newer = await rig.range('write', START - 10, START + 100);
    await rig.page(newer, await rig.attempt(newer, run), { ending, completedAtMs: (START + 100) * 1000 }, PARTIAL);
  }

  expect(await readAccountSummary(rig.db, rig.account, null)).toMatchObject({ checkedAt: START + 5 });
  expect((await rig.tree()).relays[0]?.ranges.map(({ checkedAt }) => checkedAt)).toEqual([START + 5, null]);
});
