import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { summarizeArchive } from '../../main/archive/event-reader.ts';
import { readAttempts, readQueries } from '../../main/coverage/attempt-list.ts';
import { readFetchState } from '../../main/coverage/fetch-state.ts';
import { latestAttempt, type Attempt } from '../../main/coverage/range-history.ts';
import { recordPage } from '../../main/coverage/record-page.ts';
import { buildEvent, buildHistory } from '../relays/event-builder.ts';
import { COMPLETE, CoverageRig, ONGOING, PARTIAL, START } from './coverage-rig.ts';

/** Every row of every table. */
async function everything(rig: CoverageRig): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite!_%' escape '!'`.execute(rig.db);
  const all: Record<string, unknown[]> = {};
  for (const { name } of tables.rows) all[name] = (await sql`select * from ${sql.table(name)}`.execute(rig.db)).rows;
  return all;
}

describe('recording a page', () => {
  test('keeps what was sent, when, how it ended and what it brought', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const attempt = await rig.attempt(range, await rig.run());
    const events = buildHistory({ count: 3, from: START - 10, to: START });
    await rig.page(range, attempt, { events: events.slice(0, 2) });

    const recorded = await rig.page(range, attempt, {
      events,
      request: { authors: [rig.account.pubkey], until: START - 4, limit: 3 },
      sentAtMs: START * 1000 + 1999,
      completedAtMs: START * 1000 + 3001,
      received: 9,
      invalid: 4,
      message: 'these are my words',
      ending: 'eose-more',
    });

    expect(recorded).toMatchObject({ unique: 1, newlyArchived: 1 });
    const queries = await readQueries(rig.db, attempt.id, { offset: 0, limit: 10 });
    expect(queries.map(({ id: _, ...query }) => query)).toEqual([
      expect.objectContaining({ received: 2, valid: 2, unique: 2, new: 2, ending: 'eose' }),
      {
        type: 'REQ',
        request: { authors: [rig.account.pubkey], until: START - 4, limit: 3 },
        sentAt: START + 1,
        completedAt: START + 3,
        ending: 'eose-more',
        message: 'these are my words',
        received: 9,
        valid: 3,
        unique: 1,
        new: 1,
      },
    ]);
    expect(await readQueries(rig.db, attempt.id, { offset: 1, limit: 1 })).toEqual([queries[1]]);
    expect(await readAttempts(rig.db, range.id)).toEqual([
      expect.objectContaining({
        found: 3,
        fetched: 3,
        received: 11,
        newlyArchived: 3,
        queryCount: 2,
        cursor: ONGOING.cursor,
        status: 'active',
      }),
    ]);
  });

  test('is one transaction: when deciding fails, nothing at all is stored', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const attempt = await rig.attempt(range, await rig.run());
    await rig.page(range, attempt, { events: buildHistory({ count: 2, from: 1, to: 9 }) });
    const before = await everything(rig);

    const failing = recordPage(
      rig.db,
      {
        range,
        attempt,
        request: {},
        sentAtMs: 0,
        completedAtMs: 0,
        setBackMs: 0,
        ending: 'eose',
        message: null,
        received: 5,
        invalid: 1,
        events: [buildEvent({ content: 'new', tags: [['t', 'x']] })],
      },
      () => {
        throw new Error('no decision');
      },
    );

    await expect(failing).rejects.toThrow('no decision');
    expect(await everything(rig)).toEqual(before);
  });

  test('is one transaction also when its last statement fails', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const attempt = await rig.attempt(range, await rig.run());
    await sql`create trigger refuse_state before insert on fetch_state begin select raise(abort, 'disk trouble'); end`.execute(
      rig.db,
    );
    const before = await everything(rig);

    await expect(
      rig.page(range, attempt, { events: buildHistory({ count: 2, from: 1, to: 9 }) }, COMPLETE),
    ).rejects.toThrow('disk trouble');

    expect(await everything(rig)).toEqual(before);
  });

  test('ends the attempt, and only a completed one moves the state of the relay', async () => {
    const rig = await CoverageRig.open();
    const run = await rig.run();
    const range = await rig.range('write');
    await rig.page(range, await rig.attempt(range, run), {}, PARTIAL);
    expect(await readFetchState(rig.db, rig.account.id, range.relayId)).toEqual({
      historyComplete: false,
      forwardBoundary: null,
    });
    expect(await latestAttempt(rig.db, range.id)).toMatchObject({ status: 'partial', reason: 'The relay went away.' });

    await rig.page(range, await rig.attempt(range, run), {}, COMPLETE);

    expect(await readFetchState(rig.db, rig.account.id, range.relayId)).toEqual({
      historyComplete: true,
      forwardBoundary: START,
    });
    expect(await latestAttempt(rig.db, range.id)).toMatchObject({ status: 'complete', reason: 'The end was reached.' });
  });

  test('never makes an answer older than its question', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const attempt = await rig.attempt(range, await rig.run());

    await rig.page(range, attempt, { sentAtMs: START * 1000, completedAtMs: (START - 500) * 1000 });

    expect(await readQueries(rig.db, attempt.id, { offset: 0, limit: 1 })).toMatchObject([
      { sentAt: START, completedAt: START },
    ]);
  });

  test('judging a page may change how its query ended', async () => {
    const rig = await CoverageRig.open();
    const range = await rig.range('write');
    const attempt = await rig.attempt(range, await rig.run());

    await rig.page(range, attempt, {}, { ...PARTIAL, ending: 'unpageable' });

    expect(await readQueries(rig.db, attempt.id, { offset: 0, limit: 1 })).toMatchObject([{ ending: 'unpageable' }]);
  });
});

