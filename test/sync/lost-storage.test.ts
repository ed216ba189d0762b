import BetterSqlite3 from 'better-sqlite3';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rateLimitPublishing } from '../relays/behaviours/publishing.ts';
import type { ScriptedRelay } from '../relays/scripted-relay.ts';
import { eventsSent, notes, SyncRig } from './delivery-rig.ts';

let rig: SyncRig;
beforeEach(async () => {
  rig = await SyncRig.start();
});
afterEach(() => rig.close());

/** While this lasts nothing about runs can be written, as with a disk that is full. */
function breakStorage(): () => void {
  const database = new BetterSqlite3(join(rig.fetching.directory, 'holdfast.db'));
  for (const table of ['runs', 'deliveries', 'queries', 'attempts']) {
    database.exec(`create trigger broken_${table} before update on ${table} begin select raise(abort, 'disk is full'); end;
      create trigger broken_${table}_too before insert on ${table} begin select raise(abort, 'disk is full'); end`);
  }
  return () => {
    for (const table of ['runs', 'deliveries', 'queries', 'attempts']) {
      database.exec(`drop trigger broken_${table}; drop trigger broken_${table}_too`);
    }
    database.close();
  };
}

/** Lets time pass until nobody is at work any more; the end of the run cannot be recorded. */
async function brokenEnd(run: number): Promise<void> {
  let isOver = false;
  void rig.engine.runEnded(run).catch(() => undefined).finally(() => (isOver = true)); // prettier-ignore
  for (let passed = 0; !isOver && passed < 100; passed += 1) await rig.clock.pass(5000);
  expect(isOver).toBe(true);
}

async function interruptedSync(relay: ScriptedRelay): Promise<number> {
  await rig.establish([relay], notes(6));
  relay.behave(rateLimitPublishing(3));
  const run = await rig.begin();
  await rig.until(async () => (await rig.relayState(run)) === 'cooling-down');
  relay.behave();
  return run;
}

test('a sync whose end could not be recorded can be resumed once storage is there again, without a restart', async () => {
  const relay = await rig.startRelay();
  const run = await interruptedSync(relay);
  const repair = breakStorage();
  await brokenEnd(run);
  expect(await rig.report(run)).toMatchObject({ status: 'active', resumable: false });

  repair();
  await rig.clock.pass(60_000);

  expect(await rig.report(run)).toMatchObject({ status: 'partial', resumable: true });
  expect(await rig.resume(run)).toMatchObject({ status: 'complete' });
  expect(await rig.totals(run)).toEqual({ verified: 6 });
});

test('closing records it where that is possible by then', async () => {
  const relay = await rig.startRelay();
  const run = await interruptedSync(relay);
  const repair = breakStorage();
  await brokenEnd(run);
  repair();
  await rig.engine.close();
  const database = new BetterSqlite3(join(rig.fetching.directory, 'holdfast.db'), { readonly: true });
  expect(database.prepare('select status from runs where id = ?').pluck().get(run)).toBe('partial');
  database.close();
  await rig.restart();
});

test('so can a fetch', async () => {
  const relay = await rig.startRelay({ events: notes(30) });
  await rig.fetching.addAlice([relay]);
  relay.behave({ name: 'silent', takeRequest: () => true });
  const { run } = await rig.engine.methods['fetch.start']({
    account: (await rig.engine.methods['accounts.list']({}))[0]?.pubkey ?? '',
    strategy: 'paging',
  });
  await rig.passUntil(() => relay.requests().length > 0);
  const repair = breakStorage();
  await brokenEnd(run);
  expect((await rig.engine.methods['runs.list']({}))[0]).toMatchObject({ status: 'active', resumable: false });

  repair();
  await rig.clock.pass(60_000);
  relay.behave();

  expect((await rig.engine.methods['runs.list']({}))[0]).toMatchObject({ resumable: true });
  expect(await rig.resume(run)).toMatchObject({ status: 'complete' });
  expect(eventsSent(relay)).toEqual([]);
});
