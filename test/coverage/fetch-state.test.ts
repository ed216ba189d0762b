import { expect, test } from 'vitest';
import { advanceFetchState, readFetchState, type FetchState } from '../../main/coverage/fetch-state.ts';
import { CoverageRig, START } from './coverage-rig.ts';

/** The state after these ranges were completed one after another. */
async function after(...completed: { since: number | null; until: number; at?: number }[]): Promise<FetchState> {
  const rig = await CoverageRig.open();
  for (const { since, until, at = START + 1000 } of completed) {
    const range = await rig.range('write', since, until);
    await rig.db.transaction().execute((trx) => advanceFetchState(trx, range, at));
  }
  expect(await readFetchState(rig.db, rig.account.id, rig.relay('extra'))).toEqual({
    historyComplete: false,
    forwardBoundary: null,
  });
  return readFetchState(rig.db, rig.account.id, rig.relay('write'));
}

test('a range from Beginning establishes history up to its end', async () => {
  expect(await after({ since: null, until: START })).toEqual({ historyComplete: true, forwardBoundary: START });
});

test('a later range alone establishes nothing', async () => {
  expect(await after({ since: START - 10, until: START })).toEqual({ historyComplete: false, forwardBoundary: null });
});

test('a range that overlaps or touches what is established moves the boundary', async () => {
  const first = { since: null, until: START };
  expect((await after(first, { since: START - 10, until: START + 60 })).forwardBoundary).toBe(START + 60);
  expect((await after(first, { since: START, until: START + 60 })).forwardBoundary).toBe(START + 60);
});

test('the boundary never passes over a second that nobody asked for', async () => {
  expect((await after({ since: null, until: START }, { since: START + 2, until: START + 60 })).forwardBoundary).toBe(
    START,
  );
});

test('completing an older range again does not move the boundary back', async () => {
  expect((await after({ since: null, until: START }, { since: null, until: START - 500 })).forwardBoundary).toBe(START);
  expect((await after({ since: null, until: START }, { since: START - 900, until: START - 500 })).forwardBoundary).toBe(
    START,
  );
});

test('a boundary ahead of the clock was put there by a wrong clock, and moves back', async () => {
  const ahead = { since: null, until: START + 900_000, at: START + 900_001 };
  expect(await after(ahead, { since: null, until: START, at: START + 1 })).toEqual({
    historyComplete: true,
    forwardBoundary: START,
  });
  expect((await after(ahead, { since: null, until: START, at: START + 900_002 })).forwardBoundary).toBe(
    START + 900_000,
  );
});
