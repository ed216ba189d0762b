import { expect, test } from 'vitest';
import { addAccount } from '../../main/accounts/account-store.ts';
import { archiveEvents } from '../../main/coverage/archive-events.ts';
import { readMissingCopies } from '../../main/coverage/missing-copies.ts';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import { openRange } from '../../main/coverage/range-history.ts';
import type { SignedEvent } from '../../preload/contract.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import { COMPLETE, CoverageRig, START } from './coverage-rig.ts';

const AT_MS = START * 1000;

function note(kind: number, second: number, author = alice): SignedEvent {
  return buildEvent({ author, kind, createdAt: START - second, content: `${kind} at ${second}` });
}

/** A finished walk over everything up to START that returned some events, at so many milliseconds after it. */
async function walk(rig: CoverageRig, relay: string, afterMs: number, events: readonly SignedEvent[]): Promise<void> {
  const range = await rig.range(relay);
  const times = { sentAtMs: AT_MS + afterMs, completedAtMs: AT_MS + afterMs };
  await rig.page(range, await rig.attempt(range, await rig.run()), { events, ...times }, COMPLETE);
}

test('missing copies are counted by relay and kind, for one account, as old as the oldest evidence among them', async () => {
  const rig = await CoverageRig.open();
  const [first, second, reaction, late] = [note(1, 40), note(1, 30), note(7, 20), note(1, 10)];
  await walk(rig, 'write', 100, [first, second, reaction]);
  await walk(rig, 'extra', 200, [first]);
  // Archived after both walks, which had not returned it.
  await rig.db.transaction().execute((trx) => archiveEvents(trx, [late], START + 1));
  const write = { relayId: rig.relay('write'), total: 1, kinds: new Map([[1, 1]]), observedAtMs: AT_MS + 100 };
  const missing = () => readMissingCopies(rig.db, alice.pubkey, [rig.relay('write'), rig.relay('extra')]);
  const extra = { relayId: rig.relay('extra'), total: 3, observedAtMs: AT_MS + 200 };

  expect(await missing()).toEqual([
    write,
    {
      ...extra,
      kinds: new Map([
        [1, 2],
        [7, 1],
      ]),
    },
  ]);

  // The same relay is walked for somebody else's events, of which it lacks one.
  const account = await addAccount(rig.db, { pubkey: bob.pubkey, label: null, relays: [], createdAt: START });
  await rig.db.transaction().execute((trx) => archiveEvents(trx, [note(1, 5, bob)], START + 1));
  const scope = { accountId: account.id, relayId: rig.relay('extra'), since: null, until: START };
  const range = await openRange(rig.db, { ...scope, filter: { authors: [bob.pubkey] } });
  await rig.page(range, await rig.attempt(range, await rig.run()), { completedAtMs: AT_MS + 300 }, COMPLETE);
  expect((await missing()).map(({ total }) => total)).toEqual([1, 3]);
  const ofBob = await readMissingCopies(rig.db, bob.pubkey, [rig.relay('extra')]);
  expect(ofBob.map(({ total, observedAtMs }) => ({ total, observedAtMs }))).toEqual([
    { total: 1, observedAtMs: AT_MS + 300 },
  ]);

  // What a relay turns out to have is no longer missing there, and the other way round.
  await walk(rig, 'extra', 400, [second, reaction, late]);
  expect((await missing())[1]).toEqual({
    ...{ relayId: rig.relay('extra'), total: 1, kinds: new Map([[1, 1]]), observedAtMs: AT_MS + 400 },
  });
  const before = await missing();
  await rig.db.transaction().execute((trx) => rebuildPresence(trx));
  expect(await missing()).toEqual(before);
});

test('an account of which nothing is archived misses nothing', async () => {
  const rig = await CoverageRig.open();
  const relayId = rig.relay('write');

  expect(await readMissingCopies(rig.db, bob.pubkey, [relayId])).toEqual([
    { relayId, total: 0, kinds: new Map(), observedAtMs: null },
  ]);
});
