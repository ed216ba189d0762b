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

/** What somebody asked to be sent, for the sentence that says why that is nothing. */
export interface NothingSelected {
  /** What the narrowing selects. */
  tree: CandidateTree;
  narrowing: Narrowing;
  /** The candidates without the narrowing, where they are known. */
  whole?: CandidateTree;
  /** Whether what relays refused before was asked for too. */
  includeRefused?: boolean;
}

/**
 * Says that there is nothing to send, and what there is instead.
 *
 * @returns a Fault `nothing-to-do`. Its detail `complete` says that nothing is missing on any write relay, and that this is
 * known: each of them was compared, and refused nothing. Only then is having nothing to send a success.
 */
export function sayNothingToSend({ tree, narrowing, whole, includeRefused = false }: NothingSelected): Fault {
  const { total, excluded, refused, undetermined } = numbersOf(tree);
  const all = whole ?? tree;
  const message = [
    firstSentence(tree, narrowing, { whole, includeRefused }),
    ...whatThereIsInstead(tree, { refusedIsSaid: !isNarrowed(narrowing) }),
  ].join(' ');
  return new Fault('nothing-to-do', message, {
    total,
    missing: all.total,
    excluded,
    refused,
    undetermined,
    complete: isKnownComplete(all),
  });
}

/** Whether nothing is missing on any of the relays, and that is known: each was compared, and refused nothing. */
export function isKnownComplete({ relays }: CandidateTree): boolean {
  return (
    relays.length > 0 &&
    relays.every(({ comparison, count, refused }) => comparison === 'compared' && count === 0 && refused === 0)
  );
}

function firstSentence(
  tree: CandidateTree,
  narrowing: Narrowing,
  { whole, includeRefused }: { whole: CandidateTree | undefined; includeRefused: boolean },
): string {
  const all = whole ?? tree;
  if (all.relays.length === 0) return 'This account has no write relays to send to.';
  if (!isNarrowed(narrowing)) return `${whatIsMissing(tree)}${ignorance(tree)}`;
  if (whole === undefined) return `This narrowing selects nothing.${ignorance(tree)}`;
  const { total, refused } = numbersOf(whole);
  const offered = total + (includeRefused ? refused : 0);
  if (offered > 0) {
    const before = includeRefused && refused > 0 ? `, ${count(refused, 'of them', 'of them')} refused before` : '';
    return `This narrowing selects nothing; without it there ${missing(offered)}${before}.${ignorance(tree)}`;
  }
  if (refused > 0) {
    return `This narrowing selects nothing; without it nothing is missing but ${copiesRefused(refused)}, offered on demand only.${ignorance(tree)}`;
  }
  return `This narrowing selects nothing, and without it nothing is confirmed missing either.${ignorance(tree)}`;
}

function whatIsMissing(tree: CandidateTree): string {
  const { refused } = numbersOf(tree);
  if (refused > 0) {
    return `Nothing is confirmed missing on the write relays but ${copiesRefused(refused)}, offered on demand only.`;
  }
  return 'Nothing that may be sent is confirmed missing on the write relays.';
}

function copiesRefused(refused: number): string {
  return `${count(refused, 'copy', 'copies')} that they refused before`;
}

/** What is confirmed is not all where a relay was not compared: a sentence that follows what is, or nothing. */
export function ignorance({ relays }: Pick<CandidateTree, 'relays'>): string {
  const ignorant = relays.filter(({ comparison }) => comparison !== 'compared');
  if (ignorant.length === 0) return '';
  const never = ignorant.filter(({ comparison }) => comparison === 'never-asked').length;
  if (never === relays.length) {
    const which = relays.length === 1 ? 'The relay was never asked' : 'None of them was ever asked';
    return ` ${which}, so what is missing there is not known: fetch first.`;
  }
  const unfinished = ignorant.length - never;
  const parts = [
    never === 0 ? '' : `${count(never, 'relay was', 'relays were')} never asked`,
    unfinished === 0 ? '' : `${count(unfinished, 'relay was', 'relays were')} not compared to the end`,
  ].filter((part) => part !== '');
  return ` But ${parts.join(' and ')}, so what is missing there is not known: fetch first.`;
}

/** Sentences about what is missing, or may be, and is not offered. */
export function whatThereIsInstead(tree: CandidateTree, { refusedIsSaid = false } = {}): string[] {
  const { excluded, refused, undetermined } = numbersOf(tree);
  const sentences: string[] = [];
  if (excluded > 0) {
    const reasons = tree.excluded.map(({ reason, events }) => `${events} ${WORDS[reason]}`);
    sentences.push(
      `${count(excluded, 'event')} that relays lack ${isOrAre(excluded)} not sent: ${reasons.join(', ')}.`,
    );
  }
  if (refused > 0 && !refusedIsSaid) {
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