test('whatever pages come in whatever attempts, the counts are those of a recount from the evidence', async () => {
  const pool = [
    ...buildHistory({ count: 25, from: START - 100, to: START, kinds: [0, 1, 7, 1, 30_023] }),
    ...buildHistory({ count: 5, from: 5, to: 9, kinds: [3] }),
  ];
  const step = fc.record({
    relay: fc.constantFrom('write', 'extra'),
    /** Begin anew, go on with the last walk, or stay in the attempt. */
    how: fc.constantFrom('repeat', 'continue', 'stay', 'stay', 'stay'),
    events: fc.subarray(pool, { maxLength: 10 }),
    invalid: fc.nat({ max: 3 }),
    outcome: fc.constantFrom(ONGOING, ONGOING, PARTIAL, COMPLETE),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const rig = await CoverageRig.open();
      const run = await rig.run();
      let archived = 0;
      for (const { relay, how, events, invalid, outcome } of steps) {
        const range = await rig.range(relay);
        const prior: Attempt | null = await latestAttempt(rig.db, range.id);
        const attempt =
          prior !== null && how === 'stay' && prior.status === 'active'
            ? prior
            : await rig.attempt(range, run, { prior, continued: how === 'continue' && prior !== null });
        const recorded = await rig.page(
          range,
          attempt,
          { events, invalid, received: events.length + invalid },
          outcome,
        );
        archived += recorded.newlyArchived;
      }
      const { rows: walks } = await sql<{ walk: number; found: number; kinds: number; byKind: string; seen: number }>`
        select walk_id as walk, max(found) as found,
          (select count(*) from evidence where evidence.walk_id = attempts.walk_id) as seen,
          (select coalesce(sum(found), 0) from walk_kinds where walk_kinds.walk_id = attempts.walk_id) as kinds
        from attempts group by walk_id`.execute(rig.db);
      for (const { found, seen, kinds } of walks) expect([seen, kinds]).toEqual([found, found]);
      const { rows: wrongKinds } = await sql`
        select walk_kinds.walk_id from walk_kinds where found <> (
          select count(*) from evidence join events on events.ref = evidence.event_ref
          where evidence.walk_id = walk_kinds.walk_id and events.kind = walk_kinds.kind)`.execute(rig.db);
      expect(wrongKinds).toEqual([]);
      const { rows: wrongAttempts } = await sql`
        select id from attempts where fetched <> found
          or received <> (select coalesce(sum(received), 0) from queries where attempt_id = attempts.id)
          or newly_archived <> (select coalesce(sum(new_count), 0) from queries where attempt_id = attempts.id)
          or found <> (select count(*) from evidence join queries on queries.id = evidence.query_id
            where evidence.walk_id = attempts.walk_id and queries.attempt_id <= attempts.id)`.execute(rig.db);
      expect(wrongAttempts).toEqual([]);
      expect((await summarizeArchive(rig.db, rig.account.pubkey)).events).toBe(archived);
      for (const { ranges } of (await rig.tree()).relays) {
        for (const range of ranges) {
          expect(Object.values(range.kinds).reduce((sum, count) => sum + count, 0)).toBe(range.found);
          expect(range.queryCount).toBe(
            (await readAttempts(rig.db, range.id)).reduce((sum, { queryCount }) => sum + queryCount, 0),
          );
        }
      }
    }),
    { numRuns: 15 },
  );
}, 60_000);
