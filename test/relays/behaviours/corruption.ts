import { withJson } from '../../../main/demo/event-store.ts';
import type { StoredEvent } from '../../../main/demo/event-store.ts';
import type { SignedEvent } from '../../../preload/contract.ts';
import type { AnswerStep, Behaviour, RelayRequest } from '../relay-behaviour.ts';

export interface Corruption {
  /** How many events of a page get another signature. */
  badSignature?: number;
  /** How many get another ID than their content has. */
  wrongId?: number;
  /** How many get another content under the same ID and signature. */
  changedContent?: number;
  /** Validly signed events that were not asked for; they stand before the others. */
  offFilter?: readonly SignedEvent[];
  /** How many lose a field or have one of a wrong type. */
  malformed?: number;
}

/** Spoils the first events of every page, each in one way (row 11). */
export function corruptEvents(corruption: Corruption): Behaviour {
  const { badSignature = 0, wrongId = 0, changedContent = 0, malformed = 0, offFilter = [] } = corruption;
  const spoilers: ((event: SignedEvent, turn: number) => unknown)[] = [
    ...Array.from({ length: badSignature }, () => withBadSignature),
    ...Array.from({ length: wrongId }, () => withWrongId),
    ...Array.from({ length: changedContent }, () => withChangedContent),
    ...Array.from({ length: malformed }, () => withoutShape),
  ];
  return {
    name: 'sends spoilt events',
    shapeAnswer(steps, { subscription }) {
      let turn = 0;
      const spoilt = steps.map((step): AnswerStep => {
        const spoil = step.type === 'event' ? spoilers[turn] : undefined;
        if (!spoil || step.type !== 'event') return step;
        return { type: 'frame', frame: ['EVENT', step.subscription, spoil(step.stored.event, turn++)] };
      });
      return [...eventSteps(subscription, offFilter), ...spoilt];
    },
  };
}

/** The event with one bit of its signature turned. */
export function withBadSignature(event: SignedEvent): SignedEvent {
  return { ...event, sig: turnDigit(event.sig) };
}

/** The event under another ID. */
export function withWrongId(event: SignedEvent): SignedEvent {
  return { ...event, id: turnDigit(event.id) };
}

/** The event with a content that nobody signed. */
export function withChangedContent(event: SignedEvent): SignedEvent {
  return { ...event, content: `${event.content} (changed)` };
}

/** The event in one of several shapes that no event has. */
export function withoutShape(event: SignedEvent, turn = 0): unknown {
  const { sig: _sig, ...unsigned } = event;
  const shapes: unknown[] = [
    unsigned,
    { ...event, created_at: String(event.created_at) },
    { ...event, tags: 'none' },
    { ...event, tags: [['e', 7]] },
    { ...event, kind: 1.5 },
    { ...event, id: event.id.toUpperCase() },
    { ...event, content: null },
    null,
    'an event',
    [event],
  ];
  return shapes[turn % shapes.length];
}

/** Sends validly signed events into every page whether they match or not: later than `until`, in milliseconds, negative … */
export function addEvents(events: readonly SignedEvent[]): Behaviour {
  return {
    name: 'adds events to pages',
    shapeAnswer: (steps, { subscription }) => [...eventSteps(subscription, events), ...steps],
  };
}

/** Sends events for a subscription that nobody opened, before every answer. */
export function eventsForUnknownSubscription(events: readonly SignedEvent[], unknown = 'nobody-asked'): Behaviour {
  return {
    name: 'sends events for an unknown subscription',
    shapeAnswer: (steps) => [...eventSteps(unknown, events), ...steps],
  };
}

/** Frames that are no message of any NIP; some are not even JSON. */
export const MALFORMED_FRAMES: readonly string[] = [
  '', '{', 'null', '17', '"EOSE"', '{}', '[]', '[[]]', '[null]', '["EVENT"]', '["EVENT","x"]', '["EOSE"]', '["EOSE",5]',
  '["OK"]', '["OK",null,"yes"]', '["CLOSED"]', '["NOTICE"]', '["NOTICE",{}]', '["AUTH"]', '["NEG-MSG"]', '["NEG-ERR",1,2]',
  '["UNHEARD-OF","x"]', '[1,2,3]', `${'['.repeat(5000)}`, '["EVENT","x",{"id":', 'NaN', '["EOSE","x"] trailing', '\u0000',
]; // prettier-ignore

/** Sends malformed frames before every answer, which is otherwise as it should be. */
export function malformedFrames(frames: readonly string[] = MALFORMED_FRAMES): Behaviour {
  return {
    name: 'sends malformed frames',
    shapeAnswer: (steps) => [...frames.map((text): AnswerStep => ({ type: 'text', text })), ...steps],
  };
}

/** Sends every frame of an answer as binary. */
export function binaryFrames(): Behaviour {
  const asBinary = (text: string): AnswerStep => ({ type: 'binary', bytes: Buffer.from(text) });
  return {
    name: 'sends binary frames',
    shapeAnswer: (steps) =>
      steps.map((step) => {
        if (step.type === 'event')
          return asBinary(`["EVENT",${JSON.stringify(step.subscription)},${step.stored.json}]`);
        return step.type === 'frame' ? asBinary(JSON.stringify(step.frame)) : step;
      }),
  };
}

/** Sends one frame of so many bytes before every answer: a NOTICE, or an EVENT of the request's subscription. */
export function giantFrame(bytes: number, as: 'notice' | 'event' = 'notice'): Behaviour {
  return {
    name: `sends a frame of ${bytes} bytes`,
    shapeAnswer(steps, { subscription }) {
      const opening = as === 'notice' ? '["NOTICE","' : `["EVENT",${JSON.stringify(subscription)},{"content":"`;
      const end = as === 'notice' ? '"]' : '"}]';
      const text = `${opening}${'x'.repeat(Math.max(0, bytes - opening.length - end.length))}${end}`;
      return [{ type: 'text', text }, ...steps];
    },
  };
}

/** Goes on with events of the test's making, far beyond the limit, and never ends the page. */
export function flood(count: number, makeEvent: (turn: number, request: RelayRequest) => SignedEvent): Behaviour {
  return {
    name: `floods with ${count} events`,
    shapeAnswer: (steps, request) => [
      ...steps.filter(({ type }) => type === 'event'),
      ...Array.from({ length: count }, (_, turn) =>
        eventStep(request.subscription, withJson(makeEvent(turn, request))),
      ),
    ],
  };
}

function eventSteps(subscription: string, events: readonly SignedEvent[]): AnswerStep[] {
  return events.map((event) => eventStep(subscription, withJson(event)));
}

function eventStep(subscription: string, stored: StoredEvent): AnswerStep {
  return { type: 'event', subscription, stored };
}

function turnDigit(hex: string): string {
  return `${(Number.parseInt(hex.charAt(0), 16) ^ 1).toString(16)}${hex.slice(1)}`;
}
