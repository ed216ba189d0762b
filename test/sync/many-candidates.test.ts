import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase, type WritableDatabase } from '../../main/database/database-file.ts';
import { readCandidatePage } from '../../main/sync/candidate-list.ts';
import { selectCandidates } from '../../main/sync/candidate-selection.ts';
import { readCandidateTree } from '../../main/sync/candidate-tree.ts';
import type { Candidate } from '../../preload/contract.ts';
import { CHECKPOINT, CoverageRig, START } from '../coverage/coverage-rig.ts';
import { alice } from '../relays/event-builder.ts';

/** More than are put in order of time at once, and many slices of a selection. */
const COPIES = 21_000;
/** Every so many events share a second. */
const PER_SECOND = 3;

let db: WritableDatabase;
let rig: CoverageRig;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-many-'));
  const database = await openDatabase({ directory, nowMs: START * 1000 });
  db = database.db;
  rig = await CoverageRig.over(db);
  const range = await rig.range('write');
  const outcome = { cursor: null, checkpoint: CHECKPOINT, covered: null, end: null };
  const { queryId } = await rig.page(range, await rig.attempt(range, await rig.run()), {}, outcome);
  const numbers = sql`(with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${COPIES})
    select number from numbers)`;
  await sql`insert into authors (id, pubkey) values (1, ${Buffer.from(alice.pubkey, 'hex')})`.execute(db);
  await sql`insert into event_ids (ref, id) select number, unhex(format('%064x', (number * 7919) % 1000003)) from ${numbers}`.execute(db); // prettier-ignore
  await sql`insert into events (ref, author, kind, created_at, sig, tags, content, first_seen_at, sequence)
    select number, 1, number % 2, number / ${sql.lit(PER_SECOND)}, zeroblob(64), '[]', 'note ' || number, 0, number from ${numbers}`.execute(db); // prettier-ignore
  await sql`insert into presence (relay_id, event_ref, present, observed_at_ms, query_id, kind, author)
    select ${rig.relay('write')}, ref, 0, 1000 * (ref % 5), ${queryId}, kind, 1 from events`.execute(db);
  await sql`update eligibility_state set checked_up_to = ${COPIES}`.execute(db);
  return async () => {
    await database.close();
    rmSync(directory, { recursive: true });
  };
});

function relay() {
  return { relayId: rig.relay('write'), key: 'wss://write.example', url: 'wss://write.example' };
}

test('a selection of many copies has each once, and lets the event loop go on meanwhile', async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const choice = { account: rig.account, relayId: relay().relayId, relayKey: relay().key, includeRefused: false };

  const all = await selectCandidates(db, { ...choice, now: START });
  clearInterval(timer);
  const some = await selectCandidates(db, { ...choice, now: START, kinds: [1], since: 100, until: 199 });

  expect(new Set(all.map(({ ref }) => ref)).size).toBe(COPIES);
  expect(all).toHaveLength(COPIES);
  expect(turns).toBeGreaterThan(5);
  expect(some).toHaveLength((100 * PER_SECOND) / 2);
});

test.each([
  ['many', undefined, COPIES],
  ['few', [1], COPIES / 2],
])('the list of %s candidates has each once, newest first, however it is read', async (_, kinds, count) => {
  const listed: Candidate[] = [];
  for (;;) {
    const last = listed.at(-1);
    const after = last === undefined ? null : { id: last.event, createdAt: last.createdAt };
    const page = await readCandidatePage(db, { account: alice.pubkey, relay: relay(), kinds, after, limit: 1000, now: START }); // prettier-ignore
    listed.push(...page);
    if (page.length < 1000) break;
  }

  expect(listed).toEqual(listed.toSorted((a, b) => b.createdAt - a.createdAt || (a.event < b.event ? -1 : 1)));
  expect(new Set(listed.map(({ event }) => event)).size).toBe(count);
  const tree = await readCandidateTree(db, { account: alice.pubkey, relays: [relay()], kinds, now: START });
  expect(tree.total).toBe(listed.length);
});
