import BetterSqlite3 from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { recordReconciliation } from '../../main/coverage/record-reconciliation.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { CoverageRig, START } from './coverage-rig.ts';

const invented = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => createHash('sha256').update(`${what} ${index}`).digest('hex'));

test('a session that names a whole history is recorded in slices between which the main loop goes on, and seen at once', async () => {
  const { db, path } = await openScratchDatabase();
  const rig = await CoverageRig.over(db);
  const range = await rig.range('write');
  const attempt = await rig.attempt(range, await rig.run(), { strategy: 'negentropy' });
  const outside = new BetterSqlite3(path, { readonly: true });
  onTestFinished(() => void outside.close());
  const rows = outside.prepare('select (select count(*) from event_ids) + (select count(*) from queries)').pluck();
  const seen: unknown[] = [];
  let recording = true;
  const look = (): void => {
    if (!recording) return;
    seen.push(rows.get());
    setImmediate(look);
  };
  setImmediate(look);

  const named = invented('named', 3000);
  const recorded = await recordReconciliation(db, {
    range,
    attempt,
    scope: { since: null, until: START },
    request: { ...range.filter, until: START },
    sentAtMs: START * 1000,
    completedAtMs: START * 1000 + 1500,
    setBackMs: 0,
    ending: 'neg-complete',
    message: null,
    received: 1,
    comparedUpTo: 0,
    // A relay that names one twice names it once.
    remoteOnly: [...named, ...named.slice(0, 700)],
    localOnly: invented('lacking', 2000),
    checkpoint: '{}',
  });
  recording = false;

  expect(recorded).toEqual({ common: 0, withoutBody: 3000 });
  // Interning and evidence, each for some 5,000 IDs, at the most a thousand in one go.
  expect(seen.length).toBeGreaterThanOrEqual(10);
  expect(new Set(seen)).toEqual(new Set([0]));
  expect(rows.get()).toBe(5001);
  const evidence = outside.prepare('select present, count(*) as n from evidence group by present order by present');
  expect(evidence.all()).toEqual([
    { present: 0, n: 2000 },
    { present: 1, n: 3000 },
  ]);
});
