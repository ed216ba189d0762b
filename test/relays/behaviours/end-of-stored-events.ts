import type { Gate } from '../gate.ts';
import type { AnswerStep, Behaviour } from '../relay-behaviour.ts';

function isEose(step: AnswerStep): boolean {
  return step.type === 'frame' && step.frame[0] === 'EOSE';
}

function replaceEose(name: string, replacement: (eose: AnswerStep, subscription: string) => AnswerStep[]): Behaviour {
  return {
    name,
    shapeAnswer: (steps, { subscription }) =>
      steps.flatMap((step) => (isEose(step) ? replacement(step, subscription) : [step])),
  };
}

/** Sends the events and never EOSE (row 6). */
export function neverEose(): Behaviour {
  return replaceEose('never sends EOSE', () => []);
}

/** Sends the events, and EOSE when the test opens the gate. */
export function holdEose(gate: Gate): Behaviour {
  return replaceEose('holds EOSE', (eose) => [{ type: 'wait', gate }, eose]);
}

/** Sends EOSE twice. */
export function doubleEose(): Behaviour {
  return replaceEose('sends EOSE twice', (eose) => [eose, eose]);
}

/** Sends EOSE for a subscription that nobody opened, before the proper one. */
export function eoseForUnknownSubscription(unknown = 'nobody-asked'): Behaviour {
  return replaceEose('sends EOSE for an unknown subscription', (eose) => [
    { type: 'frame', frame: ['EOSE', unknown] },
    eose,
  ]);
}

/** Sends EOSE first and the stored events after it. */
export function eoseBeforeEvents(): Behaviour {
  return {
    name: 'sends EOSE before the events',
    shapeAnswer: (steps) => [...steps.filter(isEose), ...steps.filter((step) => !isEose(step))],
  };
}

/** Sends EOSE with this third element, true or not: NIP-67 hints, unknown hints, or something that is no hint at all. */
export function eoseWith(third: unknown): Behaviour {
  return replaceEose('sends EOSE with a third element', (_eose, subscription) => [
    { type: 'frame', frame: ['EOSE', subscription, third] },
  ]);
}

/** Holds the whole answer to every REQ until the test opens the gate. */
export function holdAnswers(gate: Gate): Behaviour {
  return { name: 'holds its answers', shapeAnswer: (steps) => [{ type: 'wait', gate }, ...steps] };
}

/** Sends one frame of an answer for every permit of the gate. */
export function drip(gate: Gate): Behaviour {
  return { name: 'drips', shapeAnswer: (steps) => steps.flatMap((step) => [{ type: 'wait', gate }, step]) };
}

/** Does not answer REQs at all. */
export function silentRequests(): Behaviour {
  return { name: 'does not answer REQ', takeRequest: () => true };
}
