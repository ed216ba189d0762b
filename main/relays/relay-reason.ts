import type { RelayReason } from './relay-query.ts';

type Prefix = NonNullable<RelayReason['prefix']>;

const PREFIXES: ReadonlySet<string> = new Set<Prefix>([
  'auth-required',
  'restricted',
  'rate-limited',
  'duplicate',
  'pow',
  'blocked',
  'invalid',
  'unsupported',
  'mute',
  'error',
]);

/**
 * What a relay means by a reason or a NOTICE, beyond its prefix:
 * `rate-limited` asks for less speed, `too-many-requests` for fewer open requests, `limit-too-large` for a smaller page,
 * `frame-too-large` for smaller frames, `auth-required` for NIP-42; `unsupported` says that a message or filter is not
 * understood; `error` is any other refusal; `chatter` refuses nothing.
 */
export type ReasonMeaning =
  | 'rate-limited'
  | 'too-many-requests'
  | 'limit-too-large'
  | 'frame-too-large'
  | 'auth-required'
  | 'unsupported'
  | 'error'
  | 'chatter';

/** Wordings seen in the field, from the most telling to the least; the first that fits decides. */
const WORDINGS: [ReasonMeaning, RegExp[]][] = [
  [
    'too-many-requests',
    [
      /\b(concurrent|simultaneous|open|active)\s+(reqs?|requests?|subscriptions?|subs|queries|filters?)\b/i,
      /\btoo many (reqs?|subscriptions?|subs|queries)\b(?!\s+(per|in)\b)/i,
      /\b(subscription|req)s?\s+(limit|quota|count)?\s*(is |was )?(reached|exceeded)/i,
      /\bmax(imum)?\s+(number of\s+)?(subscriptions|reqs)\b/i,
    ],
  ],
  [
    'rate-limited',
    [
      /rate[\s_-]*limit/i,
      /\btoo many (requests|messages|events|frames|connections)\b/i,
      /\btoo (fast|quickly|frequent)/i,
      /\bslow(ing)? (it )?down\b|\bthrottl|\bflood|\b429\b/i,
    ],
  ],
  [
    'frame-too-large',
    [
      /\b(message|frame|event|payload|packet|content)\b[^.]*\btoo (large|big|long)\b/i,
      /\btoo (large|big|long) (a )?(message|frame|event|payload)/i,
      /\b(message|frame|event|payload|packet|content)s?[\s_-]*(size|length|bytes)\b/i,
      /\bsize limit\b/i,
    ],
  ],
  [
    'limit-too-large',
    [
      /\blimit\b[^.]*\b(too (large|big|high)|exceed|greater|larger|higher|above|over|less|lower|no more|not more|at most|up to|max)/i,
      /\b(exceed|above|over|greater than|larger than|higher than|beyond)[^.]*\blimit\b/i,
      /\bmax(imum)?[\s_]*limit\b|\blimit (must|should|has to|needs to|cannot|can't) /i,
      /\btoo (large|big|high) (a )?limit\b/i,
    ],
  ],
  [
    'auth-required',
    [
      /\bauth(entication)?[\s-]*(is )?required/i,
      /\brequires? auth/i,
      /\bnot authenticated\b/i,
      /\b(must|please) auth/i,
    ],
  ],
  [
    'unsupported',
    [
      /\bunsupported\b|\bnot support|\bnot (implemented|enabled|recogni[sz]ed|understood)\b|\bunimplemented\b|\bdisabled\b/i,
      /\b(unknown|unrecogni[sz]ed|unexpected|invalid|bad) (cmd|command|message|msg|verb|type|method|request|envelope)/i,
      /\bunrecogni[sz]ed\b/i,
    ],
  ],
  [
    'error',
    [
      /^\s*(err|bad|failed|blocked|restricted|denied|rejected|refused)\b/i,
      /\b(error|failure|invalid|could not|couldn't|cannot|can't|failed to|not allowed|denied|forbidden|rejected|refused)\b/i,
      /\btoo (many|large|big)\b|\bbad req/i,
    ],
  ],
];

/**
 * Splits a relay's reason once by the machine-readable prefix of NIP-01 (`prefix: words`). The prefix counts in any
 * case; `text` keeps the whole of what the relay said.
 */
export function parseReason(text: string): RelayReason {
  const word = /^\s*([a-z][a-z-]*)\s*:/i.exec(text)?.[1]?.toLowerCase();
  return { prefix: word !== undefined && isPrefix(word) ? word : null, text };
}

/** What the relay means. A prefix of NIP-01 that is about one matter decides before any wording does. */
export function meaningOf(reason: RelayReason): ReasonMeaning {
  switch (reason.prefix) {
    case 'rate-limited':
      return 'rate-limited';
    case 'auth-required':
      return 'auth-required';
    case 'duplicate':
    case 'mute':
      return 'chatter';
    case 'pow':
    case 'restricted':
      return 'error';
    case 'blocked':
    case 'invalid':
    case 'unsupported':
    case 'error':
    case null:
      break;
  }
  for (const [meaning, wordings] of WORDINGS) {
    if (wordings.some((wording) => wording.test(reason.text))) {
      return meaning;
    }
  }
  return reason.prefix === null ? 'chatter' : reason.prefix === 'unsupported' ? 'unsupported' : 'error';
}

/** Without one of these, words about sizes and numbers tell what is allowed, and refuse nothing. */
const REFUSAL =
  /\b(too (large|big|long|high|many|low)|exceed\w*|larger|greater|bigger|longer|reached|must|refus\w*|reject\w*|denied|dropp\w*|ignored|invalid|error|fail\w*|bad|cannot|can't|could not|couldn't|not (allowed|accepted|permitted|supported))\b/i;

/**
 * What a NOTICE means. Unlike a CLOSED or an OK it need not be an answer: relays also greet with their limits. So words
 * about limits are a refusal only when they say so.
 */
export function noticeMeaning(reason: RelayReason): ReasonMeaning {
  const meaning = meaningOf(reason);
  if (reason.prefix !== null || REFUSAL.test(reason.text)) {
    return meaning;
  }
  return meaning === 'frame-too-large' || meaning === 'limit-too-large' || meaning === 'too-many-requests'
    ? 'chatter'
    : meaning;
}

/** True when a NOTICE that is about NIP-77 refuses it, and does not merely mention it. */
export function refusesNegentropy(reason: RelayReason): boolean {
  return (
    meaningOf(reason) !== 'chatter' ||
    REFUSAL.test(reason.text) ||
    /\bnot\b|n't\b|\boff\b|\bno (negentropy|nip|support)/i.test(reason.text)
  );
}

/** True when the words of a refusal say that the relay has the event already, with or without the prefix of NIP-01. */
export function saysItHasTheEvent(reason: RelayReason): boolean {
  return (
    reason.prefix === 'duplicate' ||
    /\balready\b|\bexists\b|\bduplicate|\bunique constraint\b|\b(have|has|got|stored|seen) (it|this|that)\b/i.test(
      reason.text,
    )
  );
}

/** True when the words are about NIP-77: a relay that refuses NEG-OPEN says so in its own way. */
export function mentionsNegentropy(text: string): boolean {
  return /\bneg(entropy|-?open|-?msg|-?close)?\b|nip-?77/i.test(text);
}

/** Words of a relay that cannot do something now, and may later. */
const PASSING = /\b(try again|temporar|busy|unavailable|internal|timed? ?out)/i;

/** True when a refusal is about the moment and not about what was asked: the same may be answered later. */
export function isAboutTheMoment(reason: RelayReason): boolean {
  const meaning = meaningOf(reason);
  return meaning === 'rate-limited' || meaning === 'too-many-requests' || PASSING.test(reason.text);
}

/**
 * True when a refused EVENT would be refused again if it were sent again as it is. Rate limiting, errors of the relay
 * and missing authentication pass; everything else is a decision about the event. A bare refusal without prefix counts as
 * lasting unless its words say that it passes.
 */
export function isLastingRefusal(reason: RelayReason): boolean {
  const meaning = meaningOf(reason);
  if (meaning === 'rate-limited' || meaning === 'auth-required' || meaning === 'too-many-requests') {
    return false;
  }
  if (meaning === 'frame-too-large') {
    return true;
  }
  if (reason.prefix === null) {
    return !PASSING.test(reason.text);
  }
  return reason.prefix !== 'error';
}

function isPrefix(word: string): word is Prefix {
  return PREFIXES.has(word);
}

/** Whether a NEG-ERR says that the set is too large to be compared at once, as strfry does, so that cutting it may help. */
export function saysSetTooLarge(reason: RelayReason): boolean {
  return /\btoo (many|large|big)\b|\bexceed/i.test(reason.text);
}
