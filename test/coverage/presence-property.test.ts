import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { WritableDatabase } from '../../main/database/database-file.ts';
import { openScratchDatabase } from '../fixtures/scratch-database.ts';
import { EVENTS, eventsAt, histories, HistoryPlayer } from './presence-history.ts';
import { PresenceRig, type PresenceRow } from './presence-rig.ts';
import { UnsteadyClock } from './unsteady-clock.ts';

const IDS = EVENTS.map(({ id }) => id);

test.each([
  ['whatever happens, the projection says what the rules of evidence say', () => null],
  ['however the clock is set meanwhile, later evidence wins', () => new UnsteadyClock()],
])(
  '%s',
  async (_, clockOf) => {
    const rig = await PresenceRig.over((await openScratchDatabase()).db);
    await fc.assert(
      fc.asyncProperty(histories, async ({ held, archived, steps }) => {
        await rig.wipe();
        await rig.import(eventsAt(archived));
        const player = new HistoryPlayer(rig, held, (query) => takesNothingBack(rig, query), clockOf());
        for (const step of steps) {
          await player.play(step);
          expect(await rig.presence()).toEqual(rig.expected(IDS));
        }
        await expectNothingBeyondInventories(rig.db);
        await expectCountsOfRecount(rig);
        const kept = await rig.presence();
        await rig.rebuild();
        expect(await rig.presence()).toEqual(kept);
      }),
      { numRuns: 1000 },
    );
  },
  120_000,
);

/**
 * A query that did not finish removes no positive and makes no negative. Only a body that it newly archived may: it is
 * compared at once with inventories that finished before.
 */
async function takesNothingBack(rig: PresenceRig, query: () => Promise<void>): Promise<void> {
  const before = await rig.presence();
  const known = new Set(IDS.filter((id) => rig.model.isArchived(id)));
  await query();
  const after = new Map((await rig.presence()).map((row) => [keyOf(row), row]));
  for (const row of before) {
    if (row.present === 1 && known.has(row.id)) expect(after.get(keyOf(row))?.present).toBe(1);
    after.delete(keyOf(row));
  }
  for (const row of after.values()) if (row.present === 0) expect(known.has(row.id)).toBe(false);
}

function keyOf({ relay, id }: PresenceRow): string {
  return `${relay} ${id}`;
}

/** Every negative rests on a query that covered the event's second in a walk of its account that finished. */
async function expectNothingBeyondInventories(db: WritableDatabase): Promise<void> {
  const { rows } = await sql`select presence.* from presence
    left join events on events.ref = presence.event_ref
    left join authors on authors.id = events.author
    left join queries on queries.id = presence.query_id
    left join attempts on attempts.id = queries.attempt_id
    left join ranges on ranges.id = attempts.range_id
    left join accounts on accounts.id = ranges.account_id
    where presence.present = 0 and not coalesce(events.kind not in (4, 1059)
      and events.created_at between max(0, coalesce(queries.covered_from, 0)) and queries.covered_until
      and events.created_at between coalesce(ranges.since, 0) and ranges.until
      and ranges.relay_id = presence.relay_id and unhex(accounts.pubkey) = authors.pubkey
      and queries.ending in ('eose', 'neg-complete')
      and exists (select 1 from attempts as whole where whole.walk_id = queries.walk_id and whole.status = 'complete')
      and not exists (select 1 from kind_probes where kind_probes.relay_id = presence.relay_id
        and kind_probes.kind = events.kind and refused = 1), 0)`.execute(db);
  expect(rows).toEqual([]);
}

/** Found, fetched and the kinds of each walk, as its latest attempt tells them. */
async function expectCountsOfRecount(rig: PresenceRig): Promise<void> {
  const { rows } = await sql<{ walk: number; found: number; fetched: number; kinds: string }>`
    select walk_id as walk, found, fetched, (select coalesce(json_group_object(kind, found), '{}') from walk_kinds
      where walk_kinds.walk_id = attempts.walk_id) as kinds
    from attempts where id in (select max(id) from attempts group by walk_id) order by walk_id`.execute(rig.db);
  const counted = rows.map(({ kinds, ...row }) => ({ ...row, kinds: JSON.parse(kinds) as Record<string, number> }));
  const recounted = rows.map(({ walk }) => ({
    walk,
    found: rig.model.found(walk).length,
    fetched: rig.model.fetched(walk).length,
    kinds: rig.model.kinds(walk),
  }));
  expect(counted).toEqual(recounted);
}
