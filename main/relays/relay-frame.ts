import type { SignedEvent } from '../../preload/contract.ts';

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

const HEX_64 = /^[0-9a-f]{64}$/;
const HEX_128 = /^[0-9a-f]{128}$/;
const LARGEST_KIND = 65_535;

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

/** The event in `value` with exactly the seven fields of NIP-01, or a sentence that says what is wrong with it. */
export function readSignedEvent(value: unknown): SignedEvent | string {
  if (!isRecord(value)) {
    return 'the event is not an object';
  }
  const { id, pubkey, created_at, kind, tags, content, sig }: Partial<Record<keyof SignedEvent, unknown>> = value;
  if (typeof id !== 'string' || !HEX_64.test(id)) {
    return 'id is not 64 lower-case hex characters';
  }
  if (typeof pubkey !== 'string' || !HEX_64.test(pubkey)) {
    return 'pubkey is not 64 lower-case hex characters';
  }
  if (typeof sig !== 'string' || !HEX_128.test(sig)) {
    return 'sig is not 128 lower-case hex characters';
  }
  if (typeof created_at !== 'number' || !Number.isSafeInteger(created_at)) {
    return 'created_at is not a whole number';
  }
  if (typeof kind !== 'number' || !Number.isInteger(kind) || kind < 0 || kind > LARGEST_KIND) {
    return `kind is not a whole number from 0 to ${LARGEST_KIND}`;
  }
  if (typeof content !== 'string') {
    return 'content is not a text';
  }
  if (!isTagList(tags)) {
    return 'tags is not a list of lists of texts';
  }
  return { id, pubkey, created_at, kind, tags, content, sig };
}

function readEvent(subscription: string, value: unknown): RelayFrame {
  const event = readSignedEvent(value);
  return typeof event === 'string'
    ? { type: 'malformed-event', subscription, problem: event }
    : { type: 'event', subscription, event };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTagList(value: unknown): value is string[][] {
  return (
    Array.isArray(value) &&
    value.every((tag: unknown) => Array.isArray(tag) && tag.every((item: unknown) => typeof item === 'string'))
  );
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
