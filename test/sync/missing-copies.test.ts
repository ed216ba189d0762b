import { expect, test } from 'vitest';
import { addAccount } from '../../main/accounts/account-store.ts';
import { archiveEvents } from '../../main/coverage/archive-events.ts';
import { rebuildPresence } from '../../main/coverage/presence-rebuild.ts';
import { openRange } from '../../main/coverage/range-history.ts';
import { readCandidateTree } from '../../main/sync/candidate-tree.ts';
import { checkNextEvents } from '../../main/sync/check-next-events.ts';
import type { CandidateRelay, SignedEvent } from '../../preload/contract.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import { COMPLETE, CoverageRig, START } from '../coverage/coverage-rig.ts';

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

/** What a person's relays miss, as far as the evidence goes. */
async function missing(rig: CoverageRig, author: string, names: readonly string[]): Promise<CandidateRelay[]> {
  while ((await checkNextEvents(rig.db)) !== null);
  const relays = names.map((name) => ({ relayId: rig.relay(name), key: name, url: name }));
  return (await readCandidateTree(rig.db, { account: author, relays, now: START })).relays;
}

function counted(count: number, observedAt: number | null, kinds: [kind: number, count: number, observedAt: number][]) {
  return {
    count,
    observedAt,
    kinds: kinds.map(([kind, copies, at]) => ({ kind, count: copies, observedAt: at })),
    comparison: 'compared',
    refused: 0,
    refusedKinds: [],
    undetermined: null,
  };
}

test('missing copies are counted by relay and kind, for one account, as old as the oldest evidence among them', async () => {
  const rig = await CoverageRig.open();
  const [first, second, reaction, late] = [note(1, 40), note(1, 30), note(7, 20), note(1, 10)];
  await walk(rig, 'write', 1000, [first, second, reaction]);
  await walk(rig, 'both', 2000, [first]);
  // Archived after both walks, which had not returned it.
  await rig.db.transaction().execute((trx) => archiveEvents(trx, [late], START + 1));
  const ofAlice = () => missing(rig, alice.pubkey, ['write', 'both']);
  const write = { url: 'write', ...counted(1, START + 1, [[1, 1, START + 1]]) };

  expect(await ofAlice()).toEqual([
    write,
    {
      url: 'both',
      ...counted(3, START + 2, [
        [1, 2, START + 2],
        [7, 1, START + 2],
      ]),
    },
  ]);

  // The same relay is walked for somebody else's events, of which it lacks one.
  const account = await addAccount(rig.db, { pubkey: bob.pubkey, label: null, relays: [], createdAt: START });
  await rig.db.transaction().execute((trx) => archiveEvents(trx, [note(1, 5, bob)], START + 1));
  const scope = { accountId: account.id, relayId: rig.relay('both'), since: null, until: START };
  const range = await openRange(rig.db, { ...scope, filter: { authors: [bob.pubkey] } });
  await rig.page(range, await rig.attempt(range, await rig.run()), { completedAtMs: AT_MS + 3000 }, COMPLETE);
  expect((await ofAlice()).map(({ count }) => count)).toEqual([1, 3]);
  expect(await missing(rig, bob.pubkey, ['both'])).toMatchObject([{ count: 1, observedAt: START + 3 }]);

  // What a relay turns out to have is no longer missing there, and the other way round.
  await walk(rig, 'both', 4000, [second, reaction, late]);
  const shrunk = await ofAlice();
  expect(shrunk).toEqual([write, { url: 'both', ...counted(1, START + 4, [[1, 1, START + 4]]) }]);
  await rig.db.transaction().execute((trx) => rebuildPresence(trx));
  expect(await ofAlice()).toEqual(shrunk);
});

test('a relay that lacks nothing says when it was compared, and one that was not does not pass for it', async () => {
  const rig = await CoverageRig.open();
  const known = async () => {
    const [write, both] = await missing(rig, alice.pubkey, ['write', 'both']);
    return [write?.comparison, write?.observedAt, both?.comparison, both?.observedAt];
  };
  expect(await known()).toEqual(['never-asked', null, 'never-asked', null]);

  // Asked, and nobody answered.
  const silent = await rig.range('both');
  await rig.page(silent, await rig.attempt(silent, await rig.run()), { ending: 'timeout' });
  // A walk over some seconds only is no comparison of the history.
  const recent = await rig.range('write', START - 50);
  await rig.page(recent, await rig.attempt(recent, await rig.run()), {}, COMPLETE);
  expect(await known()).toEqual(['unfinished', null, 'unanswered', null]);

  await walk(rig, 'write', 5000, [note(1, 40)]);
  await walk(rig, 'write', 9000, [note(1, 40)]);
  expect((await known()).slice(0, 2)).toEqual(['compared', START + 9]);
  // Another account was never asked for there.
  expect(await missing(rig, bob.pubkey, ['write'])).toMatchObject([{ comparison: 'never-asked', observedAt: null }]);
});
