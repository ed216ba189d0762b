import type { CandidateTree, ExclusionReason, Narrowing } from '../../preload/contract.ts';
import { Fault } from '../platform/fault.ts';
import { isNarrowed } from './narrowing.ts';

const WORDS: Record<ExclusionReason, string> = {
  deleted: 'deleted',
  superseded: 'replaced by a newer version',
  protected: 'protected',
  expired: 'expired',
  vanished: 'covered by a request to vanish',
  ephemeral: 'ephemeral',
  'never-sent': 'of a kind that is not for relays',
};

/**
 * Says that there is nothing to send, and what there is instead.
 *
 * @param tree what the narrowing selects.
 * @param whole the candidates without the narrowing, where they are known.
 * @returns a Fault `nothing-to-do`.
 */
export function sayNothingToSend(tree: CandidateTree, narrowing: Narrowing, whole?: CandidateTree): Fault {
  const { total, excluded, refused, undetermined } = numbersOf(tree);
  return new Fault('nothing-to-do', [firstSentence(tree, narrowing, whole), ...whatThereIsInstead(tree)].join(' '), {
    total,
    missing: (whole ?? tree).total,
    excluded,
    refused,
    undetermined,
  });
}

function firstSentence(tree: CandidateTree, narrowing: Narrowing, whole: CandidateTree | undefined): string {
  if ((whole ?? tree).relays.length === 0) return 'This account has no write relays to send to.';
  if (!isNarrowed(narrowing)) return 'Nothing that may be sent is confirmed missing on the write relays.';
  if (whole === undefined) return 'This narrowing selects nothing.';
  return whole.total > 0
    ? `This narrowing selects nothing; without it there ${missing(whole.total)}.`
    : 'This narrowing selects nothing, and without it nothing is confirmed missing either.';
}

/** Sentences about what is missing, or may be, and is not offered. */
export function whatThereIsInstead(tree: CandidateTree): string[] {
  const { excluded, refused, undetermined } = numbersOf(tree);
  const sentences: string[] = [];
  if (excluded > 0) {
    const reasons = tree.excluded.map(({ reason, events }) => `${events} ${WORDS[reason]}`);
    sentences.push(
      `${count(excluded, 'event')} that relays lack ${isOrAre(excluded)} not sent: ${reasons.join(', ')}.`,
    );
  }
  if (refused > 0) {
    sentences.push(
      `${count(refused, 'copy', 'copies')} that relays refused before ${isOrAre(refused)} offered on demand only.`,
    );
  }
  if (undetermined > 0) {
    sentences.push(
      `Of ${count(undetermined, 'copy', 'copies')} it is not known whether relays have them; fetching may tell.`,
    );
  }
  if (tree.unchecked !== undefined && tree.unchecked > 0) {
    const [is, may] = tree.unchecked === 1 ? ['is', 'it'] : ['are', 'they'];
    sentences.push(
      `${count(tree.unchecked, 'event')} ${is} left out, because nobody checked yet whether ${may} may be sent.`,
    );
  }
  return sentences;
}

function numbersOf({ total, relays, excluded }: CandidateTree) {
  return {
    total,
    excluded: excluded.reduce((sum, { events }) => sum + events, 0),
    refused: relays.reduce((sum, relay) => sum + relay.refused, 0),
    undetermined: relays.reduce((sum, relay) => sum + (relay.undetermined ?? 0), 0),
  };
}

function missing(total: number): string {
  return total === 1 ? 'is 1 missing copy' : `are ${total.toLocaleString('en-US')} missing copies`;
}

function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? singular : plural}`;
}

function isOrAre(number: number): string {
  return number === 1 ? 'is' : 'are';
}
