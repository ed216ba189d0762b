import type {
  DeliveryReason,
  DeliveryState,
  DeliveryStep,
  DeliveryTotals,
  ExclusionReason,
} from '../../preload/contract.ts';
import { countOf, formatCount } from './numbers.ts';
import { status, type Status } from './status.ts';

/** States in the order in which a delivery goes through them; the troubled ones after the good ones. */
export const deliveryStates: readonly DeliveryState[] = [
  'verified',
  'accepted',
  'sent',
  'pending',
  'unverified',
  'rejected',
  'withdrawn',
];

const states: Record<DeliveryState, Status> = {
  pending: status('quiet', 'dashed', 'Pending'),
  sent: status('busy', 'waiting', 'Sent'),
  accepted: status('busy', 'half', 'Accepted'),
  verified: status('good', 'check', 'Verified'),
  unverified: status('warn', 'question', 'Unverified'),
  rejected: status('bad', 'cross', 'Rejected'),
  withdrawn: status('quiet', 'stopped', 'Withdrawn'),
};

/** A delivery's state as it is shown everywhere. */
export function deliveryStatus(state: DeliveryState): Status {
  return states[state];
}

const meanings: Record<DeliveryState, string> = {
  pending: 'Not sent yet.',
  sent: 'Sent, and the relay has not answered; reading it back decides.',
  accepted: 'The relay says that it has it; it was not read back yet.',
  verified: 'Read back from the relay and found to be the signed event.',
  unverified: 'Asked for twice and not returned by the relay.',
  rejected: 'Refused by the relay.',
  withdrawn: 'Not sent, because it may not or need not be sent any more.',
};

/** What a state says, in one sentence. */
export function stateMeaning(state: DeliveryState): string {
  return meanings[state];
}

/** Why an event is not sent: what it is, in a word or two, and why that keeps it here, in one sentence. */
export interface ExclusionWords {
  name: string;
  sentence: string;
}

const exclusions: Record<ExclusionReason, ExclusionWords> = {
  deleted: { name: 'Deleted', sentence: 'A deletion request of this account names them.' },
  expired: { name: 'Expired', sentence: 'The time until which they were meant to be kept is over.' },
  superseded: { name: 'Superseded', sentence: 'A newer version of the same event is archived, and only that is sent.' },
  protected: {
    name: 'Protected',
    sentence: 'Only their author may publish them, and Holdfast does not authenticate as the author.',
  },
  vanished: { name: 'Vanished', sentence: 'This account asked the relay to forget everything up to then.' },
  ephemeral: { name: 'Ephemeral', sentence: 'Their kinds are passed on once and not meant to be stored.' },
  'never-sent': { name: 'Not for relays', sentence: 'Their kinds are private, or are commands that are given once.' },
};

/** Why events are kept here and not sent. */
export function exclusionWords(reason: ExclusionReason): ExclusionWords {
  return exclusions[reason];
}

const reasons: Record<DeliveryReason, string> = {
  'auth-required': 'needs authentication',
  restricted: 'not allowed for this account',
  'rate-limited': 'rate limited',
  pow: 'needs proof of work',
  blocked: 'blocked',
  invalid: 'called invalid',
  unsupported: 'not supported',
  mute: 'muted',
  error: 'error of the relay',
  'too-large': 'too large',
  other: 'other reason',
  'not-returned': 'accepted, but not returned',
  'no-answer': 'no answer, and not returned',
  'not-read-back': 'not read back yet',
  'not-sent': 'relay not reached',
  'no-write-relay': 'no write relay any more',
  present: 'there already',
  deleted: 'deleted meanwhile',
  expired: 'expired meanwhile',
  superseded: 'superseded meanwhile',
  protected: 'protected',
  vanished: 'asked to vanish there',
  ephemeral: 'ephemeral',
  'never-sent': 'not meant for relays',
};

/** Why a delivery stands where it stands, in a few words, for rows and filters. */
export function reasonWord(reason: DeliveryReason): string {
  return reasons[reason];
}

