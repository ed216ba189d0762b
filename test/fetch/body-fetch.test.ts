import BetterSqlite3 from 'better-sqlite3';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { silentFromMessage } from '../relays/behaviours/reconciliation.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { alice, buildEvent, buildHistory } from '../relays/event-builder.ts';
import { ownResponder } from '../relays/own-responder.ts';
import type { Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay, type ScriptedRelayOptions } from '../relays/scripted-relay.ts';
import { FetchRig, START } from './fetch-rig.ts';

let rig: FetchRig;
const relays: ScriptedRelay[] = [];

beforeEach(async () => {
  rig = await FetchRig.start();
});

afterEach(async () => {
  await rig.close();
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});

/** A relay that compares in messages so short that bodies are asked for long before the comparison is over. */
async function startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start({ negentropy: ownResponder(4096), ...options });
  relays.push(relay);
  return relay;
}

const history = (count: number): SignedEvent[] => buildHistory({ count, from: START - 100_000, to: START - 1000 });
const fetch = () => rig.fetch({ strategy: 'negentropy' });

/** Runs statements on the rig's database as another process would. */
function onDatabase(statements: string): void {
  const connection = new BetterSqlite3(join(rig.directory, 'holdfast.db'));
  try {
    connection.exec(statements);
  } finally {
    connection.close();
  }
}

/** From now on an event with this content cannot be stored. */
const refuseToStore = (content: string): void =>
  onDatabase(`create trigger refusing before insert on events when new.content = '${content}'
    begin select raise(abort, 'the disk refused'); end`);

function onBodyRequest(act: () => void): Behaviour {
  return {
    name: 'acts when bodies are asked for',
    takeRequest({ filters }) {
      if (filters.some((filter) => filter.ids !== undefined)) act();
      return false;
    },
  };
}

describe('bodies that cannot be stored while a comparison goes on', () => {
  it("ends that relay's share with the reason, at once, and no other's; resume fetches what is missing", async () => {
    const events = history(500);
    // Every second one, so that some are in the first batch whatever the relay names first.
    const poison = history(500).map((event) => buildEvent({ createdAt: event.created_at, kind: 7, content: 'poison' }));
    const [failing, other] = [
      await startRelay({ events: [...events, ...poison], behaviours: [silentFromMessage(2)] }),
      await startRelay({ events }),
    ];
    await rig.addAlice([failing, other]);
    refuseToStore('poison');

    // The clock does not move: nothing that waits for a time-out would ever end.
    const run = await fetch();

    expect(run).toMatchObject({ status: 'partial', resumable: true });
    expect(await rig.relay(other.url)).toMatchObject({ historyComplete: true });
    expect(await rig.relay(failing.url)).toMatchObject({ historyComplete: false, forwardBoundary: null });
    const range = await rig.onlyRange(failing.url);
    expect(range).toMatchObject({ status: 'partial', resumable: true });
    expect(range.reason).toContain('the disk refused');
    // One batch was asked for, and none after it could not be stored.
    expect(failing.requests().filter((request) => 'ids' in request)).toHaveLength(1);
    expect(failing.log.received('NEG-CLOSE')).toHaveLength(1);

    onDatabase('drop trigger refusing');
    failing.behave();
    await rig.engine.methods['fetch.resume']({ run: run.id });
    expect(await rig.ended(run.id)).toMatchObject({ status: 'complete' });
    expect(await rig.archivedIds()).toEqual([...events, ...poison].map(({ id }) => id).sort());
    expect(await rig.onlyRange(failing.url)).toMatchObject({ status: 'complete', found: 1000, fetched: 1000 });
  });

  it('stores nothing more of an attempt that ended because the comparison itself could not be stored', async () => {
    const relay = await startRelay({ events: history(500) });
    const sessions: string[] = [];
    relay.use({
      name: 'gives the comparison up once bodies are asked for, and does not send them',
      takeMessage(message) {
        if (message.type === 'NEG-OPEN') sessions.push(message.subscription);
        return message.type === 'NEG-MSG';
      },
      takeRequest({ filters, connection }) {
        if (filters.every((filter) => filter.ids === undefined)) return false;
        connection.send(['NEG-ERR', sessions[0], 'closed: took too long']);
        return true;
      },
    });
    await rig.addAlice([relay]);
    onDatabase(`create trigger refusing before insert on queries when new.type = 'NEG'
      begin select raise(abort, 'the disk refused'); end`);

    const run = await fetch();

    expect((await rig.onlyRange(relay.url)).reason).toContain('the disk refused');
    // The batch that was on its way was called off, and noted before the run ended; nothing follows.
    const queries = await rig.queries((await rig.onlyRange(relay.url)).id);
    expect(queries.map(({ ending }) => ending)).toEqual(['cancelled']);
    expect(run.status).toBe('partial');
  });

  it('tells of a data directory that is gone, and ends the run', async () => {
    const relay = await startRelay({
      events: history(500),
      behaviours: [silentFromMessage(2), onBodyRequest(() => rmSync(rig.directory, { recursive: true, force: true }))],
    });
    await rig.addAlice([relay]);
    const { run } = await rig.engine.methods['fetch.start']({ account: alice.pubkey, strategy: 'negentropy' });

    const fault = await thrownFault(() => rig.engine.runEnded(run));

    expect(fault.code).toBe('storage');
    expect(fault.message).toContain(rig.directory);
    expect(relay.requests().filter((request) => 'ids' in request)).toHaveLength(1);
    expect((await rig.engine.topics.activity.snapshot({})).runs).toEqual([]);
  });
});

describe('a relay that goes away while bodies are fetched', () => {
  it('leaves a run that is not complete, says how many bodies did not come, and resume asks for exactly those', async () => {
    const events = history(350);
    let batches = 0;
    const relay = await startRelay({ events, negentropy: ownResponder() });
    const stop = relay.use({
      name: 'cuts the connection at the second batch of bodies and all later ones',
      takeRequest({ filters, connection }) {
        if (filters.every((filter) => filter.ids === undefined) || ++batches === 1) return false;
        connection.terminate();
        return true;
      },
    });
    await rig.addAlice([relay]);

    const run = await fetch();

    expect(run).toMatchObject({ status: 'partial', newlyArchived: 100, resumable: true });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'complete', found: 350, fetched: 100, notFetched: 250, resumable: true });
    expect(range.reason).toContain('250 bodies did not come');
    expect(range.reason).toContain('ended while a page was on its way');

    stop();
    const before = relay.requests().length;
    await rig.engine.methods['fetch.resume']({ run: run.id });
    expect(await rig.ended(run.id)).toMatchObject({ status: 'complete', newlyArchived: 350 });
    const asked = relay
      .requests()
      .slice(before)
      .flatMap((request) => (request['ids'] as string[] | undefined) ?? []);
    expect(asked).toHaveLength(250);
  });
});
