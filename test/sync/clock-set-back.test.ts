import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventsSent, notes, START, SyncRig } from './delivery-rig.ts';

const DAY = 86_400;

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

test('what was verified is not missing any more although the clock was set back since the fetch, nor sent again', async () => {
  const relay = await rig.startRelay();
  await rig.establish([relay], notes(3));
  rig.clock.setWallClock((START - DAY) * 1000);

  const { id: run } = await rig.sync();

  expect(await rig.totals(run)).toEqual({ verified: 3 });
  expect(await rig.missing()).toBe(0);
  await expect(rig.sync()).rejects.toMatchObject({ code: 'nothing-to-do' });
  expect(eventsSent(relay)).toHaveLength(3);
});

test('nor although Holdfast was started anew with the wrong time', async () => {
  const relay = await rig.startRelay();
  await rig.establish([relay], notes(3));
  rig.clock.setWallClock((START - 365 * DAY) * 1000);
  await rig.restart();

  await rig.sync();

  expect(await rig.missing()).toBe(0);
});

test('nor although the clock jumps ahead and back in the middle', async () => {
  const relay = await rig.startRelay();
  await rig.establish([relay], notes(30));
  const run = await rig.begin();
  await rig.passUntil(() => eventsSent(relay).length >= 10);
  rig.clock.setWallClock((START + 365 * DAY) * 1000);
  await rig.passUntil(() => eventsSent(relay).length >= 20);
  rig.clock.setWallClock((START - 365 * DAY) * 1000);
  await rig.ended(run);

  expect(await rig.totals(run)).toEqual({ verified: 30 });
  expect(await rig.missing()).toBe(0);
});

test('what a relay lost is missing again by a fetch after the clock was set back', async () => {
  const events = notes(3);
  const relay = await rig.startRelay({ events });
  await rig.establish([relay], events);
  expect(await rig.missing()).toBe(0);
  rig.clock.setWallClock((START - 100) * 1000);
  relay.behave({ name: 'lost all', hides: () => true });

  await rig.fetching.fetch();

  expect(await rig.missing()).toBe(3);
  // How far was asked goes by the clock.
  expect(await rig.fetching.relay(relay.url)).toMatchObject({ forwardBoundary: START - 100 });
});
