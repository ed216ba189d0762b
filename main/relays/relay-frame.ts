import type { SignedEvent } from '../../preload/contract.ts';
import { readSignedEvent } from '../nostr/signed-event.ts';

/** What NIP-67 lets a relay add to EOSE; null when it said nothing, or contradicted itself. */
export type CompletenessHint = 'finish' | 'more' | null;

/** Every frame a relay can send, as far as it has a meaning for us. */
export type RelayFrame =
  | { type: 'event'; subscription: string; event: SignedEvent }
  | { type: 'malformed-event'; subscription: string; problem: string }
  | { type: 'eose'; subscription: string; hint: CompletenessHint }
  | { type: 'closed'; subscription: string; message: string }
  | { type: 'notice'; message: string }
  | { type: 'ok'; eventId: string; accepted: boolean; message: string }
  | { type: 'auth'; challenge: string }
  | { type: 'neg-msg'; subscription: string; messageHex: string }
  | { type: 'neg-err'; subscription: string; reason: string; elements: unknown[] }
  | { type: 'unintelligible'; problem: string };

/**
 * Reads one text frame from a relay. Never throws: whatever is not a frame of NIP-01, 42, 67 or 77 comes back as
 * `unintelligible`, and an EVENT whose body is no event as `malformed-event`, because it still counts as a delivery.
 */
export function parseRelayFrame(text: string): RelayFrame {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return unintelligible('not JSON');
  }
  if (!Array.isArray(frame)) {
    return unintelligible('not an array');
  }
  const elements: unknown[] = frame;
  const [verb, first, second, third] = elements;
  if (typeof verb !== 'string') {
    return unintelligible('no verb');
  }
  if (verb === 'NOTICE') {
    return { type: 'notice', message: words(first) };
  }
  if (typeof first !== 'string') {
    return unintelligible(`${verb.slice(0, 20)} without a text as second element`);
  }
  switch (verb) {
    case 'EVENT':
      return readEvent(first, second);
    case 'EOSE':
      return { type: 'eose', subscription: first, hint: completenessHint(second) };
    case 'CLOSED':
      return { type: 'closed', subscription: first, message: words(second) };
    case 'OK':
      // A relay that leaves the boolean out, or sends a text for it, has not said that it accepted.
      return { type: 'ok', eventId: first, accepted: second === true, message: words(third) };
    case 'AUTH':
      return { type: 'auth', challenge: first };
    case 'NEG-MSG':
      return typeof second === 'string'
        ? { type: 'neg-msg', subscription: first, messageHex: second }
        : unintelligible('NEG-MSG without a message');
    case 'NEG-ERR':
      return { type: 'neg-err', subscription: first, reason: words(second), elements };
    default:
      return unintelligible(`unknown verb ${verb.slice(0, 20)}`);
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

/** The relay's words, whatever it put in their place. */
function words(value: unknown): string {
  if (typeof value === 'string') {
    return value;
  }
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function unintelligible(problem: string): RelayFrame {
  return { type: 'unintelligible', problem };
}
