import type { AnswerStep, Behaviour, RelayRequest } from '../relay-behaviour.ts';

/** Carries fewer events in a page than was asked for, and sends a bare EOSE (row 1). */
export function capPages(cap: number): Behaviour {
  return {
    name: `caps pages at ${cap}`,
    changeFilter: (filter) => ({ ...filter, limit: Math.min(filter.limit ?? cap, cap) }),
  };
}

export interface LimitRefusal {
  /** How the relay says no: a NOTICE and then nothing (the default), or CLOSED. */
  by?: 'notice' | 'closed';
  text?: string;
}

/** Answers a limit over its maximum with a refusal and drops the subscription (row 2). */
export function refuseLimitAbove(maximum: number, { by = 'notice', text }: LimitRefusal = {}): Behaviour {
  const words = text ?? `${by === 'closed' ? 'invalid: ' : ''}limit is too large, the maximum is ${maximum}`;
  return {
    name: `refuses a limit above ${maximum}`,
    takeRequest({ filters, connection, subscription }) {
      if (!filters.some(({ limit }) => limit === undefined || limit > maximum)) return false;
      connection.send(by === 'closed' ? ['CLOSED', subscription, words] : ['NOTICE', words]);
      return true;
    },
  };
}

/** Treats `until` as exclusive, so that the rest of a second is lost to whoever asks for it. */
export function exclusiveUntil(): Behaviour {
  return {
    name: 'treats until as exclusive',
    changeFilter: (filter) => (filter.until === undefined ? filter : { ...filter, until: filter.until - 1 }),
  };
}

/** Gives everything it has, whatever the limit. */
export function ignoreLimit(): Behaviour {
  return { name: 'ignores limit', changeFilter: ({ limit: _limit, ...filter }) => filter };
}

/** Gives the newest events, whatever `until` says: events off the filter, and the same page again and again. */
export function ignoreUntil(): Behaviour {
  return { name: 'ignores until', changeFilter: ({ until: _until, ...filter }) => filter };
}

/** Gives older events than `since` allows. */
export function ignoreSince(): Behaviour {
  return { name: 'ignores since', changeFilter: ({ since: _since, ...filter }) => filter };
}

/** Ignores a filter's tag conditions, kinds or authors: everything in the time range arrives. */
export function ignoreConditions(): Behaviour {
  return {
    name: 'ignores every condition but times and limit',
    changeFilter({ ids: _ids, authors: _authors, kinds: _kinds, ...filter }) {
      return { ...filter, tags: new Map() };
    },
  };
}

/** Sends the events of a page oldest first, or in any order that the test decides. */
export function reorderEvents(
  order: 'oldest-first' | ((events: AnswerStep[]) => AnswerStep[]) = 'oldest-first',
): Behaviour {
  const arrange = order === 'oldest-first' ? (events: AnswerStep[]): AnswerStep[] => events.reverse() : order;
  return {
    name: 'sends events in a wrong order',
    shapeAnswer(steps) {
      const events = arrange(steps.filter(({ type }) => type === 'event'));
      return [...events, ...steps.filter(({ type }) => type !== 'event')];
    },
  };
}

/** Sends every event of a page several times. */
export function repeatEvents(times: number): Behaviour {
  return {
    name: `sends every event ${times} times`,
    shapeAnswer: (steps) =>
      steps.flatMap((step) => Array.from({ length: step.type === 'event' ? times : 1 }, () => step)),
  };
}

/** Leaves out the last events of a page without saying so: a short page that is not the end. */
export function shortenPages(missing: number): Behaviour {
  return {
    name: `leaves the last ${missing} events out of a page`,
    shapeAnswer(steps) {
      const last = steps.filter(({ type }) => type === 'event').slice(-missing);
      return steps.filter((step) => !last.includes(step));
    },
  };
}

/** Never returns these events, as if it had lost the bodies (row 15). */
export function withholdBodies(ids: Iterable<string>): Behaviour {
  const withheld = new Set(ids);
  return {
    name: 'withholds some bodies',
    shapeAnswer: (steps) => steps.filter((step) => step.type !== 'event' || !withheld.has(step.stored.event.id)),
  };
}

/** Answers every REQ with an empty page. */
export function emptyPages(): Behaviour {
  return { name: 'gives empty pages', shapeAnswer: (steps) => steps.filter(({ type }) => type !== 'event') };
}

/** Puts steps of the test's choice in front of the last one, which is EOSE on a conforming relay. */
export function insertBeforeEnd(makeSteps: (request: RelayRequest) => AnswerStep[]): Behaviour {
  return {
    name: 'inserts frames before the end of a page',
    shapeAnswer: (steps, request) => [...steps.slice(0, -1), ...makeSteps(request), ...steps.slice(-1)],
  };
}
