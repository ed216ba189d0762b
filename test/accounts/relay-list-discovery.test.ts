import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { lookUpRelayLists, type RelayListLookup } from '../../main/accounts/relay-list-discovery.ts';
import { RelayDirectory } from '../../main/relays/relay-directory.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { pureVerifier } from '../fixtures/pure-verifier.ts';
import { thrownFault } from '../fixtures/thrown-fault.ts';
import { closedWith } from '../relays/behaviours/closing.ts';
import { addEvents, withBadSignature } from '../relays/behaviours/corruption.ts';
import { holdEose } from '../relays/behaviours/end-of-stored-events.ts';
import { Gate } from '../relays/gate.ts';
import { alice, bob, buildEvent } from '../relays/event-builder.ts';
import { ScriptedRelay, type ScriptedRelayOptions } from '../relays/scripted-relay.ts';
import { refusingPort } from '../relays/unreachable-relays.ts';

const older = buildEvent({ kind: 10_002, createdAt: 1000, tags: [['r', 'wss://old.example']] });
const newer = buildEvent({ kind: 10_002, createdAt: 2000, tags: [['r', 'wss://new.example']] });

let directory: RelayDirectory;
let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
  directory = new RelayDirectory({ clock });
  return () => directory.close();
});

async function startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start(options);
  onTestFinished(() => relay.stop());
  return relay;
}

function lookUp(...urls: string[]): Promise<RelayListLookup> {
  return lookUpRelayLists(directory, pureVerifier, alice.pubkey, urls);
}

describe('looking a relay list up', () => {
  test('asks every relay once for exactly this list, whatever spelling it is named in', async () => {
    const relay = await startRelay({ events: [newer, buildEvent(), buildEvent({ kind: 10_002, author: bob })] });

    const { events, answered } = await lookUp(relay.url, `${relay.url}/`, 'no relay at all');

    expect(events).toEqual([newer]);
    expect(answered).toBe(1);
    expect(relay.requests()).toEqual([{ authors: [alice.pubkey], kinds: [10_002], limit: 10 }]);
  });

  test('brings what is found although one relay is down, and says which', async () => {
    const down = `ws://127.0.0.1:${await refusingPort()}`;
    const [first, second] = [await startRelay({ events: [older] }), await startRelay({ events: [newer] })];

    const { events, answered, failures } = await lookUp(down, first.url, second.url);

    expect(new Set(events)).toEqual(new Set([older, newer]));
    expect(answered).toBe(2);
    expect(failures.map(({ url }) => url)).toEqual([down]);
  });

  test('does not wait for one relay before it asks the next', async () => {
    const gate = new Gate();
    const slow = await startRelay({ events: [older], behaviours: [holdEose(gate)] });
    const quick = await startRelay({ events: [newer] });

    const asked = lookUp(slow.url, quick.url);
    while (quick.requests().length === 0 || gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    gate.open();

    expect((await asked).answered).toBe(2);
  });

  test('takes no list that is badly signed, by somebody else, or of another kind', async () => {
    const forged = { ...withBadSignature(newer) };
    const changed = { ...newer, tags: [['r', 'wss://evil.example']] };
    const others = buildEvent({ kind: 10_002, author: bob, createdAt: 3000 });
    const relay = await startRelay({
      events: [older],
      behaviours: [addEvents([forged, changed, others, buildEvent({ kind: 3, createdAt: 4000 })])],
    });

    expect((await lookUp(relay.url)).events).toEqual([older]);
  });

  test('finds nothing where relays answer and none has a list', async () => {
    const relay = await startRelay();

    expect(await lookUp(relay.url)).toEqual({ events: [], answered: 1, failures: [] });
  });

  test('never takes a refusal or silence for an empty answer', async () => {
    const refusing = await startRelay({ behaviours: [closedWith('auth-required: who are you?')] });
    const down = `ws://127.0.0.1:${await refusingPort()}`;

    const fault = await thrownFault(() => lookUp(refusing.url, down));

    expect(fault.code).toBe('network');
    expect(fault.message).toContain('who are you?');
    expect(fault.message).toContain(down);
  });

  test('keeps a list that came before the relay fell silent', async () => {
    const gate = new Gate();
    const relay = await startRelay({ events: [newer], behaviours: [holdEose(gate)] });

    const asked = lookUp(relay.url);
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.pass(60_000);

    expect(await asked).toMatchObject({ events: [newer], answered: 0, failures: [{ url: relay.url }] });
  });

  test('without any relay to ask says so', async () => {
    const fault = await thrownFault(() => lookUp('not a relay'));

    expect(fault.code).toBe('network');
    expect(fault.message).toContain('index relay');
  });
});
