import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, notes, SyncRig } from './delivery-rig.ts';

const EVENTS = notes(3);

const refusesToBeAsked: Behaviour = {
  name: 'refuses to be asked',
  takeRequest({ connection, subscription }) {
    connection.send(['CLOSED', subscription, 'error: not today']);
    return true;
  },
};

let rig: SyncRig;
let relay: ScriptedRelay;
let run: number;
beforeEach(async () => {
  rig = await SyncRig.start();
  relay = await rig.startRelay();
  await rig.establish([relay], EVENTS);
  run = (await rig.sync()).id;
  expect(await rig.totals(run)).toEqual({ verified: 3 });
});
afterEach(() => rig.close());

async function reverify(sample?: number) {
  await rig.engine.methods['sync.reverify']({ run, ...(sample === undefined ? {} : { sample }) });
  return rig.ended(run);
}

test('looking again at a relay that is down is no success, and says why', async () => {
  await relay.stop();

  const summary = await reverify();

  expect(summary).toMatchObject({ status: 'partial', resumable: false });
  expect(summary.warnings).toEqual([
    expect.stringMatching(/^Of 3 verified copies, 3 could not be looked for again at 2023-11-\d\d .* UTC\. \S/),
  ]);
  expect(await rig.totals(run)).toEqual({ verified: 3 });
});

test('nor at one that refuses to be asked', async () => {
  relay.behave(refusesToBeAsked);

  const summary = await reverify();

  expect(summary.status).toBe('partial');
  expect(summary.warnings.join(' ')).toContain('error: not today');
});

test('nor when it was cancelled before the relay answered', async () => {
  relay.behave({ name: 'silent', takeRequest: () => true });
  await rig.engine.methods['sync.reverify']({ run });
  await rig.engine.methods['runs.cancel']({ run });

  expect(await rig.ended(run)).toMatchObject({ status: 'cancelled' });
  expect(await rig.totals(run)).toEqual({ verified: 3 });
});

test('nor when Holdfast ended in the middle', async () => {
  relay.behave({ name: 'silent', takeRequest: () => true });
  await rig.engine.methods['sync.reverify']({ run });
  await rig.until(async () => (await rig.relayState(run)) === 'reading-back');
  await rig.copyAsAfterACrash();

  const [summary] = await rig.engine.methods['runs.list']({});
  expect(summary).toMatchObject({ id: run, status: 'partial' });
});

test('looking again once more, with success, makes it complete', async () => {
  relay.behave(refusesToBeAsked);
  expect((await reverify()).status).toBe('partial');
  relay.behave();

  expect((await reverify()).status).toBe('complete');
  expect(eventsSent(relay)).toHaveLength(3);
});

test('a sample counts as looked at when each of it was', async () => {
  expect((await reverify(2)).status).toBe('complete');
  const [first] = EVENTS as [SignedEvent];
  relay.behave({ name: 'has lost the first', hides: ({ id }) => id === first.id });
  const summary = await reverify();
  // All of them were looked at; one of them is gone.
  expect(summary).toMatchObject({ status: 'partial', warnings: [] });
});
