import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { LegacyOverview, LegacyRemark, LegacySource } from '../../preload/contract.ts';
import { Fault } from '../../main/platform/fault.ts';
import { scratchDirectory } from '../fixtures/scratch-directory.ts';
import { generateRows, writeFirstVersion } from '../legacy/generated-first-version.ts';
import { commandLineRig, type RigOptions } from './command-line-rig.ts';

const COPY = '/data/holdfast.db.before-migration-0002-range-history';

function sourceOf(more: Partial<LegacySource> = {}): LegacySource {
  return {
    id: 1,
    file: null,
    state: 'done',
    done: 12,
    total: 12,
    startedAt: 1_700_000_000,
    finishedAt: 1_700_000_100,
    tables: [
      { table: 'events', before: 10, carried: 6, merged: 1, aside: 3, information: 0 },
      { table: 'coverage', before: 2, carried: 0, merged: 0, aside: 0, information: 2 },
    ],
    remarks: 3,
    copy: COPY,
    stoppedBecause: null,
    ...more,
  };
}

const REMARK: LegacyRemark = {
  id: 7,
  table: 'events',
  row: 'abc\u001b[2J',
  problem: 'bad-signature',
  detail: 'The signature does not hold.',
  outcome: 'aside',
};

function overview(sources: LegacySource[], waiting = 0): NonNullable<RigOptions['methods']> {
  const found: LegacyOverview = { sources, checkpoints: [], waiting };
  return {
    'legacy.overview': () => Promise.resolve(found),
    'legacy.remarks': ({ offset }) =>
      Promise.resolve({ total: 2, remarks: [{ ...REMARK, id: REMARK.id + (offset ?? 0) }] }),
    'legacy.row': () => Promise.resolve({ text: '{"id":"abc"}' }),
  };
}

test('the report counts every table, and says where the copy lies and how to go back', async () => {
  const rig = commandLineRig({ methods: overview([sourceOf()]) });
  expect(await rig.run('legacy', 'report')).toBe(0);
  expect(rig.stdout.lines).toEqual([
    'The first version’s database: all 12 rows looked at by 2023-11-14 22:15:00 UTC.',
    'table     rows  brought over  there already  kept aside  as information',
    'events      10             6              1           3               0',
    'coverage     2             0              0           0               2',
    `The database as it was is kept in ${COPY}.`,
    'To go back: close Holdfast, put that copy in place of holdfast.db, and start the first version.',
    '3 remarks on rows: “holdfast legacy report --remarks” lists them.',
  ]);
});

test('every remark is listed on request, without what could steer a terminal, and a row is shown whole', async () => {
  const rig = commandLineRig({ methods: overview([sourceOf()]) });
  expect(await rig.run('legacy', 'report', '--remarks')).toBe(0);
  expect(rig.stdout.lines.slice(-2)).toEqual([
    '7  events abc�[2J: bad-signature, kept aside. The signature does not hold.',
    '8  events abc�[2J: bad-signature, kept aside. The signature does not hold.',
  ]);
  const other = commandLineRig({ methods: overview([sourceOf()]) });
  expect(await other.run('legacy', 'report', '--row', '7')).toBe(0);
  expect(other.stdout.text).toBe('{"id":"abc"}\n');
});

test('for a script the report is one document, with all remarks', async () => {
  const rig = commandLineRig({ methods: overview([sourceOf()]) });
  expect(await rig.run('--json', 'legacy', 'report')).toBe(0);
  expect(rig.stdout.document).toEqual([{ ...sourceOf(), remarks: [REMARK, { ...REMARK, id: 8 }] }]);
});

test('a report on what is not whole yet says so, also by its exit code', async () => {
  const stopped = sourceOf({ state: 'carrying', done: 5, finishedAt: null, stoppedBecause: 'The disk is full.' });
  const rig = commandLineRig({ methods: overview([stopped]) });
  expect(await rig.run('legacy', 'report')).toBe(3);
  expect(rig.stdout.lines[0]).toBe(
    'The first version’s database: 5 of 12 rows looked at so far. It stopped: The disk is full.',
  );
});

test('without anything of the first version the report says that', async () => {
  const rig = commandLineRig({ methods: overview([]) });
  expect(await rig.run('legacy', 'report')).toBe(0);
  expect(rig.stdout.lines).toEqual(['Nothing of the first version was brought over here.']);
});

