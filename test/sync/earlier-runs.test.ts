import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { rateLimitPublishing, refusePublications } from '../relays/behaviours/publishing.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, notes, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

async function relayWithout(...behaviours: Behaviour[]): Promise<ScriptedRelay> {
  const relay = await rig.startRelay();
  await rig.establish([relay], notes(2));
  relay.behave(...behaviours);
  return relay;
}

/** A second sync brings what the first one did not; then nothing more may leave. */
async function bringByAnother(relay: ScriptedRelay, args: { includeRefused?: boolean } = {}): Promise<number> {
  relay.behave();
  const second = await rig.sync(args);
  expect(await rig.totals(second.id)).toEqual({ verified: 2 });
  return eventsSent(relay).length;
}

test('what a later sync brought is not sent again by Retry of the sync that it was refused in', async () => {
  const relay = await relayWithout(refusePublications('blocked: no'));
  const { id: run } = await rig.sync();
  const sent = await bringByAnother(relay, { includeRefused: true });

  await rig.engine.methods['sync.retryRefused']({ run });
  await rig.ended(run);

  expect(eventsSent(relay)).toHaveLength(sent);
  expect(await rig.totals(run)).toEqual({ withdrawn: 2 });
});

test('nor by Resume of a sync that was cancelled while the relay limited its rate', async () => {
  const relay = await relayWithout(rateLimitPublishing(0));
  const run = await rig.begin();
  await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
  await rig.engine.methods['runs.cancel']({ run });
  expect(await rig.ended(run)).toMatchObject({ resumable: true });
  const sent = await bringByAnother(relay);

  expect(await rig.resume(run)).toMatchObject({ status: 'complete' });

  expect(eventsSent(relay)).toHaveLength(sent);
  expect(await rig.totals(run)).toEqual({ withdrawn: 2 });
  expect((await rig.deliveries(run)).map(({ reason }) => reason)).toEqual(['present', 'present']);
});
