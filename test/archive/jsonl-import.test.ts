import { expect, test, vi } from 'vitest';
import { importJsonl } from '../../main/archive/jsonl-import.ts';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import type { ImportReport, SignedEvent } from '../../preload/contract.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { buildEvent, buildHistory } from '../relays/event-builder.ts';
import { withBadSignature, withChangedContent } from '../relays/behaviours/corruption.ts';
import { archive, readAll } from './archive-rig.ts';

/** Takes a signature for valid when its text does not begin with "bad". */
const quickVerifier = {
  verify: (events: readonly SignedEvent[]) =>
    Promise.resolve(
      events.map(({ content }) => (content.startsWith('bad') ? ('bad-signature' as const) : ('valid' as const))),
    ),
  close: () => Promise.resolve(),
};

function importInto(db: WritableDatabase, lines: Iterable<string>, verifier = pureVerifier): Promise<ImportReport> {
  return importJsonl(lines, { store: (events) => archive(db, events), verifier });
}

test('good lines are archived, bad ones reported by number and reason', async () => {
  const { db } = await openScratchDatabase();
  const [first, second] = [buildEvent({ content: 'first' }), buildEvent({ content: 'second' })];

  const report = await importInto(db, [
    JSON.stringify(first),
    '{"id":',
    '[]',
    JSON.stringify(withChangedContent(second)),
    JSON.stringify(withBadSignature(second)),
    JSON.stringify({ ...second, kind: '1' }),
    JSON.stringify({ ...second, seen_on: ['wss://elsewhere.example'] }),
    'null',
  ]);

  expect(report).toMatchObject({ read: 8, newlyArchived: 2, alreadyArchived: 0, bad: 6 });
  expect(report.problems.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 8]);
  expect(report.problems.map(({ message }) => message)).toEqual([
    'not JSON',
    expect.stringContaining('not an object'),
    expect.stringContaining('ID'),
    expect.stringContaining('signature'),
    expect.stringContaining('kind'),
    expect.stringContaining('not an object'),
  ]);
  expect(new Set(await readAll(db))).toEqual(new Set([first, second]));
});

test('a byte order mark, carriage returns and empty lines are passed over, and still count as lines', async () => {
  const { db } = await openScratchDatabase();

  const report = await importInto(db, [
    `\ufeff${JSON.stringify(buildEvent())}\r`,
    '\r',
    '',
    '   ',
    `${JSON.stringify(buildEvent({ content: 'two' }))}\r`,
    'not this one',
    '',
  ]);

  expect(report).toEqual({
    read: 3,
    newlyArchived: 2,
    alreadyArchived: 0,
    bad: 1,
    problems: [{ line: 6, message: 'not JSON' }],
  });
});

test('a text may hold several lines, each with its own number', async () => {
  const { db } = await openScratchDatabase();
  const [first, second] = [buildEvent({ content: 'first' }), buildEvent({ content: 'second' })];

  const report = await importInto(db, [
    `${JSON.stringify(first)}\n\n\nbad`,
    '\n\n',
    `${JSON.stringify(second)}\nworse`,
  ]);

  expect(report).toMatchObject({ read: 4, newlyArchived: 2, bad: 2 });
  expect(report.problems.map(({ line }) => line)).toEqual([4, 9]);
});

test('other work gets its turn while millions of lines without any event are passed over', async () => {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);

  const report = await importJsonl(['\n'.repeat(3_000_000), 'bad\n'.repeat(500_000)], {
    store: () => Promise.reject(new Error('there is nothing to store')),
    verifier: quickVerifier,
  });
  isOver = true;

  expect(report).toMatchObject({ read: 500_000, bad: 500_000 });
  expect(report.problems.at(-1)?.line).toBe(3_001_001);
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('what is archived already is counted apart, also when a file repeats it', async () => {
  const { db } = await openScratchDatabase();
  const lines = buildHistory({ count: 3, from: 1, to: 3 }).map((event) => JSON.stringify(event));

  expect(await importInto(db, [...lines, ...lines])).toMatchObject({ read: 6, newlyArchived: 3, alreadyArchived: 3 });
  expect(await importInto(db, lines)).toMatchObject({ read: 3, newlyArchived: 0, alreadyArchived: 3 });
});

test('nothing at all is read from an empty file', async () => {
  const { db } = await openScratchDatabase();

  expect(await importInto(db, [])).toEqual({ read: 0, newlyArchived: 0, alreadyArchived: 0, bad: 0, problems: [] });
});

test('imported events are no evidence about any relay', async () => {
  const { db } = await openScratchDatabase();

  await importInto(db, [JSON.stringify(buildEvent())]);

  expect(await db.selectFrom('evidence').selectAll().execute()).toEqual([]);
});

test('of many bad lines the first thousand are listed, in order, and all are counted', async () => {
  const { db } = await openScratchDatabase();
  const badlySigned = JSON.stringify(buildEvent({ content: 'bad' }));
  // Signatures are checked in batches, after the lines without any form that follow were seen.
  const lines = Array.from({ length: 5000 }, (_, index) => (index % 10 === 0 ? badlySigned : 'no event'));

  const report = await importInto(db, lines, quickVerifier);

  expect(report.bad).toBe(5000);
  expect(report.problems.map(({ line }) => line)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
  expect(report.problems[10]?.message).toContain('signature');
});

test('a long file is read as it is archived, never all at once', async () => {
  const { db } = await openScratchDatabase();
  const onProgress = vi.fn();
  let given = 0;
  let ahead = 0;
  function* lines(): Generator<string> {
    const template = buildEvent({ content: 'x'.repeat(4000) });
    for (; given < 2500; given += 1) {
      const archived =
        onProgress.mock.calls.length === 0 ? 0 : (onProgress.mock.lastCall?.[0] as ImportReport).newlyArchived;
      ahead = Math.max(ahead, given - archived);
      yield JSON.stringify({ ...template, id: given.toString(16).padStart(64, '0') });
    }
  }

  const report = await importJsonl(lines(), {
    store: (events) => archive(db, events),
    verifier: quickVerifier,
    onProgress,
  });

  expect(report.newlyArchived).toBe(2500);
  expect(onProgress).toHaveBeenCalledTimes(5);
  expect(ahead).toBeLessThanOrEqual(500);
});

test('long lines are archived before many of them fill the memory', async () => {
  const { db } = await openScratchDatabase();
  const template = { ...buildEvent(), content: 'x'.repeat(1024 * 1024) };
  const sizes: number[] = [];
  const verifier = {
    ...quickVerifier,
    verify: (events: readonly SignedEvent[]) => {
      sizes.push(events.length);
      return quickVerifier.verify(events);
    },
  };
  function* lines(): Generator<string> {
    for (let index = 0; index < 20; index += 1)
      yield JSON.stringify({ ...template, id: index.toString(16).padStart(64, '0') });
  }

  await importJsonl(lines(), { store: (events) => archive(db, events), verifier });

  expect(Math.max(...sizes)).toBeLessThanOrEqual(8);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20);
});