test('a file is recognised as a first-version database by what it holds, and brought over', async () => {
  const directory = scratchDirectory();
  const file = writeFirstVersion(directory, generateRows({ accounts: 1, events: 1 }), 'no-ending');
  const asked: string[] = [];
  const rig = commandLineRig({
    methods: {
      ...overview([sourceOf({ id: 4, file, copy: null })], 2),
      'legacy.importFile': ({ path }) => {
        asked.push(path);
        return Promise.resolve({ source: 4 });
      },
    },
  });
  expect(await rig.run('import', file)).toBe(0);
  expect(asked).toEqual([file]);
  expect(rig.stdout.lines).toEqual([
    'Brought over 12 rows of the first version: 6 new here, 1 there already, 2 as information, 3 kept aside.',
    '3 remarks: “holdfast legacy report --remarks” lists them.',
    '2 unfinished fetches to decide about: “holdfast legacy list”.',
  ]);
  expect(readdirSync(directory)).toEqual(['no-ending']);
});

test('a file that was brought over before adds nothing, which is said and is no failure', async () => {
  const file = writeFirstVersion(scratchDirectory(), {}, 'old.db');
  const rig = commandLineRig({
    methods: {
      'legacy.importFile': () =>
        Promise.reject(new Fault('nothing-to-do', 'It was brought over already.', { source: 4 })),
    },
  });
  expect(await rig.run('import', file)).toBe(0);
  expect(rig.stdout.lines).toEqual(['It was brought over already.']);
});

test('one that stopped half-way is a failure with its reason', async () => {
  const file = writeFirstVersion(scratchDirectory(), {}, 'old.db');
  const stopped = sourceOf({ id: 4, file, state: 'carrying', stoppedBecause: 'The disk is full.' });
  const rig = commandLineRig({
    methods: { ...overview([stopped]), 'legacy.importFile': () => Promise.resolve({ source: 4 }) },
  });
  expect(await rig.run('import', file)).toBe(1);
  expect(rig.stderr.lines).toEqual(['holdfast: The disk is full.']);
});

test('a command waits until the first version is brought over, and says how far that is', async () => {
  let waited = false;
  const methods: NonNullable<RigOptions['methods']> = {
    'accounts.list': () => {
      expect(waited).toBe(true);
      return Promise.resolve([]);
    },
  };
  const engine: NonNullable<RigOptions['engine']> = {
    firstVersionBroughtOver: async (onProgress) => {
      onProgress?.({ done: 0, total: 3000 });
      onProgress?.({ done: 250, total: 3000 });
      await Promise.resolve();
      waited = true;
      return null;
    },
  };
  const rig = commandLineRig({ methods, engine });
  expect(await rig.run('account', 'list')).toBe(0);
  expect(rig.stderr.lines).toEqual(['holdfast: bringing over what the first version left: 0 of 3,000 rows']);

  const script = commandLineRig({ methods, engine });
  expect(await script.run('--json', 'account', 'list')).toBe(0);
  expect(script.stderr.lines.map((line) => JSON.parse(line) as unknown)).toContainEqual({
    type: 'first-version',
    done: 0,
    total: 3000,
  });
});

test('where it stopped before its end, a command answers from what is there and says so', async () => {
  const rig = commandLineRig({
    methods: { 'accounts.list': () => Promise.resolve([]) },
    engine: { firstVersionBroughtOver: () => Promise.resolve('The disk is full.') },
  });
  expect(await rig.run('account', 'list')).toBe(0);
  expect(rig.stderr.lines).toEqual([
    'holdfast: bringing over what the first version left stopped: The disk is full. The next command goes on with it; ' +
      '“holdfast legacy report” tells more',
  ]);
});

test('interrupted while it waits, a command ends as one that can go on', async () => {
  const rig = commandLineRig({
    engine: {
      firstVersionBroughtOver: () =>
        new Promise((resolve) => {
          rig.signals.emit('SIGINT');
          // It ends when the engine is closed.
          setImmediate(() => resolve(null));
        }),
    },
  });
  expect(await rig.run('account', 'list')).toBe(3);
  expect(rig.closed).toBe(1);
});
