import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MOST_BYTES } from '../../main/coverage/unfinished-answer.ts';
import { buildHistory } from '../relays/event-builder.ts';
import { ownResponder } from '../relays/own-responder.ts';
import type { AnswerStep, Behaviour } from '../relays/relay-behaviour.ts';
import { ScriptedRelay } from '../relays/scripted-relay.ts';
import { FetchRig, START } from './fetch-rig.ts';

/** Just below the largest frame that is taken. */
const FRAME_BYTES = 1_900_000;
const EVENTS = 60;
const history = buildHistory({ count: EVENTS, from: START - 100_000, to: START - 1000 });

/** Sends every event in a frame of this size, as if it were that large: blanks between tokens are JSON too. */
function heavyEvents(bytes: number): Behaviour {
  return {
    name: `sends frames of ${bytes} bytes`,
    shapeAnswer: (steps) =>
      steps.map((step): AnswerStep => {
        if (step.type !== 'event') return step;
        return { type: 'text', text: `["EVENT",${JSON.stringify(step.subscription)},${step.stored.json}`.padEnd(bytes - 1) + ']' }; // prettier-ignore
      }),
  };
}

let rig: FetchRig;
let relay: ScriptedRelay;

beforeEach(async () => {
  rig = await FetchRig.start();
  const behaviours = [heavyEvents(FRAME_BYTES)];
  relay = await ScriptedRelay.start({ events: history, negentropy: ownResponder(), behaviours, recordSent: false });
  await rig.addAlice([relay]);
});

afterEach(async () => {
  await rig.close();
  await relay.stop();
});

describe('an answer that is too heavy for memory', () => {
  it('is broken off, what came of it is kept, and the walk goes on with smaller pages to the end', async () => {
    expect(EVENTS * FRAME_BYTES).toBeGreaterThan(MOST_BYTES);

    expect(await rig.fetch({ limit: EVENTS })).toMatchObject({ status: 'complete', newlyArchived: EVENTS });

    const limits = relay.requests().flatMap((request) => ('until' in request ? [request['limit']] : []));
    // A quarter of what was too heavy, from then on.
    expect(limits[0]).toBe(EVENTS);
    expect(new Set(limits.slice(1))).toEqual(new Set([EVENTS / 4]));
    const [broken, ...later] = (await rig.queries((await rig.onlyRange(relay.url)).id)).toSorted((a, b) => a.id - b.id);
    expect(broken).toMatchObject({ ending: 'failed' });
    expect(broken?.message).toContain(`more than ${MOST_BYTES} bytes`);
    expect(broken?.new).toBeGreaterThan(EVENTS / 4);
    expect(later.every(({ ending }) => ending === 'eose')).toBe(true);
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: true });
  });

  it('of bodies: what came of it is not asked for again, and the rest comes in smaller batches', async () => {
    expect(await rig.fetch({ strategy: 'negentropy' })).toMatchObject({ status: 'complete', newlyArchived: EVENTS });

    const batches = relay.requests().flatMap(({ ids }) => (Array.isArray(ids) ? [ids.map(String)] : []));
    expect(batches[0]).toHaveLength(EVENTS);
    expect(Math.max(...batches.slice(1).map((ids) => ids.length))).toBeLessThanOrEqual(EVENTS / 4);
    const again = batches.slice(1).flat();
    expect(new Set(again).size).toBe(again.length);
    expect(again.length).toBeLessThan(EVENTS - EVENTS / 4);
  });

  it('stays unfinished, and says so, when not even two events can be taken', async () => {
    relay.behave(heavyEvents(FRAME_BYTES), {
      name: 'sends each event over and over',
      shapeAnswer: (steps) =>
        steps.flatMap((step): AnswerStep[] => (step.type === 'text' ? Array.from({ length: 40 }, () => step) : [step])),
    });

    expect(await rig.fetch({ limit: 4 })).toMatchObject({ status: 'partial', resumable: true });

    const range = await rig.onlyRange(relay.url);
    expect(range.reason).toContain('could not be taken');
    expect(relay.requests().map((request) => request['limit'])).toEqual([4, 2]);
    expect(await rig.relay(relay.url)).toMatchObject({ historyComplete: false, forwardBoundary: null });
  });
});
