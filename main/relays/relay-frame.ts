import type { SignedEvent } from '../../preload/contract.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';

/** What NIP-67 lets a relay add to EOSE; null when it said nothing, or contradicted itself. */
export type CompletenessHint = 'finish' | 'more' | null;

/** What a relay may put into a frame that we keep as it was: nothing that holds anything. */
export type Scalar = string | number | boolean | null;

/** Longer words of a relay are cut: they are looked through for wordings, stored and shown. */
const MAX_WORDS = 4_096;
/** Elements of one frame that are kept at the most. */
const MAX_ELEMENTS = 16;

/** Every frame a relay can send, as far as it has a meaning for us. */
export type RelayFrame =
  | { type: 'event'; subscription: string; event: SignedEvent }
  | { type: 'malformed-event'; subscription: string; problem: string }
  | { type: 'eose'; subscription: string; hint: CompletenessHint }
  | { type: 'closed'; subscription: string; message: string }
  | { type: 'notice'; message: string }
  /** `accepted` is null when the relay answered without saying whether it took the event. */
  | { type: 'ok'; eventId: string; accepted: boolean | null; message: string }
  | { type: 'auth'; challenge: string }
  | { type: 'neg-msg'; subscription: string; messageHex: string }
  | { type: 'neg-err'; subscription: string; reason: string; elements: Scalar[] }
  /** `lost`: an event may have been in it. */
  | { type: 'unintelligible'; problem: string; lost: boolean };

/**
 * Reads one text frame from a relay. Never throws: whatever is not a frame of NIP-01, 42, 67 or 77 comes back as
 * `unintelligible`, and an EVENT whose body is no event as `malformed-event`, because it still counts as a delivery.
 */
export function parseRelayFrame(text: string): RelayFrame {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    // Some relays keep a connection alive with empty frames.
    return unintelligible('not JSON', text.trim() !== '');
  }
  if (!Array.isArray(frame)) {
    return unintelligible('not an array', true);
  }
  const elements: unknown[] = frame;
  const [verb, first, second, third] = elements;
  if (typeof verb !== 'string') {
    return unintelligible('no verb', true);
  }
  if (verb === 'NOTICE') {
    return { type: 'notice', message: words(first) };
  }
  if (typeof first !== 'string') {
    return unintelligible(`${verb.slice(0, 20)} without a text as second element`, isEvent(verb));
  }
  switch (verb) {
    case 'EVENT':
      return readEvent(first, second);
    case 'EOSE':
      return { type: 'eose', subscription: first, hint: completenessHint(second) };
    case 'CLOSED':
      return { type: 'closed', subscription: first, message: words(second) };
    case 'OK':
      // A relay that leaves the boolean out, or sends something else for it, has said neither yes nor no.
      return {
        type: 'ok',
        eventId: first,
        accepted: typeof second === 'boolean' ? second : null,
        message: words(third ?? (typeof second === 'string' ? second : undefined)),
      };
    case 'AUTH':
      return { type: 'auth', challenge: first };
    case 'NEG-MSG':
      return typeof second === 'string'
        ? { type: 'neg-msg', subscription: first, messageHex: second }
        : unintelligible('NEG-MSG without a message', false);
    case 'NEG-ERR':
      return {
        type: 'neg-err',
        subscription: first,
        reason: words(second),
        elements: elements.slice(0, MAX_ELEMENTS).map(scalar),
      };
    default:
      return unintelligible(`unknown verb ${verb.slice(0, 20)}`, isEvent(verb));
  }
}

function readEvent(subscription: string, value: unknown): RelayFrame {
  const event = readSignedEvent(value);
  return typeof event === 'string'
    ? { type: 'malformed-event', subscription, problem: event }
    : { type: 'event', subscription, event };
}

/** NIP-67: the third element is a list of hints; unknown ones are ignored. */
function completenessHint(value: unknown): CompletenessHint {
  if (!Array.isArray(value)) {
    return null;
  }
  const finish = value.includes('finish');
  const more = value.includes('more');
  if (finish === more) {
    return null;
  }
  return finish ? 'finish' : 'more';
}

/** The relay's words. Anything else in their place is named, never written out: it may be nested without end. */
function words(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > MAX_WORDS ? `${value.slice(0, MAX_WORDS)}…` : value;
  }
  return value === undefined || value === null ? '' : `(${kindOf(value)} in the place of words)`;
}

function scalar(value: unknown): Scalar {
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : words(value);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) {
    return 'a list';
  }
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function isEvent(verb: string): boolean {
  return verb.toUpperCase() === 'EVENT';
}

function unintelligible(problem: string, lost: boolean): RelayFrame {
  return { type: 'unintelligible', problem, lost };
}
