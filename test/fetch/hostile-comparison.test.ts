import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SignedEvent } from '../../preload/contract.ts';
import { negErr } from '../relays/behaviours/reconciliation.ts';
import { alice, bob, buildEvent, buildHistory } from '../relays/event-builder.ts';
import type { NegentropyItem, NegentropyResponder } from '../relays/negentropy-responder.ts';
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

async function startRelay(options: ScriptedRelayOptions = {}): Promise<ScriptedRelay> {
  const relay = await ScriptedRelay.start({ negentropy: ownResponder(), ...options });
  relays.push(relay);
  await rig.addAlice([relay]);
  return relay;
}

const history = (count: number): SignedEvent[] => buildHistory({ count, from: START - 100_000, to: START - 1000 });
const importAll = (events: readonly SignedEvent[]) =>
  rig.engine.importLines(events.map((event) => JSON.stringify(event)));
const fetch = () => rig.fetch({ strategy: 'auto' });

/** A relay's side that also claims to hold these items, in its first session only. */
function claimingOnce(claimed: readonly NegentropyItem[]): NegentropyResponder {
  const own = ownResponder();
  let sessions = 0;
  return {
    open(items) {
      sessions += 1;
      const held = sessions === 1 ? [...items, ...claimed] : [...items];
      return own.open(held.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)));
    },
  };
}

/** Leaves a kind out of every answer but one to a request for that kind alone, which is answered in its own way. */
function mixedWithout(kind: number, alone?: Behaviour['takeRequest']): Behaviour {
  let askedAlone = false;
  return {
    name: `leaves kind ${kind} out of mixed answers`,
    hides: (event) => event.kind === kind && !askedAlone,
    takeRequest(request) {
      askedAlone = request.filters.every((filter) => filter.kinds?.size === 1 && filter.kinds.has(kind));
      return askedAlone && alone !== undefined ? alone(request) : false;
    },
  };
}

async function stateOf(id: string): Promise<string | undefined> {
  return (await rig.engine.methods['events.find']({ id }))?.relays[0]?.state;
}

describe('a relay that answers comparisons in bad faith', () => {
  it('calls every part too large: the cutting ends, and pages bring the history', async () => {
    const relay = await startRelay({ events: history(30), behaviours: [negErr('blocked: too many query results', 1)] });
    expect(await fetch()).toMatchObject({ status: 'complete', newlyArchived: 30 });
    expect(relay.log.received('NEG-OPEN').length).toBeLessThan(300);
    expect(await rig.onlyRange(relay.url)).toMatchObject({ strategy: 'paging' });
  });

  it.each([
    ['error: internal error', 0],
    ['blocked: no', 5],
  ])('gives %s with a number: that is no reason to cut', async (reason, fourth) => {
    const relay = await startRelay({ events: history(30), behaviours: [negErr(reason, fourth)] });
    expect(await fetch()).toMatchObject({ status: 'complete' });
    expect(relay.log.received('NEG-OPEN')).toHaveLength(1);
  });

  it('names IDs that nobody has: found, not fetched, and not asked for again by every later fetch', async () => {
    const invented = Array.from({ length: 200 }, (_, index) => ({
      createdAt: START - 500,
      id: index.toString(16).padStart(64, 'f'),
    }));
    const relay = await startRelay({ events: history(30), negentropy: claimingOnce(invented) });
    expect(await fetch()).toMatchObject({ status: 'partial', newlyArchived: 30 });
    const range = await rig.onlyRange(relay.url);
    expect(range).toMatchObject({ status: 'complete', found: 230, fetched: 30, notFetched: 200, resumable: true });
    expect(range.reason).toContain('200 bodies did not come');
    expect(relay.requests().length).toBeLessThan(40);
    const idsAsked = (): number =>
      relay.requests().flatMap((request) => (request['ids'] as string[] | undefined) ?? []).length;
    const first = idsAsked();
    await rig.clock.pass(60_000);
    await fetch();
    const second = idsAsked();
    expect(second - first).toBe(400);
    await rig.clock.pass(60_000);
    await fetch();
    expect(idsAsked()).toBe(second);
    expect(await rig.attempts(range.id)).toHaveLength(2);
  });

  it("names somebody else's archived events: they are no finds of this account", async () => {
    const others = buildHistory({ author: bob, count: 30, from: START - 90_000, to: START - 2000 });
    await importAll(others);
    const claimed = others.map(({ id, created_at: createdAt }) => ({ id, createdAt }));
    const relay = await startRelay({ events: history(10), negentropy: claimingOnce(claimed) });
    await fetch();
    expect(await rig.onlyRange(relay.url)).toMatchObject({ found: 10, fetched: 10, kinds: { '1': 10 } });
    expect((await rig.relay(relay.url)).invalidObservations).toBeGreaterThanOrEqual(30);
  });
});

describe('asking for a kind alone', () => {
  it('what it returns is present, and what else is missing of that kind is undetermined', async () => {
    const [shown, other] = [0, 1].map((age) => buildEvent({ kind: 7, createdAt: START - 500 - age }));
    if (shown === undefined || other === undefined) throw new Error('two reactions');
    await importAll([shown, other]);
    await startRelay({ events: [shown, other], behaviours: [mixedWithout(7)] });
    await fetch();
    expect(await stateOf(shown.id)).toBe('present');
    expect(await stateOf(other.id)).toBe('undetermined');
  });

  it('a passing error is no refusal: the kind is asked for again, and then concluded about', async () => {
    const reaction = buildEvent({ kind: 7, createdAt: START - 500 });
    await importAll([reaction]);
    const relay = await startRelay({ events: [buildEvent({ author: alice, createdAt: START - 900 })] });
    const stop = relay.use(
      mixedWithout(7, ({ connection, subscription }) => {
        connection.send(['CLOSED', subscription, 'error: could not connect to the database']);
        return true;
      }),
    );
    await fetch();
    stop();
    await rig.clock.pass(60_000);
    await rig.fetch({ strategy: 'auto', recheck: true });
    expect(await stateOf(reaction.id)).toBe('absent');
    expect(relay.requests().filter((request) => 'kinds' in request)).toHaveLength(2);
  });
});
