import type {
  Delivery,
  DeliveryReason,
  DeliveryState,
  DeliveryStep,
  DeliveryTotals,
  ExclusionReason,
  RelayProgress,
  Reverification,
  RunSummary,
} from '../../preload/contract.ts';
import { countOf, formatCount } from './numbers.ts';
import { isUnderWay, relayRunStatus, runStatus, status, type Status } from './status.ts';

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
  sent: status('busy', 'underway', 'Sent'),
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

/** Sentences of ours that stand where a relay that refuses says nothing itself. */
const OWN_WORDS = /^The (relay refused the event and gave no reason|connection ended each time this event was sent)\./;

/** Whether a delivery's message is what the relay said, and not what Holdfast makes of it. */
export function isRelaysWord({ state, reason, message }: Pick<Delivery, 'state' | 'reason' | 'message'>): boolean {
  if (message === null || OWN_WORDS.test(message)) return false;
  if (state === 'rejected') return true;
  return reason === null ? state === 'accepted' || state === 'verified' : state === 'pending' && reason !== 'not-sent';
}

/** The same of a step: answers to a sending are the relay's. */
export function isRelaysAnswer({ outcome, message }: Pick<DeliveryStep, 'outcome' | 'message'>): boolean {
  if (message === null || OWN_WORDS.test(message)) return false;
  return outcome === 'accepted' || outcome === 'duplicate' || outcome === 'rejected';
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
  unanswered: status('warn', 'underway', 'No answer'),
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

/** How looking again for verified copies stands: whether each of them was returned. */
export function reverificationStatus({ copies, returned, missing, endedAt }: Reverification): Status {
  if (endedAt === null) return states.accepted;
  return returned === copies ? states.verified : missing > 0 ? states.unverified : unfinished;
}

/**
 * What came of looking again for verified copies: "100 copies read back again: 98 returned, 2 not returned any more". Its
 * time stands beside it.
 */
export function reverifiedSentence({ copies, returned, missing, endedAt }: Reverification): string {
  if (endedAt === null) {
    const gone = missing === 0 ? '' : `, ${formatCount(missing)} not returned any more`;
    return `Reading ${countOf(copies, 'copy', 'copies')} back again: ${formatCount(returned)} returned so far${gone}`;
  }
  const unread = copies - returned - missing;
  const parts = [
    returned === copies ? (copies === 1 ? 'returned' : 'all returned') : `${formatCount(returned)} returned`,
    missing === 0 ? '' : `${formatCount(missing)} not returned any more`,
    unread <= 0 ? '' : `${formatCount(unread)} not looked for to the end`,
  ];
  return `${countOf(copies, 'copy', 'copies')} read back again: ${parts.filter((part) => part !== '').join(', ')}`;
}

/** What a button that sends says: "Send 318 copies to 2 relays". */
export function sendName(copies: number, relays: number): string {
  return `Send ${countOf(copies, 'copy', 'copies')} to ${countOf(relays, 'relay')}`;
}

const finished = status('good', 'check', 'Complete');
const refusedSome = status('bad', 'cross', 'Some refused');
const refusedAll = status('bad', 'cross', 'All refused');
const unfinished = status('warn', 'half', 'Unfinished');
const unverifiedSome = status('warn', 'question', 'Some unverified');
const unverifiedAll = status('warn', 'question', 'None verified');
const nothing = status('quiet', 'dashed', 'Nothing sent');

/**
 * How deliveries stand together where nothing is done with them now: of one relay or of a whole sync, in the same words at
 * any time. What was not sent or not read back counts before what the relay does not return, and that before refusals.
 */
export function restingStatus(totals: DeliveryTotals): Status {
  const all = deliveriesIn(totals);
  const { pending, sent, accepted, verified, unverified, rejected } = totals;
  if (pending === all && all > 0) return nothing;
  if (pending + sent + accepted > 0) return unfinished;
  if (unverified > 0) return verified === 0 ? unverifiedAll : unverifiedSome;
  if (rejected > 0) return rejected === all ? refusedAll : refusedSome;
  return finished;
}

/** One relay of a sync: what it does now, else how its deliveries stand. */
export function relayDeliveryStatus(
  totals: DeliveryTotals,
  live?: Pick<RelayProgress, 'state' | 'waitingUntil'>,
): Status {
  return live !== undefined && isUnderWay(live.state) ? relayRunStatus(live) : restingStatus(totals);
}

/** A run of any type. Of a sync that ended early its deliveries say more than that it is partial. */
export function statusOfRun({ status, type, deliveries }: Pick<RunSummary, 'status' | 'type' | 'deliveries'>): Status {
  return deliveries !== null && status === 'partial' ? restingStatus(deliveries) : runStatus(status, type);
}
