import { describe, expect, test } from 'vitest';
import { setAccountRelays } from '../../main/accounts/account-store.ts';
import { archiveEvents } from '../../main/coverage/archive-events.ts';
import { computeCopies, computeTimeline } from '../../main/coverage/coverage-summary.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import { COMPLETE, CoverageRig, ONGOING, START } from './coverage-rig.ts';

const DAY = 86_400;
const NONE = { present: 0, absent: 0 };

function note(daysAgo: number, fields: { kind?: number; author?: typeof alice } = {}): SignedEvent {
  return buildEvent({ ...fields, createdAt: START - daysAgo * DAY, content: `${daysAgo} days ago` });
}

/** A walk over everything up to START that returned some events; unfinished unless said otherwise. */
async function walk(
  rig: CoverageRig,
  relay: string,
  events: readonly SignedEvent[],
  outcome = COMPLETE,
): Promise<void> {
  const range = await rig.range(relay);
  await rig.page(range, await rig.attempt(range, await rig.run()), { events }, outcome);
}

function subjectOf(rig: CoverageRig, relays: readonly string[]) {
  return {
    account: alice.pubkey,
    relays: relays.map((name) => ({ relayId: rig.relay(name), url: name })),
    now: START,
  };
}

describe('the copies of an account', () => {
  test('are counted per event over its sources, and per relay', async () => {
    const rig = await CoverageRig.open();
    const [everywhere, twice, once, message] = [note(1), note(2), note(3), note(4, { kind: 4 })];
    await walk(rig, 'write', [everywhere, twice, once]);
    await walk(rig, 'extra', [everywhere, twice]);
    await walk(rig, 'both', [everywhere], ONGOING);
    // No source: neither counts as a copy nor as an answer.
    await walk(rig, 'read', [everywhere, twice, once, message]);
    await rig.db.transaction().execute((trx) => archiveEvents(trx, [note(5), note(6, { author: bob })], START));

    expect(await computeCopies(rig.db, subjectOf(rig, ['write', 'extra', 'both']))).toEqual({
      ...{ account: alice.pubkey, computedAt: START },
      ...{ events: 5, none: 2, one: 1, two: 1, more: 1, undetermined: 1, past: 0 },
      relays: [
        { url: 'write', present: 3, absent: 1, undetermined: 1, past: NONE },
        { url: 'extra', present: 2, absent: 2, undetermined: 1, past: NONE },
        { url: 'both', present: 1, absent: 0, undetermined: 4, past: NONE },
      ],
    });
  });

  test('tell apart what no relay is meant to keep: older versions, and what was deleted', async () => {
    const rig = await CoverageRig.open();
    const [older, newer] = [note(2, { kind: 0 }), note(1, { kind: 0 })];
    const [gone, kept, lost] = [note(3), note(4), note(5)];
    const request = buildEvent({ kind: 5, createdAt: START, tags: [['e', gone.id]] });
    await walk(rig, 'write', [older, kept]);
    await walk(rig, 'extra', [newer, kept, request]);
    await rig.db.transaction().execute((trx) => archiveEvents(trx, [gone, lost], START));
    while ((await checkNextEvents(rig.db)) !== null);

    expect(await computeCopies(rig.db, subjectOf(rig, ['write', 'extra']))).toMatchObject({
      ...{ events: 6, none: 2, undetermined: 0, past: 1 },
      relays: [
        { present: 2, absent: 4, past: { present: 1, absent: 1 } },
        { present: 3, absent: 3, past: { present: 0, absent: 2 } },
      ],
    });
  });

  test('are all unknown without a source', async () => {
    const rig = await CoverageRig.open();
    await walk(rig, 'write', [note(1), note(2)]);

    const { events, none, undetermined, relays } = await computeCopies(rig.db, subjectOf(rig, []));

    expect({ events, none, undetermined, relays }).toEqual({ events: 2, none: 2, undetermined: 2, relays: [] });
  });

  test('are counted the same over more relays than one number of the database tells of', async () => {
    const rig = await CoverageRig.open();
    const names = Array.from({ length: 60 }, (_, place) => `wss://relay-${place}.example`);
    const roles = { read: false, write: true, extra: false };
    await setAccountRelays(
      rig.db,
      rig.account.id,
      names.map((url) => ({ url, ...roles })),
    );
    const rows = await rig.db.selectFrom('relays').select(['id', 'url']).execute();
    const relays = names.map((url) => ({ url, relayId: rows.find((row) => row.url === url)?.id ?? 0 }));
    const events = [note(1), note(2)];
    const holding = [0, 24, 25, 49, 50, 59];
    for (const [place, { relayId }] of relays.entries()) {
      const scope = await rig.range('write');
      const range = { ...scope, relayId };
      await rig.db.updateTable('ranges').set({ relay_id: relayId }).where('id', '=', scope.id).execute();
      const held = holding.includes(place) ? events : events.slice(0, 1);
      await rig.page(range, await rig.attempt(range, await rig.run()), { events: held }, COMPLETE);
    }

    const copies = await computeCopies(rig.db, { account: alice.pubkey, relays, now: START });

    expect(copies.more).toBe(2);
    for (const [place, relay] of copies.relays.entries()) {
      const both = holding.includes(place);
      expect(relay).toMatchObject({ url: names[place], present: both ? 2 : 1, absent: both ? 0 : 1, undetermined: 0 });
    }
  });
});

test('the timeline counts by month without gaps, and leaves out what has no plausible time', async () => {
  const rig = await CoverageRig.open();
  // 14 November 2023, and before: the last second of October, the first of November, and one in August.
  const november = Date.UTC(2023, 10, 1) / 1000;
  const at = (createdAt: number): SignedEvent => buildEvent({ createdAt, content: `at ${createdAt}` });
  const [august, october, first] = [at(november - 80 * DAY), at(november - 1), at(november)];
  await walk(rig, 'write', [august, first]);
  await walk(rig, 'extra', [october], ONGOING);
  await rig.db.transaction().execute((trx) => archiveEvents(trx, [at(START + 30 * DAY), at(-5)], START));

  expect(await computeTimeline(rig.db, subjectOf(rig, ['write', 'extra']))).toEqual({
    ...{ account: alice.pubkey, computedAt: START, implausible: 2 },
    months: [7, 8, 9, 10].map((month) => Date.UTC(2023, month, 1) / 1000),
    archived: [1, 0, 1, 1],
    relays: [
      { url: 'write', present: [1, 0, 0, 1], absent: [0, 0, 1, 0] },
      { url: 'extra', present: [0, 0, 1, 0], absent: [0, 0, 0, 0] },
    ],
  });
});

test('the timeline of an account of which nothing is archived is empty', async () => {
  const rig = await CoverageRig.open();

  const { months, archived, implausible } = await computeTimeline(rig.db, subjectOf(rig, ['write']));

  expect({ months, archived, implausible }).toEqual({ months: [], archived: [], implausible: 0 });
});