const reasonSentences: Record<DeliveryReason, string> = {
  'auth-required': 'The relay takes it only from someone who has authenticated.',
  restricted: 'The relay does not take events of this account, or not without membership or payment.',
  'rate-limited': 'The relay took no more for the time being.',
  pow: 'The relay asks for proof of work, which a signed event cannot be given afterwards.',
  blocked: 'The relay has blocked this account or this event.',
  invalid: 'The relay calls the event invalid by its own rules; its age is the commonest of them.',
  unsupported: 'The relay does not take this kind of event.',
  mute: 'The relay does not pass this event on.',
  error: 'The relay could not store it because of an error of its own.',
  'too-large': 'The event is larger than the relay takes.',
  other: 'The relay refused it without one of the usual reasons.',
  'not-returned': 'The relay said that it had it, and did not return it when asked for it, twice.',
  'no-answer': 'The relay did not answer when it was sent, and did not return it when asked for it.',
  'not-read-back': 'Asking the relay for it did not come to an end, so nothing is known yet. Resume asks again.',
  'not-sent': 'The relay could not be reached. Resume tries again.',
  'no-write-relay': 'The relay is no write relay of this account any more.',
  present: 'The relay turned out to have it, so it was not sent.',
  deleted: 'A deletion request came after the sync was begun, so it was not sent.',
  expired: 'Its time ran out after the sync was begun, so it was not sent.',
  superseded: 'A newer version came after the sync was begun, so it was not sent.',
  protected: 'It may be published by its authenticated author only, so it was not sent.',
  vanished: 'This account asked the relay to forget everything up to then, so it was not sent.',
  ephemeral: 'Its kind is not meant to be stored, so it was not sent.',
  'never-sent': 'Its kind is never meant for relays, so it was not sent.',
};

/** The same in one plain sentence, for details. */
export function reasonSentence(reason: DeliveryReason): string {
  return reasonSentences[reason];
}

const steps: Record<DeliveryStep['type'], string> = {
  send: 'Sent',
  'read-back': 'Asked for it',
  withdraw: 'Withdrawn',
};

/** What was done for a delivery. */
export function stepName(type: DeliveryStep['type']): string {
  return steps[type];
}

const outcomes: Record<NonNullable<DeliveryStep['outcome']>, Status> = {
  accepted: status('good', 'check', 'Accepted'),
  duplicate: status('good', 'check', 'Had it already'),
  rejected: status('bad', 'cross', 'Rejected'),
  unanswered: status('warn', 'waiting', 'No answer'),
  interrupted: status('warn', 'unlinked', 'Interrupted'),
  found: status('good', 'check', 'Returned, valid'),
  'not-found': status('warn', 'question', 'Not returned'),
  inconclusive: status('quiet', 'question', 'Answer does not tell'),
  withdrawn: status('quiet', 'stopped', 'Not sent'),
};

/** What came of a step; null is a step under way. */
export function outcomeStatus(outcome: DeliveryStep['outcome']): Status {
  return outcome === null ? status('busy', 'running', 'Under way') : outcomes[outcome];
}

/** Deliveries in all. */
export function deliveriesIn(totals: DeliveryTotals): number {
  return deliveryStates.reduce((sum, state) => sum + totals[state], 0);
}

/** Totals in words, what is zero left out: "1,204 verified, 14 rejected, 3 pending". */
export function totalsSentence(totals: DeliveryTotals): string {
  const parts = deliveryStates
    .filter((state) => totals[state] > 0)
    .map((state) => `${formatCount(totals[state])} ${states[state].word.toLowerCase()}`);
  return parts.length === 0 ? 'nothing to send' : parts.join(', ');
}

/** How far a sync is: "1,204 verified of 3,000". */
export function verifiedOf(totals: DeliveryTotals): string {
  return `${formatCount(totals.verified)} verified of ${formatCount(deliveriesIn(totals))}`;
}

/** What a button that sends says: "Send 318 copies to 2 relays". */
export function sendName(copies: number, relays: number): string {
  return `Send ${countOf(copies, 'copy', 'copies')} to ${countOf(relays, 'relay')}`;
}

const finished = status('good', 'check', 'Complete');
const refusedSome = status('bad', 'cross', 'Some refused');
const unfinished = status('warn', 'half', 'Unfinished');
const nothing = status('quiet', 'dashed', 'Nothing sent');

/** One relay of a sync that does nothing now. What Resume would go on with counts before what was refused. */
export function relayDeliveryStatus(totals: DeliveryTotals): Status {
  const all = deliveriesIn(totals);
  if (totals.pending === all && all > 0) return nothing;
  if (totals.pending + totals.sent + totals.accepted + totals.unverified > 0) return unfinished;
  return totals.rejected > 0 ? refusedSome : finished;
}
